"""Ensembles of weak and strong learners."""
