"""How fast the machine is that the tests run on."""

import time

# Ctrl-C is to be answered within 0.2 s on a quiet machine. Tests on shared ones, whose memory and
# cores others use too, allow for a busy moment.
ANSWER_SECONDS = 0.5


def slowness():
    """Return by how much this machine is slower now than one that adds a million in 50 ms.

    Promises about seconds are made for such a machine, which is nothing special; shared ones may
    be slower for a while.
    """
    start, total = time.perf_counter(), 0
    for number in range(1_000_000):
        total += number
    return min(max((time.perf_counter() - start) / 0.05, 1.0), 5.0)
