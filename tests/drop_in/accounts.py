"""Which of scikit-learn's tests may fail and why, and the accounts of a run."""

import re
import tomllib
from collections import Counter
from pathlib import Path

LIST = Path(__file__).with_name("deviations.toml")
REASONS = {
    "private": "the test reads an attribute with an underscore, or a private module",
    "message": "only the text of an error or of a warning differs",
    "stricter": "we raise or warn where scikit-learn is silent",
    "exact": "the number that the test expects is the less accurate one",
    "chance": "the number that the test expects is that of scikit-learn's draws from one seed",
    "declined": "we do not offer this",
}


class Deviation:
    """An entry of the list: a test, or several by ``*``, and why it may fail.

    The name of a test without parameters stands for all of its parametrisations.
    """

    def __init__(self, module, reason, name, why):
        self.module, self.reason, self.name, self.why = module, reason, name, why
        parts = map(re.escape, name.split("*"))
        self._pattern = re.compile(".*".join(parts) + ("" if "[" in name else r"(\[.*\])?"), re.S)

    def covers(self, module, test):
        """Say whether this is the entry of a test."""
        return module == self.module and self._pattern.fullmatch(test) is not None

    def __str__(self):
        return f"{self.reason}: {self.why or REASONS[self.reason]}"


class Deviations:
    """The list, the version of scikit-learn that it is of, and the share that has to pass."""

    def __init__(self, content):
        self.version, self.floor = content["scikit-learn"], content["floor"]
        self.common = content.get("common", [])
        self.modules = [*content["modules"], *self.common]
        self.entries = [
            Deviation(module, reason, name, why)
            for module, reasons in content["tests"].items()
            for reason, tests in reasons.items()
            for name, why in tests.items()
        ]

    def is_common(self, node):
        """Say whether a test is from a module that tests every estimator there is."""
        return split(node)[0] in self.common

    def of(self, node):
        """Return the entry of a test, None if it has to pass."""
        module, test = split(node)
        return next((entry for entry in self.entries if entry.covers(module, test)), None)


def read_deviations(path=None):
    """Return the list."""
    return Deviations(tomllib.loads((path or LIST).read_text()))


def split(node):
    """Return the module, below scikit-learn's folder, and the name of a test."""
    path, _, test = node.partition("::")
    return path.removeprefix("sklearn/"), test


class Accounts:
    """What became of each test: ``passed``, ``failed``, or the reason why it may fail."""

    def __init__(self, deviations):
        self.deviations = deviations
        self.outcomes, self.complaints, self._seen = {}, [], set()

    def enter(self, report):
        """Enter a report of pytest; tests that are skipped or not about us do not count."""
        entry = self.deviations.of(report.nodeid)
        self._seen.update([entry] if entry else [])
        outcome = outcome_of(report, entry)
        if outcome and (report.concerns_us or outcome != "passed"):
            self.outcomes[report.nodeid] = outcome

    def close(self, whole):
        """Say what is wrong with the list, if whole modules were run, and with the share."""
        modules = {split(node)[0] for node in self.outcomes}
        if whole:
            self.complaints += [
                f"{entry.module}::{entry.name} is on the list, but there is no such test."
                for entry in self.deviations.entries
                if entry.module in modules and entry not in self._seen
            ]
        total = self.count()
        if modules >= set(self.deviations.modules) and share(total) < self.deviations.floor:
            self.complaints.append(
                f"{share(total):.1%} of the tests passed, fewer than {self.deviations.floor:.1%}."
            )

    def count(self, module=None):
        """Return how often there was each outcome, in one module or in all."""
        return Counter(
            outcome
            for node, outcome in self.outcomes.items()
            if module is None or split(node)[0] == module
        )

    def table(self):
        """Return the accounts as text."""
        used = [reason for reason in REASONS if self.count()[reason]]
        columns = ["tests", "passed", *used, "failed", "share"]
        modules = sorted({split(node)[0] for node in self.outcomes})
        width = max(map(len, [*modules, "module"]))
        lines = [f"{'module':{width}}" + "".join(f"{name:>10}" for name in columns)]
        for module in [*modules, None]:
            counts = self.count(module)
            numbers = [counts.total(), *(counts[name] for name in columns[1:-1])]
            cells = "".join(f"{number:10}" for number in numbers)
            lines.append(f"{module or 'all':{width}}{cells}{share(counts):10.1%}")
        return "\n".join([*lines, "share: of the tests that are not private"])


def outcome_of(report, entry):
    """Return the outcome of a test that a report decides, else None."""
    if report.outcome == "failed":
        return "failed"
    if entry and hasattr(report, "wasxfail"):
        return entry.reason
    return "passed" if report.when == "call" and report.outcome == "passed" else None


def share(counts):
    """Return the share of tests that passed among those that are not private."""
    return counts["passed"] / max(1, counts.total() - counts["private"])
