"""The plots of the report, as base64 PNG; matplotlib is optional."""

import base64
import importlib.util
import io

from sklearn_sl._compare.candidates import OURS

COLOURS = {True: "#1f6fb4", False: "#e08a1e"}  # ours, theirs


def has_matplotlib():
    return importlib.util.find_spec("matplotlib") is not None


def horizontal_axes(results, title, xlabel):
    """Return a figure with one line for each result, the first on top."""
    from matplotlib.figure import Figure  # no pyplot: no global state, no display

    figure = Figure(figsize=(9, 1.4 + 0.32 * len(results)), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel=xlabel)
    axes.set_yticks(range(len(results)), [f"{r.name} ({r.library})" for r in results])
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def score_plot(results, metric):
    """Scores with their standard deviation over the folds."""
    figure, axes = horizontal_axes(results, "Score by estimator", f"{metric}, mean and sd")
    for place, result in enumerate(results):
        colour = COLOURS[result.library == OURS]
        axes.errorbar(result.score, place, xerr=result.sd, fmt="o", color=colour, capsize=4)
    return encoded(figure)


def time_plot(results):
    """Times on a logarithmic axis, the fastest on top; tune is pale, fit is solid."""
    results = sorted(results, key=lambda result: result.tune_time)
    figure, axes = horizontal_axes(
        results, "Time by estimator: fit (solid) and tune (pale)", "milliseconds (log scale)"
    )
    fit = [1e3 * result.fit_time for result in results]
    tune = [1e3 * result.tune_time for result in results]
    colours = [COLOURS[result.library == OURS] for result in results]
    axes.barh(range(len(results)), tune, color=colours, height=0.65, alpha=0.35)
    axes.barh(range(len(results)), fit, color=colours, height=0.65)
    axes.set_xscale("log")
    # Bars of a log axis start anywhere: left of the shortest, so that it is seen.
    axes.set_xlim(min(fit) / 3, max(tune + fit) * 2)
    return encoded(figure)


def encoded(figure):
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    return base64.b64encode(stream.getvalue()).decode("ascii")
