"""The command ``bench``: the benchmarks of the package, on the user's machine."""

import subprocess
import sys
from pathlib import Path

import sklearn_sl
from sklearn_sl._compare.table import InputError, did_you_mean

FOLDER = Path(sklearn_sl.__file__).parent.parent / "benchmarks"
PREFIX = "bench_"


def topics():
    """Return the topics that there are benchmarks of."""
    return sorted(path.stem.removeprefix(PREFIX) for path in FOLDER.glob(f"{PREFIX}*.py"))


def bench(options, argv):
    """Run the benchmarks of some topics, or of all; return the exit status."""
    known = topics()
    if not known:
        raise InputError(
            "the benchmarks are not part of an installed package: run this from the source "
            "distribution (pip download --no-binary :all: sklearn-sl)"
        )
    for topic in options.topics:
        if topic not in known:
            hint = did_you_mean(topic, known) or f"; there are {', '.join(known)}"
            raise InputError(f"no benchmark {topic!r}{hint}")
    failed = 0
    for topic in options.topics or known:
        print(f"== {topic}, size {options.size}; results go to {options.results}", flush=True)
        command = [sys.executable, FOLDER / f"{PREFIX}{topic}.py", "--size", options.size]
        command += ["--results", options.results]
        failed += subprocess.run(command, check=False).returncode != 0
    return int(failed > 0)
