"""Prediction with expert advice."""
