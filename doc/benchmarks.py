"""Write doc/benchmarks.rst and its figure from what ``make bench`` recorded.

A plain script, ``python doc/benchmarks.py``, run at the end of ``make bench``. All that the page
says is read from ``benchmarks/results/*.json``; a test fails if it is out of date.
"""

import ast
import html
import json
import math
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "doc" / "benchmarks.rst"
FIGURE = ROOT / "doc" / "_static" / "speed.svg"
OURS = "sklearn_sl"

# The rows of the figure: (what is fitted, topic, job, theirs). Good ones and bad ones.
SHOWN = [
    (
        "Leave-one-out, ridge, n = 200",
        "kernel_ridge",
        "leave-one-out",
        "GridSearchCV LeaveOneOut",
    ),
    ("Leave-one-out, SVC, n = 1,000", "svm", "leave-one-out", "scikit-learn, n refits"),
    ("AdaBoost, 200 stumps, n = 100,000", "ensemble", "adaboost", "scikit-learn"),
    ("Decision tree, n = 500,000", "tree", "classification-n500000", "scikit-learn"),
    ("Kernel ridge, 100 models, n = 1,500", "kernel_ridge", "select", "GridSearchCV n_jobs=1"),
    ("Bagging, 50 trees, n = 50,000", "ensemble", "bagging", "scikit-learn"),
    ("Perceptron, n = 1,000,000", "online", "perceptron-dense", "scikit-learn"),
    ("SVC, RBF, C = 10, n = 20,000", "svm", "rbf-C10-n20000", "scikit-learn"),
    ("Random forest, 100 trees, n = 50,000", "ensemble", "forest", "scikit-learn"),
    ("Label propagation, n = 10,000", "graph", "propagation-knn", "scikit-learn as it comes"),
    ("Kernel ridge, n = 10,000", "kernel_ridge", "fit", "scikit-learn"),
    ("SVC, ten digits, n = 1,257", "svm", "digits", "scikit-learn"),
    ("Label spreading, n = 10,000", "graph", "spreading-knn", "scikit-learn as it comes"),
]


def records():
    """Return what was recorded, ``{topic: record}``."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}


def seconds(record, candidate, phase="fit"):
    """Return the median times of a candidate by the size of the data."""
    return {
        row["n"]: row[phase]["median_s"]
        for row in record["rows"]
        if row["candidate"] == candidate and row.get(phase)
    }


def candidates(record):
    """Return the names of the candidates of a job in their order: ours is the first."""
    return list(dict.fromkeys(row["candidate"] for row in record["rows"]))


# ---------------------------------------------------------------- the figure

WIDTH, LEFT, ROW, TOP = 760, 300, 26, 44
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .few { fill: #59636e }
.grid { stroke: #d1d9e0 } .one { stroke: #59636e } .fast { fill: #0969da } .slow { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .few { fill: #9198a1 } .grid { stroke: #3d444d } .one { stroke: #9198a1 }
  .fast { fill: #4493f8 } .slow { fill: #db6d28 }
}
"""


def ratio_of(recorded, topic, job, theirs="scikit-learn"):
    """Return the time of ours over theirs in the largest problem that both have done."""
    record = recorded[topic]["jobs"][job]
    times = seconds(record, candidates(record)[0]), seconds(record, theirs)
    n = max(times[0].keys() & times[1].keys())
    return times[0][n] / times[1][n]


