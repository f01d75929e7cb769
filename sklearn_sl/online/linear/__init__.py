"""Linear learners: additive and multiplicative steps, trial by trial."""
