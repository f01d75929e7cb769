"""What the user sees while a race goes on."""

import sys
from time import monotonic

from sklearn_sl._compare.plots import duration

WIDTH = 78


def progress_for(quiet):
    """Return a bar on a terminal, lines elsewhere, nothing if that is wanted."""
    if quiet:
        return Silent()
    return Bar() if sys.stderr.isatty() else Lines()


class Silent:
    """Says nothing."""

    def begins(self, datasets, total, known, out):
        """Tell what will be done."""

    def started(self, running, done, total):
        """Tell which candidates are running."""

    def finished(self, result, done, total):
        """Tell how a candidate ended."""

    def followed(self, result, done, total):
        """Tell how a learner of a stream ended."""

    def looks_at(self, result):
        """Tell that one of the best is diagnosed."""

    def ends(self):
        """Tidy up the terminal."""


class Lines(Silent):
    """A line for each candidate, for a file or a pipe."""

    def begins(self, datasets, total, known, out):
        for dataset in datasets:
            say(dataset.summary)
        again = f", {known} of them known from {out}" if known else ""
        say(f"{total} candidates{again}; Ctrl-C ends with a report of what is done")

    def finished(self, result, done, total):
        outcome = result.error or f"{duration(result.median('tune_time'))} to tune and fit"
        self.tell(f"{result.dataset}: {result.name} ({result.library}): {outcome}", done, total)

    def followed(self, result, done, total):
        outcome = result.error or f"{duration(result.seconds)} for all rows"
        self.tell(f"{result.name} ({result.library}): {outcome}", done, total)

    def tell(self, line, done, total):
        say(f"[{done:{len(str(total))}}/{total}] {line}")

    def looks_at(self, result):
        say(f"looking closer at {result.name} on {result.dataset}")


class Bar(Lines):
    """A bar on the last line of a terminal."""

    def begins(self, datasets, total, known, out):
        super().begins(datasets, total, known, out)
        self.began = monotonic()

    def tell(self, line, done, total):
        """The bar shows it."""

    def started(self, running, done, total, width=24):
        filled = width * done // total
        bar = "#" * filled + "-" * (width - filled)
        names = ", ".join(candidate.name for candidate in running)
        draw(f"[{bar}] {done}/{total} {monotonic() - self.began:.0f} s {names}")

    def looks_at(self, result):
        draw(f"looking closer at {result.name} on {result.dataset}")

    def ends(self):
        draw("", "\r")


def say(line):
    print(line, file=sys.stderr, flush=True)


def draw(line, end=""):
    sys.stderr.write(f"\r{line[:WIDTH]:{WIDTH}}{end}")
    sys.stderr.flush()
