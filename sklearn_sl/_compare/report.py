"""The results as text for the terminal and as a page."""

import collections
import dataclasses
import math
import platform
import shutil
import sys
import textwrap
from importlib import metadata

import joblib
import numpy as np

from sklearn_sl import __version__
from sklearn_sl._compare import page, plots
from sklearn_sl._compare.candidates import BASELINE, OURS, THEIRS
from sklearn_sl._compare.certificates import MEANINGS
from sklearn_sl._compare.page import Cell, paragraph, tag
from sklearn_sl._compare.plots import duration
from sklearn_sl._compare.significance import LEVEL, against_best

NOTE_WIDTH = 60
NOT_STARTED = "not run ("  # how the error of a candidate without a single fold begins
MAX_MATRIX = 20  # classes of a confusion matrix
IMBALANCE = 0.8  # the share of a class from which on accuracy says little
INTERRUPTED = "The run was interrupted: estimators that were not reached are listed as not run."
UNFINISHED = "This report was written during the run: it is not complete."
# Names of columns in text, and the columns that a narrow terminal goes without, the first first.
SHORT = {"fit vs scikit-learn": "fit vs sk", "tuning vs scikit-learn": "tune vs sk"}
DISPENSABLE = ("tune", "fit", "+- sd", "against the best", "certificates", "tuning vs scikit-learn")
SPEED = "How many times faster than the class of scikit-learn: its time over ours, "


@dataclasses.dataclass
class Section:
    """All that there is to say about one data set."""

    dataset: object
    metrics: tuple
    results: list
    cv: int
    skipped: dict = dataclasses.field(default_factory=dict)
    diagnoses: tuple = ()
    notes: tuple = ()  # about the run, not about the data

    def __post_init__(self):
        self.results = by_score(self.results)

    @property
    def ran(self):
        return [result for result in self.results if result.ran]

    @property
    def in_table(self):
        """The results but those of candidates that were never started."""
        return [result for result in self.results if not was_not_started(result)]

    @property
    def not_run(self):
        """The names of those that did not take part, by the reason."""
        found = by_reason(self.skipped)
        for result in filter(was_not_started, self.results):
            reason = f"{result.error[len(NOT_STARTED) : -1]}; --resume continues with them"
            library = "" if result.library == OURS else f" of {result.library}"
            found[reason].append(result.name + library)
        return found

    @property
    def p_values(self):
        """The p-value of each result against the best, by library and name."""
        ran = self.ran
        if not ran:
            return {}
        shares = self.metrics[0].scorer == "accuracy"
        n_test = len(self.dataset.y) // self.cv if shares else None
        found = against_best([result.scores() for result in ran], 1 / (self.cv - 1), n_test)
        return {(r.library, r.name): p for r, p in zip(ran, found)}


def by_reason(skipped):
    """Return the names of those that did not take part, by the reason."""
    found = collections.defaultdict(list)
    for name, reason in skipped.items():
        found[reason].append(name)
    return found


def was_not_started(result):
    return result.error.startswith(NOT_STARTED) and not result.folds


def by_score(results):
    """Return the results, the best first, failures last; equals by name, ours before theirs."""

    def place(result):
        # Rounded: the last bits of a score are no merit. Times would change the order of a repeat.
        score = -round(result.score, 6) if result.ran else math.inf
        return score, result.name, result.library != OURS

    return sorted(results, key=place)


# --- what it comes to -----------------------------------------------------------


