"""Side-by-side measurements: candidates agree first, and are timed afterwards.

A benchmark script declares jobs and hands them to :func:`main`.  A job runs its
candidates round-robin in one process on the same data: first one run of each,
whose outcomes must agree (:class:`Disagreement` otherwise), then the timed runs.
Nothing that was measured is printed before the agreement.
"""

import argparse
import ctypes
import gc
import importlib
import json
import math
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "sklearn-sl")


class Disagreement(AssertionError):
    """Two candidates of a job gave different answers."""


class NotMeasured(LookupError):
    """A number was asked of a candidate that did not run."""


# What a script declares ------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """One way to do the work of a job.

    Parameters
    ----------
    fit : callable
        ``fit(data)`` returns the model; timed.
    predict : callable, optional
        ``predict(model, data)`` returns an array; timed apart from the fit.
    once : bool
        Too long to repeat: the run of the agreement is its only timed run.
    max_size : int, optional
        Left out of data larger than this.
    scale : float
        The fit does only 1/scale of the work: its times are multiplied by
        ``scale``, and the table says so.
    """

    fit: Callable[[Any], Any]
    predict: Callable[[Any, Any], np.ndarray] | None = None
    once: bool = False
    max_size: int | None = None
    scale: float = 1.0

    def runs_at(self, n):
        """Whether the candidate takes part at size ``n``."""
        return self.max_size is None or n <= self.max_size


@dataclass(frozen=True)
class Missing:
    """A peer that could not be imported, and why; it stands where a candidate would."""

    reason: str

    def __bool__(self):
        return False


@dataclass(frozen=True)
class Bar:
    """A measured number, ``measure(result)``, that must not exceed ``limit``."""

    name: str
    measure: Callable[["JobResult"], float]
    limit: float

    def judge(self, result):
        """Return the verdict on a :class:`JobResult`: met, MISSED or not measured."""
        try:
            measured = float(self.measure(result))
        except NotMeasured as reason:
            return Verdict(self.name, None, self.limit, f"not measured: {reason}")
        return Verdict(
            self.name, measured, self.limit, "met" if measured <= self.limit else "MISSED"
        )


@dataclass(frozen=True)
class Job:
    """The same work for several candidates; the first one is ours.

    Parameters
    ----------
    name : str
    make_data : callable
        ``make_data(n)`` returns what ``fit`` and ``predict`` receive.
    candidates : dict of str to Candidate or Missing
    agree : callable
        ``agree(outcomes, data)`` raises :class:`Disagreement`; ``outcomes`` maps
        the name of a candidate to its :class:`Outcome`.
    sizes : sequence of int
        The values of ``n``; more than one gives growth exponents.
    repeat : int
        Timed runs of each candidate.
    quality : callable, optional
        ``quality(model, prediction, data)`` returns a dict of numbers, computed
        once per candidate, for the agreement, the table and the bars.
    bars : sequence of Bar
    """

    name: str
    make_data: Callable[[int], Any]
    candidates: Mapping[str, Candidate | Missing]
    agree: Callable[[Mapping[str, "Outcome"], Any], None]
    sizes: Sequence[int]
    repeat: int = 3
    quality: Callable[[Any, Any, Any], dict] | None = None
    bars: Sequence[Bar] = ()

    def missing(self):
        """Return the reasons of the peers that could not be imported."""
        return {name: c.reason for name, c in self.candidates.items() if isinstance(c, Missing)}

    def candidates_at(self, n):
        """Return the candidates that run at size ``n``."""
        present = {name: c for name, c in self.candidates.items() if isinstance(c, Candidate)}
        return {name: c for name, c in present.items() if c.runs_at(n)}


class Split(NamedTuple):
    """Training and test data, what :func:`estimator` candidates receive."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def estimator(make, **options):
    """Return the candidate that fits and predicts with the estimator ``make()``."""
    return Candidate(
        fit=lambda data: make().fit(data.X, data.y),
        predict=lambda model, data: model.predict(data.X_test),
        **options,
    )


def optional_import(name):
    """Import a module; return a :class:`Missing`, which is false, if it is not there."""
    try:
        return importlib.import_module(name)
    except ImportError as error:  # its text may hold a path of this machine: not repeated
        return Missing(f"cannot import {error.name or name}")


def optional_peer(module_name, build):
    """Return the candidate ``build(module)``, or a :class:`Missing` without the module."""
    module = optional_import(module_name)
    return build(module) if module else module


