"""The rows as a stream: each is predicted before it is learnt from.

No row is set aside, and none is tested by a learner that has seen it (progressive validation).
There is nothing to tune: the stream comes once.
"""

import contextlib
import dataclasses
import shlex
import warnings
from time import monotonic, perf_counter

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import get_scorer
from sklearn.preprocessing import StandardScaler

from sklearn_sl._compare import page, plots, pool, report
from sklearn_sl._compare.candidates import BASELINE, Candidate, find_contests
from sklearn_sl._compare.certificates import certificates_of
from sklearn_sl._compare.metrics import metrics_of
from sklearn_sl._compare.page import Cell, paragraph, tag
from sklearn_sl._compare.plots import duration
from sklearn_sl._compare.progress import progress_for
from sklearn_sl._compare.race import different_texts, in_words, one_line, preprocessing
from sklearn_sl._compare.table import InputError
from sklearn_sl._scoring import KnownClassifier, KnownRegressor, score_of
from sklearn_sl.online import progressive_predict

FIRST_SHARE, FIRST_ROWS = 0.1, 100  # rows that teach the scales, at most so many
MOST_BLOCKS = 5000  # longer streams are told in blocks
POINTS = 40  # of a curve
PICTURED = 5  # curves
SORTED = (
    "Rows with similar targets follow each other in this file: if new rows will not arrive in such "
    "an order, shuffle the file first."
)


class RunningMajority(ClassifierMixin, BaseEstimator):
    """Predicts the class that was most frequent so far."""

    def fit(self, X, y):
        """Forget what was seen before, and count the classes."""
        vars(self).clear()
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        """Count the classes."""
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(y if classes is None else classes)
            self.counts_ = np.zeros(len(self.classes_))
        np.add.at(self.counts_, np.searchsorted(self.classes_, y), 1)
        return self

    def predict(self, X):
        """Return the most frequent class for all rows."""
        return np.full(len(X), self.classes_[np.argmax(self.counts_)])


class RunningMean(RegressorMixin, BaseEstimator):
    """Predicts the mean of the targets so far."""

    def fit(self, X, y):
        """Forget what was seen before, and add up the targets."""
        vars(self).clear()
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        """Add up the targets."""
        self.sum_ = getattr(self, "sum_", 0.0) + np.sum(y)
        self.count_ = getattr(self, "count_", 0) + len(y)
        return self

    def predict(self, X):
        """Return the mean for all rows."""
        return np.full(len(X), self.sum_ / self.count_)


@dataclasses.dataclass
class StreamResult:
    """What is known of one learner on the stream."""

    name: str
    library: str
    error: str = ""
    curve: tuple = ()  # the score of the first rows
    at: tuple = ()  # numbers of rows
    seconds: float = np.nan  # predicting and learning all rows
    settings: str = ""
    certificates: dict = dataclasses.field(default_factory=dict)
    warnings: tuple = ()

    @property
    def score(self):
        return -np.inf if self.error else self.curve[-1]


# --- one learner ----------------------------------------------------------------


def first_rows(n_rows):
    return max(2, min(FIRST_ROWS, int(FIRST_SHARE * n_rows)))