def verdict(section):
    """Return what the user wants to know, in two sentences."""
    ran = section.ran
    contestants = [result for result in ran if result.library != BASELINE]
    if not contestants:
        return "No estimator has a score. See the reasons in the table."
    metric, p = section.metrics[0], section.p_values
    best = contestants[0]
    first = f"{best.name} of {best.library} has the best {metric.label}, {shown(best, metric)}"
    base = next((result for result in ran if result.library == BASELINE), None)
    if base is not None and best.score <= base.score:
        return (
            f"No estimator is better than the baseline, which does not look at the features and "
            f"has the {metric.label} {shown(base, metric)}. The next, {best.name} of "
            f"{best.library}, has {shown(best, metric)}."
        )
    if base is not None:
        first += f"; without looking at the features it would be {shown(base, metric)}"
        if p[base.library, base.name] >= LEVEL:
            return (
                f"{first}. That difference may be chance: no estimator was shown to learn anything "
                "from these features."
            )
    same = [result for result in contestants if p[result.library, result.name] >= LEVEL]
    if len(same) == 1:
        return f"{first}. All others are distinguishably worse."
    fastest = min(same, key=lambda result: result.median("tune_time"))
    which = "it is also" if fastest is best else f"{fastest.name} of {fastest.library} is"
    others = f"{len(same) - 1} others are" if len(same) > 2 else "1 other is"
    return (
        f"{first}. {others} not distinguishable from it with so few rows and folds, and {which} "
        f"the fastest of these to choose its parameters and fit, in "
        f"{duration(fastest.median('tune_time'))}."
    )


def shown(result, metric):
    return f"{metric.shown(np.mean(result.scores(metric.scorer))):.4g}"


def warnings_of(section):
    """Return what the user must know before believing the table."""
    found = list(section.notes)
    dataset, metric = section.dataset, section.metrics[0]
    if dataset.task == "classification" and len(dataset.y):
        counts = np.bincount(dataset.y)
        share = counts.max() / counts.sum()
        if share >= IMBALANCE and metric.scorer == "accuracy":
            name = dataset.class_names[np.argmax(counts)] if dataset.class_names else "one class"
            found.append(
                f"The classes are imbalanced: {name} has {share:.0%} of the rows, so that always "
                f"predicting it has an accuracy of {share:.3f}. Look at the balanced accuracy, or "
                "rank by it with --scoring balanced_accuracy."
            )
    return found


# --- the tables -----------------------------------------------------------------


def speed_up(result, results, time):
    """Return how many times faster than its counterpart, None if unknown, and the two times."""
    for rival in results:
        if (rival.name, rival.library) != (result.rival, THEIRS) or not (rival.ran and result.ran):
            continue
        if time != "tune_time" and result.tunes_itself != rival.tunes_itself:
            continue  # the fit of one chooses the parameters, that of the other does not
        times = rival.median(time), result.median(time)
        return times[0] / times[1], times
    return None, ()


def speed_cell(result, results, time):
    ratio, times = speed_up(result, results, time)
    if ratio is None:
        return Cell("")
    return Cell(f"{ratio:.2g}x", ratio, small=f"theirs {duration(times[0])}")


def time_cell(result, time):
    seconds = result.median(time)
    return Cell(duration(seconds), seconds)


def certificate_cell(result):
    """Return the certificates, the first in full size."""
    found = [f"{name} {value:.2g}" for name, value in result.certificates.items()]
    said = "\n".join(f"{name}: {MEANINGS[name]}" for name in result.certificates)
    return Cell("; ".join(found[:1]), small="; ".join(found[1:]), title=said)


def chance_cell(p):
    if p >= LEVEL:
        return Cell("not distinguishable", p, small=f"p = {p:.2g}") if p < 1 else Cell("best", p)
    return Cell("worse", p, small=f"p = {p:.1g}")


def result_table(section):
    """Return the header and the rows of cells of the table that comes first."""
    metric, p = section.metrics[0], section.p_values
    header = [
        (" estimator", ""),
        (" library", ""),
        (metric.label, f"Mean over {section.cv} outer folds, the same for all; {metric.direction}"),
        ("+- sd", "Standard deviation over the folds"),
        (" against the best", "Corrected resampled t-test (Nadeau and Bengio), two-sided, at 5 %"),
        (" certificates", "What the fit says about its own quality: the worst of all folds"),
        ("fit", "Time to fit with the chosen parameters, without preprocessing"),
        ("fit vs scikit-learn", SPEED + "to fit"),
        ("tune", "Time to choose the parameters and fit, with preprocessing"),
        ("tuning vs scikit-learn", SPEED + "to choose the parameters and fit"),
        (" notes", ""),
    ]
    rows = []
    for result in section.in_table:
        if not result.ran:
            done = f" after {len(result.folds)} of {section.cv} folds" if result.folds else ""
            blank = ["-", "-", "", "", "-", "", "-", ""]
            note = Cell(result.error + done)
            rows.append([result.name, result.library, *blank, note])
            continue
        score = metric.shown(result.score)
        rows.append(
            [
                result.name,
                result.library,
                Cell(f"{score:.4f}" if abs(score) < 1e4 else f"{score:.4g}", score),
                Cell(f"{result.sd:.4f}" if result.sd < 1e4 else f"{result.sd:.3g}", result.sd),
                chance_cell(p[result.library, result.name]),
                certificate_cell(result),
                time_cell(result, "fit_time"),
                speed_cell(result, section.results, "fit_time"),
                time_cell(result, "tune_time"),
                speed_cell(result, section.results, "tune_time"),
                Cell(note_of(result)),
            ]
        )
    return header, rows


