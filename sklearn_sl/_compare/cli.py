"""The command line: ``python -m sklearn_sl``, or ``sklearn-sl``."""

import argparse
import os
import sys

from sklearn_sl import __version__
from sklearn_sl._compare import bench, plan, run, saved
from sklearn_sl._compare.data import BUNDLED, DEFAULT
from sklearn_sl._compare.table import InputError

USER_ERROR = 2
MAX_SEED = 2**32 - 1  # of scikit-learn

DESCRIPTION = """\
Run every estimator of sklearn_sl that fits the task on one data set, beside its
scikit-learn counterpart: preprocessing, grid search and nested cross-validation
with the same folds for all. Prints a table and writes an HTML report."""

EXAMPLES = """\
examples:
  python -m sklearn_sl compare --quick
  python -m sklearn_sl compare houses.csv --target price --jobs 2 --out houses.html
  python -m sklearn_sl compare digits --estimators KernelRidgeClassifier,SVC
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
    add_compare(commands)
    add_predict(commands)
    add_plan(commands)
    add_bench(commands)
    return parser


def add_compare(commands):
    compare = commands.add_parser(
        "compare",
        help="race the estimators of the package on a data set",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    compare.set_defaults(run=run.compare)
    add = compare.add_argument_group("what to learn from").add_argument
    bundled = ", ".join(BUNDLED)
    add(
        "data",
        nargs="?",
        metavar="FILE",
        help=f"a CSV file with a header, or a bundled data set ({bundled}); default: "
        f"{DEFAULT['classification']} and {DEFAULT['regression']}, or the one that --task names",
    )
    add("--data", dest="data_option", metavar="FILE", help="the same, as an option")
    add("--target", metavar="COLUMN", help="the column of the file to predict")
    add(
        "--task",
        choices=["auto", *DEFAULT],
        default="auto",
        help="auto: text or a few whole numbers are classes (default)",
    )
    add("--drop", action="append", default=[], metavar="COLUMN", help="leave out; may be repeated")
    add(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="use a column of numbers that looks like an identifier; may be repeated",
    )
    add("--encoding", metavar="NAME", help="of the file, such as latin-1 (default: found out)")
    add = compare.add_argument_group("who takes part, and how").add_argument
    add("--estimators", metavar="NAME,...", help="only these estimators of the package")
    add("--exclude", metavar="NAME,...", help="all but these estimators of the package")
    add(
        "--scoring",
        metavar="NAME",
        help="the score that rules, by its name in scikit-learn (default accuracy or r2)",
    )
    add("--cv", type=at_least(2), default=5, metavar="FOLDS", help="outer folds (default 5)")
    add(
        "--seed",
        type=at_least(0, most=MAX_SEED),
        default=0,
        metavar="N",
        help="of folds and estimators: the same seed gives the same scores (default 0)",
    )
    add(
        "--stream",
        action="store_true",
        help="progressive validation: each row, in the order of the file, is predicted before it "
        "is learnt from",
    )
    add = compare.add_argument_group("time").add_argument
    add(
        "--quick",
        action="store_true",
        help=f"coarser grids, fewer rows, and a time budget of {run.QUICK_BUDGET:g} seconds",
    )
    add(
        "--budget",
        type=at_least(1, float),
        metavar="SECONDS",
        help="stop after this time: slow candidates are stopped, and no score depends on it",
    )
    add(
        "--jobs",
        "--n-jobs",
        type=at_least(1),
        default=1,
        metavar="N",
        help="candidates at the same time, one core each (default 1: undisturbed times)",
    )
    add = compare.add_argument_group("the report").add_argument
    add("--out", default="report.html", metavar="FILE", help="the report (default report.html)")
    add(
        "--resume",
        action="store_true",
        help="go on from the report that is there: what it has is not run again",
    )
    add(
        "--save",
        metavar="MODEL",
        help="save the best one, fitted on all rows: MODEL.skops, or MODEL.joblib; its card is "
        "MODEL.md",
    )
    add("--quiet", action="store_true", help="do not tell what is running")


def add_predict(commands):
    predict = commands.add_parser(
        "predict",
        help="apply a model that compare has saved to the rows of a file",
        description="Read a file with the columns that the model was fitted on, and write it again "
        "with predictions. A .joblib file runs code when it is loaded: use only your own. A .skops "
        "file is loaded if it has models of this package and scikit-learn only.",
        allow_abbrev=False,
    )
    predict.set_defaults(run=saved.predict)
    add = predict.add_argument
    add("model", metavar="MODEL", help="the file that compare --save wrote")
    add("file", metavar="FILE", help="a CSV or Parquet file with the same columns")
    add("--out", metavar="FILE", help="a CSV file (default: the terminal)")
    add("--encoding", metavar="NAME", help="of the file, such as latin-1 (default: found out)")


PLAN_EXAMPLES = """\
examples:
  python -m sklearn_sl plan --epsilon 0.05 --hypotheses 3**20
  python -m sklearn_sl plan --epsilon 0.05 --family conjunctions 20 --error 0.1
  python -m sklearn_sl plan --epsilon 0.1 --margin 0.2 --radius 1
  python -m sklearn_sl plan --epsilon 0.02 churn.csv --target left --estimator SVC
