"""The command line: ``python -m sklearn_sl compare``."""

import argparse
import os
import shlex
import sys
from time import monotonic

import joblib

from sklearn_sl import __version__
from sklearn_sl._compare import report
from sklearn_sl._compare.candidates import check_names, find_contests
from sklearn_sl._compare.data import BUNDLED, DEFAULT, InputError, load
from sklearn_sl._compare.pool import Race

QUICK_BUDGET = 90.0  # seconds; `make demo` must end within two minutes
ALL_FAILED, USER_ERROR, INTERRUPTED = 1, 2, 130
MAX_SEED = 2**32 - 1  # of scikit-learn

DESCRIPTION = """\
Run every estimator of sklearn_sl that fits the task on one data set, beside its
scikit-learn counterpart: preprocessing, grid search and nested cross-validation
with the same folds for all. Prints a table and writes an HTML report."""

EXAMPLES = """\
examples:
  python -m sklearn_sl compare --quick
  python -m sklearn_sl compare --data digits --estimators KernelRidgeClassifier
  python -m sklearn_sl compare --data houses.csv --target price --jobs 2 --out houses.html
"""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        raise InputError(message)


def at_least(least, kind=int, most=float("inf")):
    """Return the type of an option: a number from ``least`` to ``most``."""
    valid = f">= {least}" if most == float("inf") else f"from {least} to {most}"

    def parse(text):
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number {valid}")
        return number

    return parse


def build_parser():
    parser = Parser(prog="sklearn_sl", description="Supervised learning with certificates.")
    parser.add_argument("--version", action="version", version=f"sklearn_sl {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    compare = commands.add_parser(
        "compare",
        help="race the estimators of the package on a data set",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = compare.add_argument
    add(
        "--data",
        help=f"a bundled data set ({', '.join(BUNDLED)}) or a CSV file with a header; default: "
        f"{DEFAULT['classification']} and {DEFAULT['regression']}, or the one that --task names",
    )
    add("--target", metavar="COLUMN", help="the column of the CSV file to predict")
    add(
        "--task",
        choices=["auto", *DEFAULT],
        default="auto",
        help="auto: text or a few whole numbers are classes (default)",
    )
    add("--estimators", metavar="NAME,...", help="only these estimators of the package")
    add("--cv", type=at_least(2), metavar="FOLDS", help="outer folds (default 5; 3 with --quick)")
    add(
        "--jobs",
        type=at_least(1),
        default=1,
        metavar="N",
        help="candidates at the same time, one core each (default 1: undisturbed times)",
    )
    add("--out", default="report.html", metavar="FILE", help="the report (default report.html)")
    add(
        "--quick",
        action="store_true",
        help=f"coarser grids, fewer rows, and a time budget of {QUICK_BUDGET:g} seconds",
    )
    add(
        "--budget",
        type=at_least(1, float),
        metavar="SECONDS",
        help="stop after this time: slow estimators get fewer settings and rows",
    )
    add(
        "--seed",
        type=at_least(0, most=MAX_SEED),
        default=0,
        help="of folds and estimators (default 0)",
    )
    add("--quiet", action="store_true", help="no progress bar")
    return parser


def main(argv=None):
    """Run the command line; return the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        return compare(build_parser().parse_args(argv), argv)
    except InputError as error:
        print(f"sklearn_sl compare: error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print("sklearn_sl compare: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader has gone, as in `compare | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def compare(options, argv):
    """Load, race, report; return the exit status."""
    end = monotonic() + (options.budget or (QUICK_BUDGET if options.quick else float("inf")))
    names = estimator_names(options.estimators)
    check_writable(options.out, options.data)
    cv = options.cv or (3 if options.quick else 5)
    datasets = load_datasets(options, cv)
    contests, skipped = gather_contests(datasets, names, options)
    race = Race(
        datasets,
        contests,
        {"cv": cv, "seed": options.seed},
        jobs=min(options.jobs, joblib.cpu_count()),
        end=end,
        progress=silent if options.quiet or not sys.stderr.isatty() else show_progress,
    )
    results = race.run()
    sections = [
        (dataset, [result for result in results if result.dataset == dataset.name], reasons)
        for dataset, reasons in zip(datasets, skipped)
    ]
    command = shlex.join(["python", "-m", "sklearn_sl", *argv])
    try:
        write_report(options.out, report.html_report(sections, command, cv))
    finally:  # the table is shown even if the disk is full
        for section in sections:
            print(report.text_report(*section))
    print(f"report: {options.out}", flush=True)
    return tell_failures(sections)


def tell_failures(sections):
    """Say on which data sets nothing could be compared; return the exit status."""
    status = 0
    for dataset, results, _ in sections:
        if all(result.error for result in results):
            status, first = ALL_FAILED, results[0]
            print(
                f"sklearn_sl compare: error: every candidate failed on {dataset.name}; "
                f"{first.name}: {first.error}",
                file=sys.stderr,
            )
    return status


def estimator_names(text):
    """Return the names that ``--estimators`` asks for; None for all."""
    if text is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    check_names(names)
    return names


def load_datasets(options, cv):
    """Return the data set that was asked for, or the default ones."""
    shared = {"cv": cv, "quick": options.quick, "seed": options.seed}
    if options.data is not None:
        return [load(options.data, options.target, options.task, **shared)]
    if options.target is not None:
        raise InputError("--target needs --data FILE")
    tasks = DEFAULT if options.task == "auto" else [options.task]
    return [load(DEFAULT[task], task=task, **shared) for task in tasks]


def gather_contests(datasets, names, options):
    """Return all contests as (dataset number, candidate, rival), and who is left out."""
    contests, skipped = [], []
    for number, dataset in enumerate(datasets):
        found, reasons = find_contests(dataset, names, quick=options.quick, seed=options.seed)
        contests += [(number, *pair) for pair in found]
        skipped.append(reasons)
    if not contests:
        asked = f" among {', '.join(names)}" if names else ""
        tasks = " or ".join(dataset.task for dataset in datasets)
        why = "; ".join(f"{name} {why}" for reasons in skipped for name, why in reasons.items())
        raise InputError(f"no estimator for {tasks}{asked}{why and f' ({why})'}")
    return contests, skipped


# --- the terminal and the file ----------------------------------------------------


def silent(done, total, running):
    pass


def show_progress(done, total, running, width=30):
    """Redraw the bar on the last line of the terminal; clear it at the end."""
    filled = width * done // total
    bar = "#" * filled + "-" * (width - filled)
    line = f"[{bar}] {done}/{total} {', '.join(running)}"[:78]
    sys.stderr.write(f"\r{line:78}" if done < total else f"\r{'':78}\r")
    sys.stderr.flush()


def check_writable(path, data=None):
    """Refuse a report that cannot be written, before the race and not after it."""
    folder = os.path.dirname(path) or "."
    if not path:
        raise InputError("--out needs the name of a file")
    if os.path.isdir(path):
        raise InputError(f"cannot write {path!r}: it is a directory")
    if not os.path.isdir(folder):
        raise InputError(f"cannot write {path!r}: no directory {folder!r}")
    if not os.path.exists(path):
        write_report(path, "")  # some names and file systems say no only then
        os.remove(path)
    elif not os.access(path, os.W_OK):
        raise InputError(f"cannot write {path!r}: permission denied")
    elif data not in (None, *BUNDLED) and os.path.exists(data) and os.path.samefile(data, path):
        raise InputError(f"--out {path} would overwrite the data")


def write_report(path, page):
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        raise InputError(f"cannot write {path!r}: {error.strerror}") from None