# Agreement -------------------------------------------------------------------


@dataclass
class Outcome:
    """What the agreement sees of a candidate: never a time."""

    model: Any
    prediction: Any
    quality: dict = field(default_factory=dict)


def require_close(who, whom, difference, allowed, what="predictions"):
    """Raise :class:`Disagreement` unless ``difference <= allowed`` (NaN disagrees)."""
    if not difference <= allowed:
        raise Disagreement(
            f"{what} of {who!r} differ from {whom!r} by {difference:.3g} (allowed: {allowed:.3g})"
        )


def relative_difference(values, reference):
    """Return the largest difference over the largest reference value."""
    return float(np.max(np.abs(values - reference)) / np.max(np.abs(reference)))


def same_predictions(rtol):
    """Agreement: every prediction equals the first one's, to ``rtol``."""

    def agree(outcomes, data):
        predictions = {k: o.prediction for k, o in outcomes.items() if o.prediction is not None}
        first = next(iter(predictions))
        for name, prediction in predictions.items():
            difference = relative_difference(prediction, predictions[first])
            require_close(name, first, difference, rtol)

    return agree


def same_quality(key, atol):
    """Agreement: the number ``key`` of the quality is the first one's, to ``atol``."""

    def agree(outcomes, data):
        values = {name: o.quality[key] for name, o in outcomes.items() if key in o.quality}
        first = next(iter(values))
        for name, value in values.items():
            require_close(name, first, abs(value - values[first]), atol, what=key)

    return agree


def all_of(*agreements):
    """Return the agreement that asserts each of ``agreements``."""

    def agree(outcomes, data):
        for agreement in agreements:
            agreement(outcomes, data)

    return agree


# Measuring -------------------------------------------------------------------


def _status_bytes(key):
    """Return an entry of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {key} in /proc/self/status")


def _trim_heap():
    """Give freed memory back, so that a later peak is not hidden in it (glibc only)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim:
        trim(0)


def _max_rss():
    """Return the largest resident size of the process so far, or None."""
    resource = optional_import("resource")
    if not resource:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class PeakMemory:
    """Context manager: ``bytes`` is the peak resident size of the block over its start.

    Linux resets the high-water mark of the process.  Elsewhere only a peak above
    every earlier one is seen: ``bytes`` is a lower bound then, or None.
    """

    def __enter__(self):
        _trim_heap()
        self.bytes = None
        try:
            Path("/proc/self/clear_refs").write_text("5")
            self._before, self._resets = _status_bytes("VmRSS"), True
        except OSError:
            self._before, self._resets = _max_rss(), False
        return self

    def __exit__(self, *error):
        if self._resets:
            self.bytes = max(_status_bytes("VmHWM") - self._before, 0)
        elif self._before is not None:
            self.bytes = (_max_rss() - self._before) or None


PAUSE = 0.1


class Run(NamedTuple):
    """One timed call: wall and CPU seconds of this process, peak bytes."""

    wall: float
    cpu: float
    peak: int | None


def measured(call, *arguments):
    """Return ``call(*arguments)`` and its :class:`Run`.

    It starts after a pause in which the threads of the last call, which spin while
    they wait for more, fall asleep.
    """
    time.sleep(PAUSE)
    with PeakMemory() as memory:
        cpu, wall = time.process_time(), time.perf_counter()
        value = call(*arguments)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return value, Run(wall, cpu, memory.bytes)


@dataclass
class Timing:
    """The runs of one phase (fit or predict) of one candidate."""

    scale: float = 1.0
    runs: list[Run] = field(default_factory=list)

    @property
    def median(self):
        """Median wall time."""
        return self.scale * median(run.wall for run in self.runs)

    @property
    def cpu(self):
        """Median CPU time of this process."""
        return self.scale * median(run.cpu for run in self.runs)

    @property
    def spread(self):
        """Slowest over fastest run."""
        walls = [run.wall for run in self.runs]
        return max(walls) / max(min(walls), 1e-9)

    @property
    def peak(self):
        """Largest peak memory, or None where it cannot be measured."""
        return max((run.peak for run in self.runs if run.peak is not None), default=None)

    def record(self):
        """Return the numbers for the JSON file."""
        return {
            "median_s": self.median,
            "spread": self.spread,
            "cpu_s": self.cpu,
            "peak_bytes": self.peak,
            "runs_s": [run.wall for run in self.runs],
            "scale": self.scale,
        }


