"""Print, as JSON, how fits end under limits of memory.

To be run as a script with the number of samples, the megabytes of address space that a fit may take
beyond what is taken already, separated by commas, and names of estimators, else of all. Every fit
has a process of its own, a fork of this one: libraries may end it.
"""

import json
import os
import resource
import select
import signal
import sys
import warnings

import numpy as np
from _checks import configurations, label, problem
from sklearn.base import clone

SECONDS = 120


def first_configurations(names):
    """Return the first configuration of each estimator, of the names if there are any."""
    found = {}
    for model in configurations(own=True):
        found.setdefault(type(model).__name__, model)
    models = [clone(found[name]) for name in names or found]
    for model in models:
        if "n_jobs" in model.get_params():
            model.set_params(n_jobs=2)
    return models


def limit_memory(megabytes):
    """Let this process take so much more address space than it has."""
    with open("/proc/self/statm") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    limit = taken + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def refit(model, small, large, megabytes):
    """Return how the second fit of a model ends."""
    model.fit(small.X, small.y)
    before = dict(vars(model))
    np.ones((200, 200)) @ np.ones((200, 200))
    limit_memory(megabytes)
    try:
        model.fit(large.X, large.y)
    except MemoryError:
        after = vars(model)
        intact = after.keys() == before.keys() and all(after[k] is before[k] for k in before)
        return "MemoryError" if intact else "MemoryError, and the model is changed"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "fitted"


def outcome(work):
    """Return what ``work()`` returns in a process of its own, or how that process ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, work().encode()[:4000])
        os._exit(0)
    os.close(writer)
    ended = select.select([reader], [], [], SECONDS)[0]
    if not ended:
        os.kill(child, signal.SIGKILL)
    answer = os.read(reader, 4000).decode() if ended else "does not end"
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    return answer or f"the process ends with status {status}"


def main(n_samples, limits, *names):
    """Return the ends by configuration and limit."""
    ends = {}
    for model in first_configurations(names):
        small = problem(model, n_samples=40, n_features=10, n_test=1)
        large = problem(model, n_samples=int(n_samples), n_features=10, n_test=1)
        for limit in map(float, limits.split(",")):
            end = outcome(lambda m=model, s=small, g=large, x=limit: refit(m, s, g, x))
            ends[f"{label(model)} with {limit} MB"] = end
    return ends


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(*sys.argv[1:])))
