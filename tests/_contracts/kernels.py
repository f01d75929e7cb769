"""Configurations of the feature maps in the common tests; see ``_contracts/__init__.py``."""

CONFIGS = {
    "SubsetFeatures": [{"order": 3, "include_bias": False}],
    "CorrelationFeatures": [{"scaled": True}],
}
