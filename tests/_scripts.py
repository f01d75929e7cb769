"""Scripts of the tests, which run in processes of their own."""

import os
from pathlib import Path


def script_environment(**variables):
    """Return an environment in which a script of the tests imports its neighbours.

    Python looks beside a script by itself, but not on a safe path, with which a wheel is tested.
    """
    folders = [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **variables}
