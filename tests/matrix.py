"""Run the tests with the oldest and newest dependencies, on every Python that is found.

A plain script, run by ``make test-matrix``. There is one wheel for each Python, and an environment
in build/matrix for each combination; the oldest Python has all versions, the others, which old
versions know nothing of, have the newest. Arguments are handed to pytest; ``MATRIX=3.13`` or
``MATRIX=oldest`` runs only what has this in its name.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "matrix"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = [f"3.{minor}" for minor in range(11, 16)]
DEFAULT = ["--quiet", "-n", "2", "-m", "not slow and not alone", "tests"]


def oldest(requirement):
    """Return the oldest that a requirement allows: ``numpy==2.0.*`` for ``numpy>=2.0``."""
    return re.sub(r">=(.*)", r"==\1.*", requirement)


VERSIONS = {
    "oldest": [oldest(requirement) for requirement in PROJECT["dependencies"]],
    "scikit-learn-1.8": ["scikit-learn==1.8.*"],
    "newest": [],
}


def interpreter(version):
    """Return the path of a Python of this version, from the PATH or pyenv, or else None."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python")]
    return next((path for path in candidates if path and runs(path, version)), None)


def runs(path, version):
    """Say whether this Python starts and makes environments: a shim of pyenv may stand for none."""
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    result = subprocess.run([path, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() == version


def combinations():
    """Yield Pythons that are found, and names of versions, as the variable MATRIX selects them."""
    rows = []
    for python in PYTHONS:
        path = interpreter(python)
        if path is None:
            print(f"Python {python}: not found, skipped", flush=True)
            continue
        versions = VERSIONS if python == PYTHONS[0] else ["newest"]
        rows += [(f"{python}-{version}", path, version) for version in versions]
    return [row for row in rows if os.environ.get("MATRIX", "") in row[0]]


def environment(name, path):
    """Return the Python of a new environment: some systems have no pip outside of one."""
    subprocess.run([path, "-m", "venv", "--clear", BUILD / name], check=True)
    return BUILD / name / ("Scripts" if os.name == "nt" else "bin") / "python"


def wheel(python, directory):
    """Return the wheel for this Python, built anew; a warning of the compiler is an error."""
    shutil.rmtree(directory, ignore_errors=True)
    # What an earlier build has left would be taken as it is, warnings and all.
    for leftover in [*ROOT.glob("build/lib*"), *ROOT.glob("build/temp*")]:
        shutil.rmtree(leftover)
    command = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", directory, ROOT]
    subprocess.run(command, check=True, env={**os.environ, "SKLEARN_SL_STRICT": "1"})
    return next(directory.glob("*.whl"))


def install(python, package, version):
    """Install the package and these versions of what it depends on."""
    command = [python, "-m", "pip", "install", "--quiet", f"{package}[test]", *VERSIONS[version]]
    subprocess.run(command, check=True)


def passes(python, arguments):
    """Run the tests on the installed package, not on the one in the working directory."""
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    safe = {**os.environ, "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, cwd=ROOT, env=safe).returncode == 0


def main(arguments):
    """Test every combination; return the number of those that failed, or 1 if there is none."""
    wheels, failed = {}, []
    rows = combinations()
    if not rows:
        print("Nothing was tested: no such combination.")
        return 1
    for name, path, version in rows:
        print(f"=== {name}", flush=True)
        try:
            python = environment(name, path)
            if path not in wheels:
                wheels[path] = wheel(python, BUILD / "wheels" / name)
            install(python, wheels[path], version)
            good = passes(python, arguments)
        except subprocess.CalledProcessError as error:
            print(error)
            good = False
        failed += [] if good else [name]
    print("Failed: " + ", ".join(failed) if failed else "Every combination passed.")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or DEFAULT))
