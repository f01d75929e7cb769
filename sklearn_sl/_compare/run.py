"""The command ``compare``: load, race, look closer, report."""

import contextlib
import dataclasses
import os
import shlex
import sys
from time import monotonic

import joblib

from sklearn_sl._compare import pool, report, state, stream
from sklearn_sl._compare.candidates import BASELINE, baseline, check_names, find_contests
from sklearn_sl._compare.data import BUNDLED, DEFAULT, load
from sklearn_sl._compare.diagnostics import HOW_MANY, diagnose
from sklearn_sl._compare.metrics import metrics_of
from sklearn_sl._compare.progress import progress_for
from sklearn_sl._compare.saved import card_path, check_model_path, save_winner
from sklearn_sl._compare.table import InputError

QUICK_BUDGET = 110.0  # seconds; `make demo` must end within two minutes
RACE_SHARE = 0.85  # of the budget; the rest is for the closer look
ALL_FAILED, INTERRUPTED = 1, 130
GO_ON = "the report has the results so far, and --resume continues from it"
SAVE_EVERY = 30.0  # seconds between two reports while the race goes on


def compare(options, argv):
    """Load, race, look closer, report; return the exit status."""
    started = monotonic()
    end = started + (options.budget or (QUICK_BUDGET if options.quick else float("inf")))
    names, exclude = estimator_names(options.estimators), estimator_names(options.exclude) or []
    known = state.load(options.out) if options.resume else {}
    check_writable(options.out, options.data)
    if options.save is not None:
        check_model_path(options.save, options.out)
    datasets = load_datasets(options)
    if options.stream:
        return compare_stream(options, datasets, names, exclude, end, argv)
    if options.save is not None and len(datasets) > 1:
        raise InputError("--save is for one data set: compare FILE --save MODEL")
    metrics = [metrics_of(dataset, options.scoring) for dataset in datasets]
    run = Run(options, argv, datasets, metrics, *gather(datasets, names, exclude, options))
    progress = progress_for(options.quiet)
    race = run.race(known, progress, started + RACE_SHARE * (end - started))
    sections = run.sections(race.results, report.INTERRUPTED if race.interrupted else "")
    interrupted = race.interrupted or not run.look_closer(sections, progress, end, race.spare)
    run.tell(sections, race.results)
    if interrupted:
        print(f"sklearn_sl compare: interrupted; {GO_ON}", file=sys.stderr)
        return INTERRUPTED
    if options.save is not None:
        run.save(sections[0])
    return tell_failures(sections)