@dataclass
class Row:
    """All that was measured of one candidate at one size."""

    n: int
    name: str
    fit: Timing
    predict: Timing
    quality: dict

    def timing(self, phase):
        """Return the timing of ``"fit"`` or ``"predict"``, which must have run."""
        timing = getattr(self, phase)
        if not timing.runs:
            raise NotMeasured(f"{phase} of {self.name}, n = {self.n}")
        return timing


class Verdict(NamedTuple):
    """A judged bar."""

    name: str
    measured: float | None
    limit: float
    verdict: str


def growth_exponent(sizes, times):
    """Return the slope of log(time) over log(size); NaN with fewer than two sizes."""
    if len(set(sizes)) < 2:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


@dataclass
class JobResult:
    """The rows of a job, and the numbers that bars are made of."""

    job: Job
    rows: list[Row] = field(default_factory=list)

    def row(self, name, n=None):
        """Return the row of a candidate, at its largest size unless told."""
        found = [row for row in self.rows if row.name == name and n in (None, row.n)]
        if not found:
            raise NotMeasured(f"{name}" + ("" if n is None else f", n = {n}"))
        return max(found, key=lambda row: row.n)

    def ratio(self, name, peer, phase="fit", n=None):
        """Return the median time of ``name`` over that of ``peer``."""
        ours, theirs = self.row(name, n), self.row(peer, n)
        return ours.timing(phase).median / theirs.timing(phase).median

    def peak(self, name, phase="fit", n=None):
        """Return the peak memory, in bytes."""
        peak = self.row(name, n).timing(phase).peak
        if peak is None:
            raise NotMeasured("peak memory on this system")
        return peak

    def peak_ratio(self, name, peer, phase="fit", n=None):
        """Return the peak memory of ``name`` over that of ``peer``."""
        return self.peak(name, phase, n) / max(self.peak(peer, phase, n), 1)

    def quality(self, name, key, n=None):
        """Return a number of the candidate's quality."""
        return self.row(name, n).quality[key]

    def growth(self, name, phase="fit"):
        """Return the growth exponent of a candidate's median time in n."""
        rows = [row for row in self.rows if row.name == name and getattr(row, phase).runs]
        if len(rows) < 2:
            raise NotMeasured(f"growth of {name}: fewer than two sizes")
        return growth_exponent([r.n for r in rows], [r.timing(phase).median for r in rows])

    def growths(self):
        """Return the growth exponent of the fit of every candidate with two sizes."""
        exponents = {}
        for name in dict.fromkeys(row.name for row in self.rows):
            if sum(row.name == name for row in self.rows) > 1:
                exponents[name] = self.growth(name)
        return exponents

    def verdicts(self):
        """Return the judged bars."""
        return [bar.judge(self) for bar in self.job.bars]


# Running ---------------------------------------------------------------------


def _run(candidate, data, row):
    """Fit and predict once, add the two runs to ``row``, return model and prediction."""
    model, run = measured(candidate.fit, data)
    row.fit.runs.append(run)
    if candidate.predict is None:
        return model, None
    prediction, run = measured(candidate.predict, model, data)
    row.predict.runs.append(run)
    return model, prediction


def _agreement_round(job, data, n):
    """Run every candidate once; return rows and outcomes, once they agree."""
    rows, outcomes = {}, {}
    for name, candidate in job.candidates_at(n).items():
        row = Row(n, name, Timing(candidate.scale), Timing(), {})
        model, prediction = _run(candidate, data, row)
        if job.quality is not None:
            row.quality = job.quality(model, prediction, data)
        rows[name], outcomes[name] = row, Outcome(model, prediction, row.quality)
    if outcomes:
        job.agree(outcomes, data)
    return rows


def _timed_rounds(job, data, rows):
    """Round-robin: the runs of the agreement were the warm-up, and are forgotten."""
    repeated = {name: job.candidates[name] for name in rows if not job.candidates[name].once}
    for name in repeated:
        rows[name].fit.runs.clear()
        rows[name].predict.runs.clear()
    for _ in range(job.repeat):
        for name, candidate in repeated.items():
            _run(candidate, data, rows[name])


def run_job(job, log=print):
    """Assert the agreement and time the candidates at every size of ``job``."""
    result = JobResult(job)
    for name, reason in job.missing().items():
        log(f"{job.name}: peer {name} left out ({reason})")
    for n in job.sizes:
        data = job.make_data(n)
        rows = _agreement_round(job, data, n)
        log(f"{job.name}: n = {n}, {len(rows)} candidates agree")
        _timed_rounds(job, data, rows)
        result.rows.extend(rows.values())
    return result


