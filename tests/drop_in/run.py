"""Run scikit-learn's own tests on our classes.

A plain script, run by ``make test-drop-in``. Arguments that name modules as in ``deviations.toml``
select them; all others go to pytest::

    python tests/drop_in/run.py svm/tests/test_svm.py -k weight
"""

import os
import sys
from pathlib import Path

import pytest
import sklearn

HERE = Path(__file__).parent
SITE = Path(sklearn.__file__).parents[1]
OPTIONS = [
    f"--config-file={HERE / 'pytest.ini'}",
    f"--rootdir={SITE}",
    # scikit-learn's fixtures come as a plugin, for whatever modules there are.
    *("--noconftest", "-p", "sklearn.conftest", "-p", "drop_in.plugin", "-p", "no:cacheprovider"),
    *("--quiet", "--tb=short", "--disable-warnings", "--import-mode=prepend"),
]


def main(arguments):
    """Run the modules; return the exit status, zero for another version of scikit-learn."""
    # The package and the plugin, here and in the processes that xdist and joblib start.
    sys.path[:1] = map(str, HERE.parents[:2])
    os.environ["PYTHONPATH"] = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])
    from drop_in.accounts import read_deviations

    deviations = read_deviations()
    if not sklearn.__version__.startswith(f"{deviations.version}."):
        print(
            f"Skipped: tests/drop_in/deviations.toml is about the tests of scikit-learn "
            f"{deviations.version}, and {sklearn.__version__} is installed."
        )
        return 0
    chosen = [a for a in arguments if a.partition("::")[0].endswith(".py")]
    others = [a for a in arguments if a not in chosen]
    modules = [str(SITE / "sklearn" / module) for module in chosen or deviations.modules]
    return pytest.main([*OPTIONS, *others, *modules])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