def compare_stream(options, datasets, names, exclude, end, argv):
    """Report on the rows as a stream; return the exit status."""
    if len(datasets) > 1:
        raise InputError("--stream needs a data set: compare FILE --stream")
    if options.resume or options.save is not None:
        raise InputError("--stream cannot be combined with --resume or --save")
    section, text, page = stream.compare(options, datasets[0], names, exclude, end, argv)
    try:
        write_report(options.out, page)
    finally:
        print(text)
    print(f"report: {options.out}", flush=True)
    if section.interrupted:
        print("sklearn_sl compare: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0 if section.ran else ALL_FAILED


class Run:
    """What a report is made of, at any moment of the race."""

    def __init__(self, options, argv, datasets, metrics, candidates, skipped):
        self.options, self.datasets, self.metrics = options, datasets, metrics
        self.candidates, self.skipped = candidates, skipped
        self.command = shlex.join(["python", "-m", "sklearn_sl", *argv])
        self.keys = {
            (number, c.library, c.name): state.key_of(
                datasets[number], c, metrics[number], options.cv, options.seed
            )
            for number, c in candidates
        }

    def race(self, known, progress, end):
        """Run all candidates but those that are known, by their keys; return the `Race`."""
        earlier = {place: known[key] for place, key in self.keys.items() if key in known}
        progress.begins(self.datasets, len(self.candidates), len(earlier), self.options.out)
        race = pool.Race(
            self.datasets,
            self.candidates,
            self.metrics,
            cv=self.options.cv,
            seed=self.options.seed,
            jobs=min(self.options.jobs, joblib.cpu_count()),
            end=end,
            progress=Saving(progress, self),
            known=earlier,
        )
        race.run()
        progress.ends()
        return race

    def sections(self, results, note=""):
        """Return the `Section` of each data set; the note is about the run."""
        numbers = {id(result): number for number, result in self.numbered(results)}
        return [
            report.Section(
                dataclasses.replace(dataset, notes=dataset.notes + self.about_unlabelled(number)),
                self.metrics[number],
                [result for result in results if numbers[id(result)] == number],
                self.options.cv,
                self.skipped[number],
                notes=(note,) if note else (),
            )
            for number, dataset in enumerate(self.datasets)
        ]

    def about_unlabelled(self, number):
        """Say who learns from rows without a class, if there are any."""
        names = [c.name for n, c in self.candidates if n == number and c.takes_unlabelled]
        rows = len(self.datasets[number].unlabelled)
        if rows and names:
            names = ", ".join(dict.fromkeys(names))
            return (f"{rows} rows without a class are learnt from, too, by {names}",)
        return ()

    def numbered(self, results):
        """Yield the number of its data set with each result."""
        names = [dataset.name for dataset in self.datasets]
        for result in results:
            yield names.index(result.dataset), result

    def look_closer(self, sections, progress, end, worker):
        """Diagnose the best candidates of each data set; return False if interrupted."""
        try:
            with pool.Assistant(self.datasets, end, worker) as assistant:
                for number, section in enumerate(sections):
                    section.diagnoses = tuple(self.diagnoses(number, section, progress, assistant))
        except KeyboardInterrupt:
            return False
        finally:
            progress.ends()
        return True

    def diagnoses(self, number, section, progress, assistant):
        candidates = {(c.library, c.name): c for n, c in self.candidates if n == number}
        best = {}
        for result in section.ran:  # of two libraries with the same class, the better one
            if result.library != BASELINE:
                best.setdefault(result.name, result)
        for result in list(best.values())[:HOW_MANY]:
            progress.looks_at(result)
            diagnosis = assistant.ask(
                diagnose,
                number,
                candidates[result.library, result.name],
                [fold.chosen for fold in result.folds],
                cv=self.options.cv,
                seed=self.options.seed,
                metrics=self.metrics[number],
            )
            if diagnosis is not None:
                yield diagnosis

    def save(self, section):
        """Save the best candidate of a data set."""
        candidates = {(c.library, c.name): c for _, c in self.candidates}
        name = save_winner(self.options.save, section, candidates, self.options.seed)
        if name is not None:
            path = self.options.save
            print(f"model: {path} ({name}), with its card {card_path(path)}", flush=True)

    def tell(self, sections, results):
        """Write the report, and print its tables."""
        try:
            self.write(sections, results)
        finally:  # the tables are shown even if the disk is full
            for section in sections:
                print(report.text_report(section))
        print(f"report: {self.options.out}", flush=True)

    def write(self, sections, results):
        """Write the report."""
        known = {
            self.keys[number, result.library, result.name]: result
            for number, result in self.numbered(results)
        }
        page = report.html_report(sections, self.command, state.dump(known))
        write_report(self.options.out, page)


class Saving:
    """Progress that also writes the report now and then, in case that the power fails."""

    def __init__(self, progress, run):
        self.progress, self.run = progress, run
        self.started, self.results, self.last = progress.started, [], monotonic()

    def finished(self, result, done, total):
        self.progress.finished(result, done, total)
        self.results.append(result)
        if monotonic() - self.last > SAVE_EVERY and done < total:
            with contextlib.suppress(InputError):  # the last report says so
                self.run.write(self.run.sections(self.results, report.UNFINISHED), self.results)
            self.last = monotonic()


def tell_failures(sections):
    """Say on which data sets nothing could be compared; return the exit status."""
    status = 0
    for section in sections:
        contestants = [result for result in section.results if result.library != BASELINE]
        if not any(result.ran for result in contestants):
            status, first = ALL_FAILED, contestants[0]
            print(
                f"sklearn_sl compare: error: every candidate failed on {section.dataset.name}; "
                f"{first.name}: {first.error}",
                file=sys.stderr,
            )
    return status


def estimator_names(text):
    """Return the names that an option lists; None if it was not given."""
    if text is None:
        return None
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    check_names(names)
    return names


def load_datasets(options):
    """Return the data set that was asked for, or the default ones."""
    shared = {"cv": options.cv, "quick": options.quick, "seed": options.seed}
    shared["stream"] = options.stream
    if options.data is not None:
        shared |= {"keep": options.keep, "drop": options.drop, "encoding": options.encoding}
        return [load(options.data, options.target, options.task, **shared)]
    if options.target is not None:
        raise InputError("--target needs a file: compare FILE --target COLUMN")
    tasks = DEFAULT if options.task == "auto" else [options.task]
    return [load(DEFAULT[task], task=task, **shared) for task in tasks]


def gather(datasets, names, exclude, options):
    """Return all candidates as (dataset number, candidate), and who is left out."""
    found, skipped = [], []
    how = {"quick": options.quick, "seed": options.seed, "scoring": options.scoring}
    for number, dataset in enumerate(datasets):
        contests, reasons = find_contests(dataset, names, exclude=exclude, **how)
        pairs = [(baseline(dataset.task), None), *contests] if contests else []
        found += [(number, pair) for pair in pairs]
        skipped.append(reasons)
    found.sort(key=lambda item: len(item[1][0].points))  # the quick ones first
    candidates = [(number, c) for number, pair in found for c in pair if c is not None]
    if not candidates:
        asked = f" among {', '.join(names)}" if names else ""
        tasks = " or ".join(dataset.task for dataset in datasets)
        why = "; ".join(f"{name} {why}" for reasons in skipped for name, why in reasons.items())
        raise InputError(f"no estimator for {tasks}{asked}{why and f' ({why})'}")
    kept = sorted({number for number, _ in candidates})
    if len(kept) < len(datasets):  # the names are for one of the two default data sets
        places = {number: place for place, number in enumerate(kept)}
        datasets[:] = [datasets[number] for number in kept]
        skipped = [skipped[number] for number in kept]
        candidates = [(places[number], candidate) for number, candidate in candidates]
    return candidates, skipped


# --- the file -------------------------------------------------------------------


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
