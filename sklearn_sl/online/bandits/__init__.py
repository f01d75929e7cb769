"""Bandits: the loss of the chosen arm alone is seen."""