# Reporting -------------------------------------------------------------------


def format_seconds(seconds):
    """Return a time with three digits and its unit."""
    units = (("s", 1.0), ("ms", 1e3))
    unit, factor = next((u for u in units if seconds * u[1] >= 1.0), ("us", 1e6))
    return f"{seconds * factor:.3g} {unit}"


def format_table(header, rows):
    """Return lines of aligned columns; the first column is flush left."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = []
    for row in cells:
        first, *rest = (
            f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths))
        )
        lines.append("  ".join([first, *rest]).rstrip())
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def _phase_cells(timing, first):
    """Return the cells of one phase: median, first over this, CPU, spread, peak."""
    if not timing.runs:
        return ["-"] * 5
    ratio = f"{first.median / timing.median:.3g}" if first.runs else "-"
    peak = "n/a" if timing.peak is None else f"{timing.peak / 2**20:.0f}"
    spread = f"{len(timing.runs)} ({timing.spread:.2f}x)"
    return [format_seconds(timing.median), ratio, format_seconds(timing.cpu), spread, peak]


def _result_table(result):
    """Return the table of a job."""
    phases = [("fit", ["fit", "first/this", "CPU", "runs (spread)", "peak MiB"])]
    if any(row.predict.runs for row in result.rows):
        phases.append(("predict", ["predict", "first/this", "CPU", "runs (spread)", "peak MiB"]))
    header = ["candidate", "n"] + [title for _, titles in phases for title in titles]
    header += list(dict.fromkeys(key for row in result.rows for key in row.quality))
    table, first = [], {}
    for row in result.rows:
        first.setdefault(row.n, row)
        name = row.name + (f" [x {row.fit.scale:.4g}]" if row.fit.scale != 1 else "")
        cells = [name, row.n]
        for phase, _ in phases:
            cells += _phase_cells(getattr(row, phase), getattr(first[row.n], phase))
        cells += [
            f"{row.quality[key]:.6g}" if key in row.quality else "-" for key in header[len(cells) :]
        ]
        table.append(cells)
    return format_table(header, table)


def report(result, log=print):
    """Print the table of a job and its growth exponents."""
    log(f"\n{result.job.name}\n")
    log(_result_table(result))
    if any(row.fit.scale != 1 for row in result.rows):
        log("[x k]: measured on 1/k of the work and multiplied by k; its peak is of that part")
    for name, exponent in result.growths().items():
        log(f"growth: {name}: fit time ~ n^{exponent:.2f}")
    log("")


def report_bars(verdicts, log=print):
    """Print the bars of all jobs."""
    rows = []
    for bar in verdicts:
        measured_cell = "-" if bar.measured is None else f"{bar.measured:.4g}"
        rows.append([bar.name, measured_cell, f"{bar.limit:.4g}", bar.verdict])
    if rows:
        log(format_table(["bar", "measured", "limit", "verdict"], rows))


def _version(package):
    """Return the installed version of a distribution, or None."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def environment(peers=()):
    """Return versions, BLAS and cores: what a number depends on, nothing personal."""
    keys = ("user_api", "internal_api", "version", "num_threads", "architecture", "threading_layer")
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "packages": {package: _version(package) for package in (*PACKAGES, *peers)},
        "blas": [{key: pool[key] for key in keys if key in pool} for pool in threadpool_info()],
        "cpu_count": os.cpu_count(),
    }


def _finite(value):
    """Return a number, or None for the NaN and infinity that JSON lacks."""
    return value if value is not None and math.isfinite(value) else None


def record(result, size, peers=()):
    """Return the JSON entry of a job."""
    rows = []
    for row in result.rows:
        first = result.row(next(r.name for r in result.rows if r.n == row.n), row.n)
        entry = {"candidate": row.name, "n": row.n, "quality": row.quality}
        for phase in ("fit", "predict"):
            if getattr(row, phase).runs:
                entry[phase] = row.timing(phase).record()
                if getattr(first, phase).runs:
                    entry[phase]["first_over_this"] = result.ratio(
                        first.name, row.name, phase, row.n
                    )
        rows.append(entry)
    return {
        "size": size,
        "repeat": result.job.repeat,
        "environment": environment(peers),
        "missing": result.job.missing(),
        "rows": rows,
        "growth": {name: _finite(value) for name, value in result.growths().items()},
        "bars": [bar._asdict() | {"measured": _finite(bar.measured)} for bar in result.verdicts()],
    }


