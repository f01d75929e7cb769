"""Weighted graphs as sparse matrices, their Laplacians, and how to solve with these.

What :mod:`sklearn_sl.graph`, the kernels on graphs and the generators of graphs have in common.
"""
