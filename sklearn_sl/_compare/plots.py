"""The pictures of the report."""

import numpy as np

from sklearn_sl._compare import svg
from sklearn_sl._compare.candidates import BASELINE, OURS
from sklearn_sl._compare.svg import Figure

KINDS = {OURS: "ours", BASELINE: "base"}  # whatever else is scikit-learn's
MAX_NAMED = 5  # points of the plot of times that have their names beside them
ROW = 18


def kind(result):
    return KINDS.get(result.library, "theirs")


def without_baseline(results):
    """Return the others if there are any: the baseline would take most of the picture."""
    return [result for result in results if result.library != BASELINE] or results


def titled(result):
    return f"{result.name} ({result.library})"


def duration(seconds):
    """Return a time with three digits and its unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def score_plot(results, metric):
    """Scores with their standard deviation over the folds, the best on top."""
    results = without_baseline(results)
    longest = max(len(result.name) for result in results)
    figure = Figure(
        "Scores of all candidates",
        "The numbers are in the table of results.",
        height=ROW * len(results) + 70,
        left=int(longest * svg.LETTER) + 20,
    )
    shown = [metric.shown(result.score) for result in results]
    ends = [score + sign * r.sd for r, score in zip(results, shown) for sign in (-1, 1)]
    figure.x_axis(min(ends), max(ends), f"{metric.label}, mean and sd ({metric.direction})")
    for place, (result, score) in enumerate(zip(results, shown)):
        at = figure.top + ROW * (place + 0.7)
        ends = figure.x(score - result.sd), figure.x(score + result.sd)
        bar = svg.element("line", x1=ends[0], x2=ends[1], y1=at, y2=at, class_=kind(result))
        dot = svg.element("circle", cx=figure.x(score), cy=at, r=4, class_=f"dot {kind(result)}")
        words = f"{titled(result)}: {score:.4g} +- {result.sd:.2g}"
        figure.add(svg.told(bar + dot, words))
        figure.add(svg.text(figure.left - 10, at + 4, result.name, "end"))
    return figure.render()


def time_plot(results, metric):
    """Time to choose the settings and fit, against the score."""
    libraries = {kind(result): result.library for result in without_baseline(results)}
    figure = Figure(
        "Time against score",
        "The numbers are in the table of results.",
        entries=sorted(libraries.items()),
    )
    results = without_baseline(results)
    times = [result.median("tune_time") for result in results]
    shown = [metric.shown(result.score) for result in results]
    figure.x_axis(min(times) / 1.5, max(times) * 3, "time to tune and fit", True, duration)
    margin = 0.05 * (max(shown) - min(shown))
    figure.y_axis(min(shown) - margin, max(shown) + margin, metric.label)
    taken = []
    for place, (result, seconds, score) in enumerate(zip(results, times, shown)):
        words = f"{titled(result)}: {score:.4g} in {duration(seconds)}"
        figure.dot(seconds, score, kind(result), words)
        at = figure.x(seconds), figure.y(score)
        width = len(result.name) * svg.LETTER
        if place >= MAX_NAMED * 2 or len(taken) >= MAX_NAMED or at[0] + width > figure.right:
            continue
        if all(abs(at[1] - y) > 13 or abs(at[0] - x) > 1.1 * width for x, y in taken):
            figure.add(svg.text(at[0] + 7, at[1] + 4, result.name, class_="small"))
            taken.append(at)
    return figure.render()


def learning_plot(diagnoses, metric):
    """The score after so many rows, of several candidates."""
    figure = Figure(
        "Learning curves",
        "; ".join(
            f"{d.name}: {metric.shown(d.curve[0]):.3g} after {d.sizes[0]} rows, "
            f"{metric.shown(d.curve[-1]):.3g} after {d.sizes[-1]}"
            for d in diagnoses
        ),
        entries=[(f"c{place}", titled(d)) for place, d in enumerate(diagnoses)],
    )
    shown = [metric.sign * np.array(d.curve) for d in diagnoses]
    spread = [np.array(d.curve_sd) for d in diagnoses]
    figure.x_axis(0, max(max(d.sizes) for d in diagnoses), "training rows")
    low = min(np.nanmin(line - sd) for line, sd in zip(shown, spread))
    high = max(np.nanmax(line + sd) for line, sd in zip(shown, spread))
    figure.y_axis(low, high, metric.label)
    for place, (d, line, sd) in enumerate(zip(diagnoses, shown, spread)):
        known = np.isfinite(line)
        sizes = np.array(d.sizes)[known]
        figure.polyline(sizes, line[known], f"c{place}")
        for size, score, deviation in zip(sizes, line[known], sd[known]):
            at = figure.x(size)
            ends = figure.y(score - deviation), figure.y(score + deviation)
            figure.add(
                svg.element("line", x1=at, x2=at, y1=ends[0], y2=ends[1], class_=f"c{place}")
            )
            words = f"{titled(d)}: {score:.4g} +- {deviation:.2g} after {size} rows"
            figure.dot(size, score, f"c{place}", words)
    return figure.render()


def calibration_plot(diagnoses, two_classes):
    """Which share came true of what was predicted with some probability."""
    diagnoses = [(place, d) for place, d in enumerate(diagnoses) if d.calibration]
    figure = Figure(
        "Calibration",
        "On the diagonal, predicted probabilities are those that come true.",
        entries=[(f"c{place}", titled(d)) for place, d in diagnoses],
    )
    what = "second class" if two_classes else "likeliest class"
    figure.x_axis(0, 1, f"predicted probability of the {what}")
    figure.y_axis(0, 1, "share that came true")
    figure.polyline([0, 1], [0, 1], "ideal")
    for place, d in diagnoses:
        predicted, true = zip(*(point[:2] for point in d.calibration))
        figure.polyline(predicted, true, f"c{place}")
        for p, share, count in d.calibration:
            words = f"{titled(d)}: {share:.3g} came true of {count} predicted with {p:.3g}"
            figure.dot(p, share, f"c{place}", words)
    return figure.render()


def residual_plot(diagnosis):
    """Residuals against predictions."""
    figure = Figure(
        f"Residuals of {diagnosis.name}",
        "Each dot is a row that was not learnt from: its prediction, and what is missing to its "
        "target.",
        left=64,
    )
    predicted, missing = np.array(diagnosis.residuals).T
    figure.x_axis(predicted.min(), predicted.max(), "prediction")
    figure.y_axis(missing.min(), missing.max(), "target - prediction")
    figure.polyline([predicted.min(), predicted.max()], [0, 0], "ideal")
    for x, y in diagnosis.residuals:
        mark = svg.element("circle", cx=figure.x(x), cy=figure.y(y), r=2.5, class_="dot c0 pale")
        figure.add(mark)
    return figure.render()


def stream_plot(results, metric):
    """The score of the first trials, of several learners."""
    figure = Figure(
        "Progressive scores",
        "The last numbers are in the table of results.",
        entries=[(f"c{place}", titled(r)) for place, r in enumerate(results)],
    )
    ends = [metric.shown(score) for r in results for score in r.curve if np.isfinite(score)]
    figure.x_axis(0, max(results[0].at), "rows predicted")
    figure.y_axis(min(ends), max(ends), f"{metric.label} so far")
    for place, r in enumerate(results):
        figure.polyline(r.at, [metric.shown(score) for score in r.curve], f"c{place}")
    return figure.render()
