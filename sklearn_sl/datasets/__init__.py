"""Generators of the problems that the theory speaks of."""

__all__: list[str] = []
