"""Run the tests with the oldest and newest dependencies, on every Python that is found.

A plain script, run by ``make test-matrix``. There is one wheel for each Python, and an environment
in build/matrix for each combination; the oldest Python has all versions, the others the newest.
Arguments are handed to pytest; ``MATRIX=3.13`` or ``MATRIX=oldest`` runs only what has this in
its name.
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
    """Say whether this is a Python that starts: a shim of pyenv may stand for none."""
    code = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    result = subprocess.run([path, "-c", code], capture_output=True, text=True)
    return result.stdout.strip() == version


def combinations():
    """Yield Pythons that are found, and names of versions, as the variable MATRIX selects them."""
    rows, versions = [], list(VERSIONS)
    for python in PYTHONS:
        path = interpreter(python)
        if path is None:
            print(f"Python {python}: not found, skipped", flush=True)
            continue
        rows += [(f"{python}-{version}", path, version) for version in versions]
        versions = ["newest"]
    return [row for row in rows if os.environ.get("MATRIX", "") in row[0]]


def wheel(path, directory):
    """Return the wheel for this Python, built anew; a warning of the compiler is an error."""
    shutil.rmtree(directory, ignore_errors=True)
    command = [path, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", directory, ROOT]
    subprocess.run(command, check=True, env={**os.environ, "SKLEARN_SL_STRICT": "1"})
    return next(directory.glob("*.whl"))


def environment(name, path, version, package):
    """Return the Python of an environment with the package and these versions."""
    python = BUILD / name / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        subprocess.run([path, "-m", "venv", BUILD / name], check=True)
    install = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, f"{package}[test]", *VERSIONS[version]], check=True)
    subprocess.run([*install, "--force-reinstall", "--no-deps", package], check=True)
    return python


def passes(python, arguments):
    """Run the tests on the installed package, not on the one in the working directory."""
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    safe = {**os.environ, "PYTHONSAFEPATH": "1"}
    return subprocess.run(command, cwd=ROOT, env=safe).returncode == 0


def main(arguments):
    """Test every combination; return the number of those that failed."""
    wheels, failed = {}, []
    for name, path, version in combinations():
        print(f"=== {name}", flush=True)
        try:
            if path not in wheels:
                wheels[path] = wheel(path, BUILD / "wheels" / name)
            good = passes(environment(name, path, version, wheels[path]), arguments)
        except subprocess.CalledProcessError as error:
            print(error)
            good = False
        failed += [] if good else [name]
    print("Failed: " + ", ".join(failed) if failed else "Every combination passed.")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or DEFAULT))
