"""Supervised learning with certificates, in the scikit-learn API."""

__version__ = "0.1.0"
