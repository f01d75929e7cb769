"""Run the tests of the compiled code under the address and undefined-behaviour sanitizers.

A plain script, run by ``make test-sanitize``: it compiles the package into build/sanitize, makes
sure that two mistakes on purpose are caught, and runs the tests with fewer examples of each
property. Arguments are handed to pytest, in place of the directories below.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize"
COMPILED = ["svm", "tree", "kernels", "graph", "online", "ensemble"]
# Each must end the process with this message.
CANARIES = {
    "read_past_the_end(numpy.zeros(100))": "heap-buffer-overflow",
    "shift(1, 64)": "shift exponent 64 is too large",
}


def build():
    """Compile the package and the canary with sanitizers, apart from all other builds."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        requires = tomllib.load(file)["build-system"]["requires"]
    run("-m", "pip", "install", "--quiet", *requires, check=True)
    options = {"SKLEARN_SL_SANITIZE": "1", "CFLAGS": "-O1 -fno-omit-frame-pointer"}
    command = ["setup.py", "--quiet", "build", "--build-base", BUILD, "--build-lib", BUILD / "lib"]
    run(*command, check=True, env={**os.environ, **options})
    # Without it joblib ends its processes by way of pgrep, which hangs under the sanitizers.
    target = ["--upgrade", "--target", BUILD / "lib", "psutil"]
    run("-m", "pip", "install", "--quiet", *target, check=True)


def run(*command, **options):
    """Run Python in the directory of the project."""
    return subprocess.run([sys.executable, *command], cwd=ROOT, **options)


def sanitized_environment():
    """Return the environment of a process in which the sanitizers are at work."""
    return {
        **os.environ,
        # The sanitizers come before all else: the interpreter itself knows nothing of them.
        "LD_PRELOAD": f"{library('libasan.so')} {library('libubsan.so')}",
        # Python leaks by design, and tests ask for more memory than there is.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        # Python's own pools would hide what lies behind the end of a small object.
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(BUILD / "lib"),
        "PYTHONSAFEPATH": "1",
    }


def library(name):
    """Return the path of a library of the compiler."""
    compiler = os.environ.get("CC", "gcc").split()
    command = [*compiler, f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def check_canaries(environment):
    """Raise unless each mistake on purpose is caught."""
    for mistake, message in CANARIES.items():
        code = f"import numpy, _canary, sklearn_sl; print(sklearn_sl.__file__); _canary.{mistake}"
        result = run("-c", code, env=environment, capture_output=True, text=True)
        if str(BUILD) not in result.stdout:
            raise SystemExit(f"This is not the sanitized package: {result.stdout}{result.stderr}")
        if result.returncode == 0 or message not in result.stderr:
            raise SystemExit(f"The sanitizers let _canary.{mistake} pass: {result.stderr}")
        print(f"Caught, as it must be: _canary.{mistake}", flush=True)


def main(arguments):
    """Build, check the canaries, test; return the exit status of pytest."""
    build()
    environment = sanitized_environment()
    check_canaries(environment)
    options = ["--quiet", "-p", "no:cacheprovider", "--hypothesis-profile", "few"]
    markers = "not slow and not alone and not large"
    tests = arguments or ["-n", str(os.cpu_count()), *(f"tests/{name}" for name in COMPILED)]
    return run("-m", "pytest", *options, "-m", markers, *tests, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
