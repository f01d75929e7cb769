"""Finite classes of concepts: version spaces, disjunctions, thresholds, set cover."""
