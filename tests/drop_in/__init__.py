"""scikit-learn's own tests, run on our classes: see run.py."""
