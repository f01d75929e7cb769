"""The results as a table of text and as a self-contained HTML page."""

import collections
import html
import platform
import textwrap
from importlib import metadata

import joblib
import numpy as np

from sklearn_sl import __version__
from sklearn_sl._compare.candidates import OURS, THEIRS
from sklearn_sl._compare.plots import has_matplotlib, score_plot, time_plot

METRIC = {"classification": "accuracy", "regression": "R2"}
NOTE_WIDTH = 72
LEGEND = (
    "score: mean and standard deviation over the outer folds, the same for all; parameters are "
    "chosen inside each training part. tune: choosing the parameters and fitting, with "
    "preprocessing. fit, predict: the estimator alone, with the chosen parameters. speed-up: time "
    "of the scikit-learn counterpart / time of ours: fit, or tune (*) where only ours tunes "
    "itself, on one core; '>': the counterpart had time for a part of the settings only."
)
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c2430; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 2px solid #d7dde5; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #e3e8ee; text-align: right; }
th:nth-child(-n+2), td:nth-child(-n+2), .left, td.left { text-align: left; }
td { font-variant-numeric: tabular-nums; } th, td:not(.left) { white-space: nowrap; }
tr.ours td:first-child { font-weight: 600; }
tr.failed td { color: #a02020; } .note { color: #5a6675; } img { max-width: 100%; }
code { background: #f2f4f7; padding: .1rem .3rem; }
"""


def by_score(results):
    """Return the results, the best first, of equals the faster, failures last."""

    def place(result):
        # Rounded: the last bits of a score are no merit.
        return -round(result.score, 6), result.tune_time

    ran = [result for result in results if not result.error]
    failed = [result for result in results if result.error]
    return sorted(ran, key=place) + sorted(failed, key=lambda result: result.name)


def speed_up(result, results):
    """Return how many times faster than its counterpart, as text; empty if unknown."""
    for rival in results:
        if (rival.name, rival.library) != (result.rival, THEIRS) or rival.rows != result.rows:
            continue
        if result.error or rival.error:
            return ""
        if result.tunes_itself == rival.tunes_itself:
            return f"{rival.fit_time / result.fit_time:.2g}x"
        bound = ">" if rival.points < rival.all_points else ""
        return f"{bound}{rival.tune_time / result.tune_time:.2g}x*"
    return ""


def table(results, task):
    """Return the header and the rows of cells, sorted by score."""
    header = ["estimator", "library", METRIC[task], "+- sd", "tune", "fit", "predict"]
    rows = []
    for result in by_score(results):
        if result.error:
            rows.append([result.name, result.library, "-", "-", "-", "-", "-", "", result.error])
            continue
        times = map(duration, (result.tune_time, result.fit_time, result.predict_time))
        numbers = [f"{result.score:.4f}", f"{result.sd:.4f}", *times, speed_up(result, results)]
        rows.append([result.name, result.library, *numbers, "; ".join(result.notes)])
    return [*header, "speed-up", "notes"], rows


def duration(seconds):
    """Return a time with three digits and its unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def text_table(results, task):
    """Return the table with aligned columns; long notes are for the page."""
    header, rows = table(results, task)
    rows = [[*cells, textwrap.shorten(notes, NOTE_WIDTH)] for *cells, notes in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    left = {0, 1, len(header) - 1}

    def line(cells):
        aligned = (
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths))
        )
        return "  ".join(aligned).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def text_report(dataset, results, skipped):
    """Return what the user reads on the terminal about one data set."""
    parts = [dataset.summary, *(f"note: {note}" for note in dataset.notes), ""]
    parts.append(text_table(results, dataset.task))
    if skipped:
        parts.append("left out: " + "; ".join(f"{name} ({why})" for name, why in skipped.items()))
    return "\n".join(parts) + "\n"


def chosen_parameters(result):
    """Return the chosen settings and in how many folds each was chosen."""
    texts = [", ".join(f"{k}={show(v)}" for k, v in point.items()) for point in result.params]
    counts = collections.Counter(text or "defaults" for text in texts)
    return "; ".join(f"{text} ({count}/{len(texts)})" for text, count in counts.most_common())


def show(value):
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


# --- the page -------------------------------------------------------------------


def html_report(sections, command, cv):
    """Return the page; ``sections`` are (dataset, results, skipped)."""
    body = [
        "<h1>sklearn_sl compare</h1>",
        f"<p><code>{html.escape(command)}</code></p>",
        f'<p class="note">{cv} outer folds. {html.escape(LEGEND)}</p>',
    ]
    if not has_matplotlib():
        install = "<code>pip install sklearn-sl[plot]</code>"
        body.append(f"<p>The plots are missing: they need matplotlib ({install}).</p>")
    for section in sections:
        body += html_section(*section)
    body += ["<h2>Versions</h2>", html_table(["what", "version"], versions())]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>sklearn_sl compare</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def html_section(dataset, results, skipped):
    """Return the pieces of the page about one data set."""
    results = by_score(results)
    header, rows = table(results, dataset.task)
    kinds = ["failed" if r.error else "ours" if r.library == OURS else "" for r in results]
    ran = [result for result in results if not result.error]
    pieces = [f"<h2>{html.escape(dataset.summary)}</h2>"]
    pieces += [f'<p class="note">{html.escape(note)}</p>' for note in dataset.notes]
    pieces.append(html_table(header, rows, kinds))
    if ran and has_matplotlib():
        metric = METRIC[dataset.task]
        pieces += [image(score_plot(ran, metric), "scores"), image(time_plot(ran), "fit times")]
    chosen = [[result.name, result.library, chosen_parameters(result)] for result in ran]
    columns = ["estimator", "library", "chosen parameters (folds)"]
    pieces += ["<h3>Parameters</h3>", html_table(columns, chosen)]
    if skipped:
        pieces += ["<h3>Left out</h3>", html_table(["estimator", "reason"], skipped.items())]
    return pieces


def html_table(header, rows, kinds=None):
    """Return a table; the last column is text, ``kinds`` are the classes of the rows."""

    def line(tag, cells, kind=""):
        *cells, last = (html.escape(cell) for cell in cells)
        inner = "".join(f"<{tag}>{cell}</{tag}>" for cell in cells)
        return f'<tr class="{kind}">{inner}<{tag} class="left">{last}</{tag}></tr>'

    rows = list(rows)
    lines = [line("td", cells, kind) for cells, kind in zip(rows, kinds or [""] * len(rows))]
    return "\n".join(["<table>", line("th", header), *lines, "</table>"])


def image(png, text):
    return f'<p><img alt="{text}" src="data:image/png;base64,{png}"></p>'


def versions():
    """Return pairs of what matters to repeat the measurement."""
    packages = ("scikit-learn", "numpy", "scipy", "joblib")
    return [
        ("sklearn_sl", __version__),
        *((name, metadata.version(name)) for name in packages),
        ("python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}, {joblib.cpu_count()} cores"),
    ]