def write_record(path, topic, name, entry, fresh=False):
    """Put the entry of one job into the file, beside those of the other jobs."""
    contents = {"topic": topic, "jobs": {}}
    if path.exists() and not fresh:
        contents = json.loads(path.read_text(encoding="utf-8"))
    contents["jobs"][name] = entry
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")


# Over several jobs -----------------------------------------------------------


def recorded_jobs(path, size):
    """Return the entries that the file holds of the jobs measured at ``size``, by name."""
    entries = json.loads(path.read_text(encoding="utf-8"))["jobs"]
    return {k: e for k, e in entries.items() if e["size"] == size and "error" not in e}


def geometric_mean_ratio(entries, jobs, peer, phase="fit"):
    """Return the geometric mean over ``jobs`` of the first candidate's time over that of ``peer``.

    A job of several sizes counts with all of them.
    """
    ratios = []
    for name in jobs:
        rows = entries[name]["rows"] if name in entries else []
        found = [row[phase] for row in rows if row["candidate"] == peer and phase in row]
        if not found:
            raise NotMeasured(f"{phase} of {peer}, job {name}")
        ratios += [timing["first_over_this"] for timing in found]
    return math.exp(np.mean(np.log(ratios)))


def write_overall(path, size, verdicts):
    """Put the judged bars over several jobs into the file, beside the jobs."""
    contents = json.loads(path.read_text(encoding="utf-8"))
    bars = [bar._asdict() | {"measured": _finite(bar.measured)} for bar in verdicts]
    contents["overall"] = {"size": size, "bars": bars}
    path.write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")


# The command line ------------------------------------------------------------


def _arguments(topic, argv):
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog=f"bench_{topic}.py", description=f"Benchmark {topic}.")
    parser.add_argument("--size", choices=("quick", "full"), default="quick")
    parser.add_argument("--jobs", nargs="+", metavar="NAME", help="only jobs named so (parts do)")
    parser.add_argument("--repeat", type=int, help="timed runs of each candidate")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON file")
    arguments = parser.parse_args(argv)
    if arguments.repeat is not None and arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    return parser, arguments


def _chosen(parser, jobs, parts):
    """Return the jobs whose name contains one of ``parts``."""
    chosen = [job for job in jobs if not parts or any(part in job.name for part in parts)]
    if not chosen:
        parser.error("no such job; there are: " + ", ".join(job.name for job in jobs))
    return chosen


def _attempt(job, log):
    """Run and report a job; return its result and None, or None and what went wrong."""
    try:
        result = run_job(job, log)
        report(result, log)
    except Disagreement as error:
        log(f"{job.name}: DISAGREEMENT: {error}")
        return None, f"disagreement: {error}"
    except Exception as error:
        log(f"{job.name}: CRASHED\n{traceback.format_exc()}")
        return None, f"crash: {type(error).__name__}"
    return result, None


def main(topic, make_jobs, argv=None, peers=(), log=print, make_overall=None):
    """Run the jobs ``make_jobs(size)`` of a topic; return the exit code.

    ``make_overall(size)`` returns bars over several jobs: their ``measure`` receives
    :func:`recorded_jobs`, so that jobs may also have been run one by one.

    A missed bar is reported and leaves the exit code at 0; a disagreement or a
    crash makes it 1, after the remaining jobs have run.
    """
    parser, arguments = _arguments(topic, argv)
    jobs = _chosen(parser, make_jobs(arguments.size), arguments.jobs)
    if arguments.repeat is not None:
        jobs = [Job(**(vars(job) | {"repeat": arguments.repeat})) for job in jobs]
    path = arguments.results / f"{topic}.json"
    verdicts, failures = [], 0
    for position, job in enumerate(jobs):
        result, error = _attempt(job, log)
        if result is None:
            entry, failures = {"size": arguments.size, "error": error}, failures + 1
        else:
            entry = record(result, arguments.size, peers)
            verdicts += result.verdicts()
        fresh = position == 0 and not arguments.jobs
        write_record(path, topic, job.name, entry, fresh)
    if make_overall is not None:
        entries = recorded_jobs(path, arguments.size)
        overall = [bar.judge(entries) for bar in make_overall(arguments.size)]
        write_overall(path, arguments.size, overall)
        verdicts += overall
    report_bars(verdicts, log)
    return int(failures > 0)