def block_size(n_rows):
    return -(-n_rows // MOST_BLOCKS)


def follow(dataset, candidate, metrics):
    """Return the `StreamResult` of a candidate, at the safest of its settings."""
    result = StreamResult(candidate.name, candidate.library)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _follow(result, dataset, candidate, metrics[0])
        except Exception as error:
            result.error = one_line(error)
    result.warnings = tuple(different_texts(caught))
    return result


def _follow(result, dataset, candidate, metric):
    first = first_rows(len(dataset.y))
    prepare = preprocessing(dataset).fit(dataset.X[:first])
    X, y = prepare.transform(dataset.X), dataset.y
    classes = None
    if dataset.task == "classification":
        classes = np.arange(dataset.n_classes)
    else:
        y = StandardScaler().fit(y[:first, None]).transform(y[:, None]).ravel()
    settings = candidate.points[0]
    estimator = clone(candidate.estimator).set_params(**settings)
    estimator.partial_fit(X[:first], y[:first], **({} if classes is None else {"classes": classes}))
    X, y = X[first:], y[first:]
    how = {"classes": classes, "block_size": block_size(len(y))}
    started = perf_counter()
    answers = progressive_predict(estimator, X, y, **how)
    result.seconds = perf_counter() - started
    at = np.unique(np.linspace(min(20, len(y)), len(y), POINTS).astype(int))
    result.curve = tuple(map(float, scores_at(metric, answers, y, classes, at)))
    result.at = tuple(at.tolist())
    if not np.isfinite(result.curve[-1]):
        raise ValueError(f"{metric.label} is {result.curve[-1]}")
    result.settings = in_words(settings)
    result.certificates = certificates_of(estimator, X, y)


def scores_at(metric, answers, y, classes, at):
    """Return the score of the first answers, for each of some numbers of them."""
    scorer, scores = get_scorer(metric.scorer), []
    for k in at:
        known = KnownRegressor(answers[:k])
        if classes is not None:
            known = KnownClassifier(answers[:k], classes)
        scores.append(score_of(scorer, known, y[:k]))
    return scores


def candidates_of(dataset, names, exclude, seed):
    """Return the learners of streams, the baseline first, and who is left out."""
    contests, skipped = find_contests(dataset, names, exclude=exclude, quick=True, seed=seed)
    classes = dataset.task == "classification"
    dummy = RunningMajority() if classes else RunningMean()
    found = [Candidate(type(dummy).__name__, BASELINE, dummy)]
    for us, rival in contests:
        if not hasattr(us.estimator, "partial_fit"):
            skipped[us.name] = "learns from all rows at once"
            continue
        found.append(us)
        if rival is not None and hasattr(rival.estimator, "partial_fit"):
            found.append(rival)
    if len(found) == 1:
        asked = f" among {', '.join(names)}" if names else ""
        raise InputError(f"no estimator with partial_fit for {dataset.task}{asked}")
    return found, skipped


# --- all of them ----------------------------------------------------------------


def compare(options, dataset, names, exclude, end, argv):
    """Follow the stream with each learner, and report; return the report as text and page."""
    metrics = metrics_of(dataset, options.scoring)
    found, skipped = candidates_of(dataset, names, exclude, options.seed)
    progress = progress_for(options.quiet)
    progress.begins([dataset], len(found), 0, options.out)
    results, interrupted = [], False
    with contextlib.ExitStack() as stack:
        assistant = stack.enter_context(pool.Assistant([dataset], end))
        try:
            for candidate in found:
                progress.started([candidate], len(results), len(found))
                result = None
                if monotonic() < end:
                    result = assistant.ask(follow, 0, candidate, metrics)
                if result is None:
                    result = StreamResult(candidate.name, candidate.library, pool.STOPPED)
                results.append(result)
                progress.followed(result, len(results), len(found))
        except KeyboardInterrupt:
            interrupted = True
            for candidate in found[len(results) :]:
                result = StreamResult(candidate.name, candidate.library, pool.INTERRUPTED)
                results.append(result)
    progress.ends()
    section = Section(dataset, metrics, results, skipped, interrupted)
    command = shlex.join(["python", "-m", "sklearn_sl", *argv])
    return section, text_report(section), html_report(section, command)


@dataclasses.dataclass
class Section:
    """All that there is to say about a stream."""

    dataset: object
    metrics: tuple
    results: list
    skipped: dict
    interrupted: bool = False

    def __post_init__(self):
        def place(result):
            return (result.error != "", -round(result.score, 6) if not result.error else 0)

        self.results = sorted(self.results, key=lambda result: (*place(result), result.name))

    @property
    def ran(self):
        return [result for result in self.results if not result.error]


def verdict(section):
    """Return what the user wants to know."""
    ran = [result for result in section.ran if result.library != BASELINE]
    if not ran:
        return "No learner has a score. See the reasons in the table."
    metric, best = section.metrics[0], ran[0]
    base = next((result for result in section.ran if result.library == BASELINE), None)
    text = f"{best.name} of {best.library} has the best progressive {metric.label}"
    text += f", {metric.shown(best.score):.4g}"
    if base is not None:
        text += f"; {base.name}, which does not look at the features, has "
        text += f"{metric.shown(base.score):.4g}"
    fast = min(ran, key=lambda result: result.seconds)
    which = "It is" if fast is best else f"{fast.name} of {fast.library} is"
    return f"{text}. {which} the fastest, with {duration(fast.seconds)} for all rows."


def explanation(section):
    n_rows = len(section.dataset.y)
    first = first_rows(n_rows)
    blocks = block_size(n_rows - first)
    told = "one by one" if blocks == 1 else f"in blocks of {blocks}"
    sorted_ = " " + SORTED if is_sorted(section.dataset) else ""
    return (
        f"The rows are a stream in the order of the file, told {told}: each is predicted before it "
        f"is learnt from, after a start with {first} rows, which also set the scales. Settings are "
        f"the middle ones of each grid.{sorted_}"
    )


def is_sorted(dataset):
    """Say whether equal classes, or nearly equal targets, follow each other more than by chance."""
    y = dataset.y
    if dataset.task == "regression":
        return np.mean(np.diff(y) ** 2) < np.var(y)  # of independent rows it is twice the variance
    by_chance = 1 - np.sum((np.bincount(y) / len(y)) ** 2)
    return np.mean(y[1:] != y[:-1]) < by_chance / 2


def table(section):
    """Return the header and the rows of cells."""
    metric = section.metrics[0]
    header = [
        (" estimator", ""),
        (" library", ""),
        (metric.label, f"Of predictions made before learning; {metric.direction}"),
        ("time", "Predicting and learning all rows"),
        (" certificates", "What the learner says about its own quality"),
        (" settings", ""),
        (" notes", ""),
    ]
    rows = []
    for result in section.results:
        if result.error:
            rows.append([result.name, result.library, "-", "-", "", "", Cell(result.error)])
            continue
        score = metric.shown(result.score)
        kinds = dict.fromkeys(text.partition(":")[0] for text in result.warnings)
        cells = [Cell(f"{score:.4f}", score), Cell(duration(result.seconds), result.seconds)]
        rows.append(
            [
                result.name,
                result.library,
                *cells,
                report.certificate_cell(result),
                Cell(result.settings),
                Cell(", ".join(kinds)),
            ]
        )
    return header, rows


def text_report(section):
    """Return what the user reads on the terminal."""
    dataset = section.dataset
    lines = [dataset.summary, *(f"note: {note}" for note in dataset.notes), ""]
    lines += [
        report.aligned(*table(section), report.terminal_width()),
        "",
        explanation(section),
        verdict(section),
        "",
    ]
    return "\n".join(lines)


def html_report(section, command):
    """Return the page."""
    dataset, metric = section.dataset, section.metrics[0]
    body = ["<h1>sklearn_sl compare --stream</h1>", f"<p>{tag('code', command)}</p>"]
    body += [tag("h2", dataset.summary), paragraph(verdict(section), "verdict")]
    if section.interrupted:
        body.append(paragraph(report.INTERRUPTED, "warning"))
    kinds = [report.row_kind(result) for result in section.results]
    body += [paragraph(explanation(section)), page.table(*table(section), "Results", kinds=kinds)]
    body += report.not_run(report.by_reason(section.skipped))
    if section.ran:
        svg = plots.stream_plot(section.ran[:PICTURED], metric)
        caption = f"{metric.label} of the first rows, the best {PICTURED}"
        body.append(f'<div class="plots">{page.figure(svg, caption)}</div>')
    body += report.preparation(dataset, "on the first rows")
    if any(result.certificates for result in section.ran):
        body += ["<h2>How to read this</h2>", report.meanings(section.ran)]
    body.append(report.version_table())
    return page.document(f"sklearn_sl compare --stream: {dataset.name}", body)