def note_of(result):
    """Return the kinds of the warnings; their texts are in a list of their own."""
    kinds = dict.fromkeys(text.partition(":")[0] for text in result.warnings)
    return ", ".join(kinds)


def metric_table(section):
    header = [(" estimator", ""), (" library", "")]
    header += [(metric.label, metric.direction) for metric in section.metrics]
    header += [("predict", "Time to predict the test rows of a fold")]
    rows = []
    for result in section.ran:
        cells = []
        for metric in section.metrics:
            score = metric.shown(np.mean(result.scores(metric.scorer)))
            known = np.isfinite(score)
            cells.append(Cell(f"{score:.4g}", float(score)) if known else Cell(""))
        rows.append([result.name, result.library, *cells, time_cell(result, "predict_time")])
    return header, rows


def warning_texts(results):
    """Return each text of a warning once, with the names of those that gave it."""
    found = collections.defaultdict(list)
    for result in results:
        for text in result.warnings:
            found[text].append(f"{result.name} ({result.library})")
    return found


def terminal_width():
    """Return the width of the terminal; None if the text goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def aligned(header, rows, width=None):
    """Return a table as text; of a width, if that takes leaving out columns."""
    names = [name.strip() for name, _ in header]
    lines = [[SHORT.get(name, name) for name in names]]
    for row in rows:
        cells = [cell if isinstance(cell, str) else cell.text for cell in row]
        lines.append([*cells[:-1], textwrap.shorten(cells[-1], NOTE_WIDTH)])
    widths = [max(map(len, column)) for column in zip(*lines)]
    shown = list(range(len(names)))
    for name in DISPENSABLE:
        if width is not None and sum(widths[n] + 2 for n in shown) > width and name in names:
            shown.remove(names.index(name))
    left = {0, *(place for place, (name, _) in enumerate(header) if name.startswith(" "))}

    def line(cells):
        padded = (
            cells[n].ljust(widths[n]) if n in left else cells[n].rjust(widths[n]) for n in shown
        )
        return "  ".join(padded).rstrip()[:width]

    return "\n".join(map(line, [lines[0], ["-" * width for width in widths], *lines[1:]]))


def text_report(section):
    """Return what the user reads on the terminal about one data set."""
    parts = [section.dataset.summary]
    parts += [f"note: {note}" for note in section.dataset.notes]
    parts += [f"warning: {warning}" for warning in warnings_of(section)]
    parts += ["", aligned(*result_table(section), terminal_width()), ""]
    for reason, names in section.not_run.items():
        which = f"not run: {counted(names)} ({reason}): {', '.join(names)}"
        parts.append(textwrap.fill(which, 100, subsequent_indent="  "))
    parts += [textwrap.fill(verdict(section), 100), ""]
    return "\n".join(parts)


def counted(names):
    return f"{len(names)} estimator{'s' * (len(names) > 1)}"


# --- the page -------------------------------------------------------------------


def html_report(sections, command, state="{}"):
    """Return the page about all data sets."""
    body = ["<h1>sklearn_sl compare</h1>", f"<p>{tag('code', command)}</p>"]
    for section in sections:
        body += html_section(section)
    body += ["<h2>How to read this</h2>", explanations(sections), version_table()]
    names = ", ".join(section.dataset.name for section in sections)
    return page.document(f"sklearn_sl compare: {names}", body, state)


def html_section(section):
    """Return the pieces of the page about one data set."""
    kinds = [row_kind(result) for result in section.in_table]
    pieces = [tag("h2", section.dataset.summary), paragraph(verdict(section), "verdict")]
    pieces += [paragraph(warning, "warning") for warning in warnings_of(section)]
    header, rows = result_table(section)
    pieces.append(page.table(header, rows, "Results, the best first", kinds=kinds, libraries=True))
    pieces += not_run(section.not_run)
    pieces += pictures(section)
    if section.ran:
        kinds = [row_kind(result) for result in section.ran]
        pieces.append("<h3>All scores, and the time to predict</h3>")
        scores = page.table(*metric_table(section), "Means over folds", kinds=kinds, libraries=True)
        pieces.append(scores)
    for diagnosis in section.diagnoses[:1]:
        if diagnosis.confusion:
            pieces += confusion(diagnosis, section.dataset)
    pieces += preparation(section.dataset)
    pieces += chosen(section)
    texts = warning_texts(section.ran)
    if texts:
        rows = [[text, Cell(", ".join(names))] for text, names in texts.items()]
        pieces += [
            "<h3>Warnings</h3>",
            page.table([(" text", ""), (" from", "")], rows, "Warnings"),
        ]
    return pieces


def not_run(groups):
    """Return a paragraph for each reason for which estimators did not take part."""
    return [
        paragraph(f"Not run: {counted(names)} ({reason}): {', '.join(names)}.", "soft")
        for reason, names in groups.items()
    ]


def row_kind(result):
    if result.error:
        return "failed"
    return {OURS: "ours", BASELINE: "base"}.get(result.library, "")


def pictures(section):
    """Return the plots of a section."""
    metric, ran = section.metrics[0], section.ran
    if not ran:
        return []
    found = [
        page.figure(
            plots.time_plot(ran, metric),
            "Time against score: what is above and to the left is both better and faster."
            if metric.sign > 0
            else "Time against score: what is below and to the left is both better and faster.",
        )
    ]
    if section.diagnoses:
        found.append(
            page.figure(
                plots.learning_plot(section.diagnoses, metric),
                "Learning curves of the best, with the chosen parameters: if they still rise at "
                "the right end, more rows help.",
            )
        )
    if any(diagnosis.calibration for diagnosis in section.diagnoses):
        silent = [d.name for d in section.diagnoses if not d.calibration]
        found.append(
            page.figure(
                plots.calibration_plot(section.diagnoses, section.dataset.n_classes == 2),
                "Calibration: are predicted probabilities those that come true?"
                + (f" {' and '.join(silent)} has no probabilities." if silent else ""),
            )
        )
    if section.diagnoses and section.diagnoses[0].residuals:
        found.append(
            page.figure(
                plots.residual_plot(section.diagnoses[0]),
                f"Residuals of {section.diagnoses[0].name} on rows that it did not learn from.",
            )
        )
    caption = "Scores of all but the baseline, with their spread over the folds."
    found.append(page.figure(plots.score_plot(ran, metric), caption))
    return ["<h3>Pictures</h3>", '<div class="plots">', *found, "</div>"]


def confusion(diagnosis, dataset):
    """Return the confusion matrix of the winner, or of many classes the commonest errors."""
    names = dataset.class_names or tuple(map(str, range(dataset.n_classes)))
    counts = np.array(diagnosis.confusion)
    if len(names) > MAX_MATRIX:
        found, what = commonest_errors(counts, names), "Commonest errors"
    else:
        found, what = confusion_matrix(counts, names), "Confusion matrix"
    caption = (
        f"{what} of {diagnosis.name}, each row of the data predicted by a model that did not learn "
        "from it"
    )
    return ["<h3>Where the best one errs</h3>", page.table(*found, caption, sortable=False)]


def confusion_matrix(counts, names):
    header = [(" true class", ""), *((f"is called {name}", "") for name in names)]
    rows = []
    for place, name in enumerate(names):
        cells = []
        for other, count in enumerate(counts[place]):
            wrong = "much" if count > 0.1 * counts[place].sum() else "some" if count else ""
            cells.append(Cell(str(count), kind="right" if other == place else wrong))
        rows.append([name, *cells])
    return header, rows


def commonest_errors(counts, names):
    errors = counts - np.diag(np.diag(counts))
    order = np.argsort(-errors, axis=None, kind="stable")[:MAX_MATRIX]
    rows = [
        [names[true], Cell(names[called]), Cell(str(errors[true, called]))]
        for true, called in zip(*np.unravel_index(order, errors.shape))
        if errors[true, called]
    ]
    return [(" true class", ""), (" is called", ""), ("rows", "")], rows


def preparation(dataset, where="in each training part"):
    """Return every step from the file to what the estimators see."""
    steps = [*dataset.notes, *preprocessing_steps(dataset, where)]
    items = "".join(tag("li", step) for step in steps)
    return ["<h3>What was done to the data</h3>", f"<ol>{items}</ol>"]


def preprocessing_steps(dataset, where="in each training part"):
    """Return the steps that are fitted, in words."""
    n_numbers = dataset.X.shape[1] - len(dataset.categorical)
    steps = []
    if n_numbers:
        gaps = np.delete(np.isnan(dataset.X), list(dataset.categorical), axis=1).sum()
        if gaps:
            steps.append(f"{gaps} missing numbers filled in by the median of their column")
        steps.append(f"{n_numbers} numeric columns scaled to mean 0 and standard deviation 1")
    if dataset.categorical:
        steps.append(f"{len(dataset.categorical)} columns of categories one-hot encoded")
    if dataset.task == "regression":
        steps.append(
            "the target scaled to mean 0 and standard deviation 1; errors are told in its own unit"
        )
    return [f"{step} (fitted {where})" for step in steps]


def chosen(section):
    """Return the table of the chosen parameters."""
    if not section.ran:
        return []
    rows = []
    for result in section.ran:
        texts = [f"{text} ({n} of {section.cv})" for text, n in result.settings.most_common()]
        tried = "tunes itself" if result.tunes_itself else str(result.n_settings)
        rows.append([result.name, result.library, Cell(tried), Cell("; ".join(texts))])
    header = [(" estimator", ""), (" library", ""), ("settings tried", ""), (" chosen (folds)", "")]
    table = page.table(header, rows, "Chosen in the training parts alone", libraries=True)
    return [page.folded("Parameters that were chosen", table)]


def meanings(results, more=""):
    """Return the meaning of the certificates that there are, and more entries of the list."""
    present = {name for result in results for name in result.certificates}
    items = "".join(
        tag("dt", name) + tag("dd", meaning)
        for name, meaning in MEANINGS.items()
        if name in present
    )
    return f"<dl>{items}{more}</dl>"


def explanations(sections):
    """Return the meaning of the certificates, of the test, and of the speeds."""
    items = [
        tag("dt", "against the best")
        + tag(
            "dd",
            "A corrected resampled t-test (Nadeau and Bengio 2003) of the differences in the same "
            "folds, which allows for the overlap of training parts. Not distinguishable is not the "
            "same as equal: with few rows or folds the test sees large differences only. The "
            "level of 5 % is that of each comparison, not corrected for their number.",
        ),
        tag("dt", "fit and tuning vs scikit-learn")
        + tag(
            "dd",
            "The time of the scikit-learn class of the same name over ours, on one core: 2x is "
            "twice as fast. Below is the time of theirs. A class that tunes itself is "
            "compared with the grid search of scikit-learn's class, over the same grid.",
        ),
    ]
    return meanings([result for section in sections for result in section.ran], "".join(items))


def version_table():
    rows = [[name, Cell(version)] for name, version in versions()]
    return page.table([(" what", ""), (" version", "")], rows, "Versions", sortable=False)


def versions():
    """Return pairs of what matters to repeat the measurement."""
    packages = ("scikit-learn", "numpy", "scipy", "joblib")
    return [
        ("sklearn_sl", __version__),
        *((name, metadata.version(name)) for name in packages),
        ("python", platform.python_version()),
        ("machine", f"{platform.system()} {platform.machine()}, {joblib.cpu_count()} cores"),
    ]