def figure(recorded):
    """Return the picture as SVG: how many times as fast as scikit-learn each fit is."""
    rows = sorted(((ratio_of(recorded, *where), title) for title, *where in SHOWN))
    slowest = max(1.0, rows[-1][0])
    # The axis is logarithmic, in factors of speed, from the slowest to the fastest.
    low, high = math.log10(1 / slowest) - 0.05, math.log10(1 / rows[0][0]) + 0.5

    def x(factor):
        return LEFT + (math.log10(factor) - low) / (high - low) * (WIDTH - LEFT - 10)

    height = TOP + ROW * len(rows) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Speed of fits relative to scikit-learn">',
        f"<style>{STYLE}</style>",
        f'<text x="{LEFT}" y="16" class="few">times as fast as scikit-learn</text>',
    ]
    for power in range(math.ceil(low), math.floor(high) + 1):
        at, kind = x(10.0**power), "one" if power == 0 else "grid"
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 8}" y2="{height - 8}" class="{kind}"/>'
            f'<text x="{at:.1f}" y="{TOP - 12}" class="few" text-anchor="middle">'
            f"{10**power if power >= 0 else 10.0**power:,}</text>"
        )
    for place, (ratio, title) in enumerate(rows):
        y, start, end = TOP + ROW * place, *sorted((x(1), x(1 / ratio)))
        kind = "fast" if ratio <= 1 else "slow"
        parts.append(
            f'<text x="{LEFT - 12}" y="{y + 15}" text-anchor="end">{html.escape(title)}</text>'
            f'<rect x="{start:.1f}" y="{y + 3}" width="{max(end - start, 2):.1f}" height="16" '
            f'rx="2" class="{kind}"/>'
            f'<text x="{end + 6:.1f}" y="{y + 15}">{factor(1 / ratio)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def factor(value):
    """Return a factor of speed as text, to two digits: 0.84, 2.6, 26, 3,100."""
    digits = 1 - math.floor(math.log10(value))
    return f"{round(value, digits):,.{max(digits, 0)}f}\u00d7"


# ---------------------------------------------------------------- the page


def page(recorded):
    """Return the text of doc/benchmarks.rst."""
    parts = [INTRODUCTION, *(section(topic, record) for topic, record in recorded.items())]
    return "\n".join([*parts, missed(recorded)])


INTRODUCTION = """\
.. Written by doc/benchmarks.py.

.. _benchmarks:

==========
Benchmarks
==========

.. figure:: _static/speed.svg
   :alt: Bars of the speed of fits relative to scikit-learn, from the fastest to the slowest
   :class: dark-light

   Fits of this package relative to scikit-learn's on the same data in the same process; below
   one it is slower.

All numbers on this page are read from what ``make bench`` records in ``benchmarks/results``. In
each job the candidates take turns in one process, on a machine with two cores, and times are
printed only after their answers were found to agree. Times are medians in seconds; **ratios are
ours over theirs, so less than one is faster**. Machines differ: only ratios carry over. Run
``make bench SIZE=full`` for your own.
"""


def section(topic, record):
    """Return the section of a topic: what is measured, and a table of its jobs."""
    package = ROOT / "sklearn_sl" / topic / "__init__.py"
    title = topic.replace("_", " ").capitalize()
    if package.exists():
        summary = ast.get_docstring(ast.parse(package.read_text())).splitlines()[0]
        title = re.split(r"[:.,]( |$)", summary)[0]
    script = ROOT / "benchmarks" / f"bench_{topic}.py"
    summary = ast.get_docstring(ast.parse(script.read_text())).split("\n\n")[0].replace("\n", " ")
    sizes = sorted({job["size"] for job in record["jobs"].values()})
    lines = [f"{title}\n{'=' * len(title)}\n", f"{summary} (``--size {' and '.join(sizes)}``)\n"]
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 26 12 14 48", ""]
    lines += cells("job", "samples", "fit", "ratios of the fit; of the prediction")
    for name, job in record["jobs"].items():
        lines += job_rows(name, job)
    return "\n".join(lines) + "\n"


def job_rows(name, job):
    """Return the rows of a job, one for each size that ours was measured at."""
    ours = candidates(job)[0]
    lines = []
    for n, time in seconds(job, ours).items():
        fits = peers_at(job, ours, n, "fit")
        predictions = peers_at(job, ours, n, "predict")
        text = "; ".join(filter(None, (fits, predictions and f"predict: {predictions}")))
        lines += cells(name, f"{n:,}", f"{time:.3g} s", text or "no peer at this size")
    return lines


def peers_at(job, ours, n, phase):
    """Return the ratios of ours to all others at a size as text."""
    times = {name: seconds(job, name, phase).get(n) for name in candidates(job)}
    mine = times.pop(ours)
    if not mine:
        return ""
    named = {
        f"{name.replace(', ', ' (', 1)})" if ", " in name else name: time
        for name, time in times.items()
        if time and not name.startswith(OURS)
    }
    return ", ".join(f"{name} {mine / time:.2g}" for name, time in named.items())


def missed(recorded):
    """Return the section of the targets that were not met."""
    lines = ["Targets not met\n===============\n"]
    rows = [
        cells(named(topic, job, bar), f"{bar['measured']:.3g}", f"{bar['limit']:.3g}")
        for topic, record in recorded.items()
        for job, entry in [*record["jobs"].items(), ("", record.get("overall") or {"bars": []})]
        for bar in entry["bars"]
        if bar["verdict"] == "MISSED"
    ]
    if not rows:
        return "\n".join([*lines, "All were met.\n"])
    lines += [".. list-table::", "   :header-rows: 1", "   :widths: 70 15 15", ""]
    lines += cells("target", "measured", "limit")
    return "\n".join([*lines, *(line for row in rows for line in row)]) + "\n"


def named(topic, job, bar):
    """Return what a bar is about; some name their job themselves."""
    return ": ".join([topic, *[job] * (not bar["name"].startswith(job)), bar["name"]])


def cells(*texts):
    """Return a row of a list-table."""
    marks = ["   * - ", *["     - "] * (len(texts) - 1)]
    return [mark + text for mark, text in zip(marks, texts, strict=True)]


def main():
    """Write the page and the figure."""
    recorded = records()
    PAGE.write_text(page(recorded))
    FIGURE.write_text(figure(recorded))


if __name__ == "__main__":
    main()
