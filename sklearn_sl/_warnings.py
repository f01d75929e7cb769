"""Warnings that point at the user's line."""

import contextlib
import sys
import warnings
from pathlib import Path

import joblib
import numpy as np
import scipy
import sklearn

import sklearn_sl

# Who calls a fit, or a part of it, on behalf of the user.
_BETWEEN = (
    *(f"{Path(p.__file__).parent}/" for p in (sklearn_sl, sklearn, joblib, np, scipy)),
    contextlib.__file__,
)


def warn(message, category=UserWarning):
    """Warn at the nearest line outside this package, scikit-learn, joblib, NumPy and SciPy.

    A fixed ``stacklevel`` would count decorators and callers, which change. The threads of a fit
    have no line of the user: there the outermost one is named.
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
