"""The door to matplotlib, which is optional."""


def pyplot(who):
    """Return matplotlib's pyplot, or raise with the way to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{who} needs matplotlib to plot: pip install matplotlib.") from error
    return plt
