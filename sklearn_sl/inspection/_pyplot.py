"""The door to matplotlib, which is optional."""

from sklearn_sl._docstrings import inserter

described = inserter(
    ax="""
        ax : matplotlib Axes, default=None
            The axes to plot on; None makes a new figure.
    """,
    axes="""
        ax_ : matplotlib Axes
            The axes.

        figure_ : matplotlib Figure
            The figure.
    """,
)


def pyplot(who):
    """Return matplotlib's pyplot, or raise with the way to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{who} needs matplotlib to plot: pip install matplotlib.") from error
    return plt
