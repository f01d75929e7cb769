"""Pictures of fitted models, by matplotlib."""

from sklearn_sl.inspection._support_vectors import SupportVectorDisplay

__all__ = ["SupportVectorDisplay"]