"""


def add_plan(commands):
    command = commands.add_parser(
        "plan",
        help="how many samples an accuracy needs",
        description="List how many samples are needed to train or to test a classifier up to an\n"
        "accuracy: all bounds that apply to what is known of it, from the loosest to\n"
        "the tightest, and the extended learning curve of a pilot.",
        epilog=PLAN_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.set_defaults(run=plan.plan)
    share = at_least(0, float, most=1)
    add = command.add_argument_group("the question").add_argument
    add("--epsilon", type=share, required=True, metavar="E", help="the accuracy")
    add(
        "--delta",
        type=share,
        default=0.05,
        metavar="D",
        help="the probability with which a statement may fail (default 0.05)",
    )
    add = command.add_argument_group("what is known").add_argument
    add(
        "--hypotheses",
        type=plan.log_of_count,
        metavar="N",
        help="the size of a finite class: a number, or a power such as 3**20",
    )
    add(
        "--family",
        nargs=2,
        metavar=("NAME", "SIZE"),
        help=f"a finite class and its number of variables or bits: {', '.join(plan.FAMILIES)}",
    )
    add("--ends", type=at_least(1), metavar="N", help="2 for an interval, 2 d for a box")
    add("--margin", type=float, metavar="G", help="the margin of a linear classifier")
    add(
        "--radius",
        type=float,
        default=1.0,
        metavar="R",
        help="the length of the longest sample (default 1)",
    )
    add("--vc-dimension", type=at_least(0), metavar="D", help="the VC dimension of a class")
    add(
        "--kept",
        type=at_least(0),
        metavar="K",
        help="the samples that determine the classifier, such as support vectors",
    )
    add(
        "--lipschitz",
        type=float,
        metavar="L",
        help="the Lipschitz constant of a loss that is minimised with a penalty; takes --norm",
    )
    add("--norm", type=float, metavar="B", help="the largest norm of its weights")
    add("--error", type=share, metavar="P", help="the test error that is expected")
    add(
        "--compared",
        type=at_least(1),
        default=1,
        metavar="R",
        help="classifiers to be compared on the test samples (default 1)",
    )
    add = command.add_argument_group("a pilot").add_argument
    add("data", nargs="?", metavar="FILE", help="a CSV file, or a bundled data set")
    add("--target", metavar="COLUMN", help="the column of the file to predict")
    add("--estimator", metavar="NAME", help="a classifier of the package (default SVC)")
    add("--cv", type=at_least(2), default=10, metavar="FOLDS", help="folds (default 10)")
    add("--seed", type=at_least(0, most=MAX_SEED), default=0, metavar="N", help="(default 0)")
    add("--jobs", type=at_least(1), default=1, metavar="N", help="processes (default 1)")
    add = command.add_argument_group("the answer").add_argument
    add("--json", action="store_true", help="print JSON instead of a table")
    add("--picture", metavar="FILE", help="save a picture: FILE.png, FILE.svg, FILE.pdf")


def add_bench(commands):
    command = commands.add_parser(
        "bench",
        help="run the benchmarks of the package on this machine",
        description="Run the benchmarks against scikit-learn and other peers: answers must agree "
        "before times are compared. Needs the source tree.",
        allow_abbrev=False,
    )
    command.set_defaults(run=bench.bench)
    add = command.add_argument
    add("topics", nargs="*", metavar="TOPIC", help=f"{', '.join(bench.topics())}; default: all")
    add("--size", choices=["quick", "full"], default="quick", help="of the data (default quick)")
    add(
        "--results",
        default="bench-results",
        metavar="FOLDER",
        help="where the measurements are written (default bench-results)",
    )


def main(argv=None):
    """Run the command line; return the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    command = argv[0] if argv and not argv[0].startswith("-") else "compare"
    try:
        if not argv:
            build_parser().print_help()
            return USER_ERROR
        options = build_parser().parse_args(argv)
        if getattr(options, "data_option", None) is not None:
            if options.data is not None:
                raise InputError(f"two data sets: {options.data} and {options.data_option}")
            options.data = options.data_option
        return options.run(options, argv)
    except InputError as error:
        print(f"sklearn_sl {command}: error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        print(f"sklearn_sl {command}: interrupted", file=sys.stderr)
        return run.INTERRUPTED
    except BrokenPipeError:  # the reader has gone, as in `compare | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
