"""Matrices learned by the matrix exponentiated gradient."""
