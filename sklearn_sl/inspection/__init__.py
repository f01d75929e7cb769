"""What fitted models tell: certificates, prediction intervals, and pictures by matplotlib."""

from sklearn_sl.inspection._certify import Certification, Statement, certify
from sklearn_sl.inspection._margins import MarginDisplay
from sklearn_sl.inspection._out_of_bag import OutOfBagDisplay
from sklearn_sl.inspection._prediction_interval import prediction_interval
from sklearn_sl.inspection._pruning_path import PruningPathDisplay
from sklearn_sl.inspection._regret import RegretDisplay
from sklearn_sl.inspection._sample_size import SampleSizeDisplay
from sklearn_sl.inspection._support_vectors import SupportVectorDisplay

__all__ = [
    "Certification",
    "MarginDisplay",
    "OutOfBagDisplay",
    "PruningPathDisplay",
    "RegretDisplay",
    "SampleSizeDisplay",
    "Statement",
    "SupportVectorDisplay",
    "certify",
    "prediction_interval",
]
