"""Run candidates in worker processes, under a time budget that holds.

A candidate cannot be trusted to end: it may loop, wait, or crash the
interpreter. So it runs in a process that can be killed and replaced.
"""

import collections
import contextlib
import dataclasses
import multiprocessing
import os
import signal
from multiprocessing import connection
from time import monotonic

import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_sl._compare.candidates import Candidate
from sklearn_sl._compare.race import EVERYTHING, Result, evaluate

LEAST_ALLOWANCE = 0.2  # seconds; with less a candidate is not started
PATIENCE = 1.5  # a candidate is killed after so many times its allowance
TICK = 0.2  # seconds between two looks at the clock
NOT_RUN = "not run (time budget)"
STOPPED = "stopped (time budget)"


@dataclasses.dataclass
class Entry:
    """A candidate in the queue; its rival follows it, with the same work to do."""

    dataset: int
    candidate: Candidate
    rival: Candidate | None = None
    ceiling: tuple = EVERYTHING


def serve(pipe, datasets):
    """Evaluate what comes through the pipe; the life of a worker process.

    One thread each: data sets are small, and on a busy machine threads that wait
    for each other can make a fit a hundred times slower, which spoils the times.
    """
    silence()
    with threadpool_limits(1):
        pipe.send(None)  # ready
        with contextlib.suppress(EOFError):
            while True:
                entry, options = pipe.recv()
                pipe.send(evaluate(entry.candidate, datasets[entry.dataset], **options))


def silence():
    """Send to nowhere what estimators print, compiled code included."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


@contextlib.contextmanager
def ignoring_interrupts():
    """Let processes that are started here leave Ctrl-C to their parent."""
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


class Worker:
    """A process that evaluates one entry at a time."""

    def __init__(self, datasets):
        context = multiprocessing.get_context("spawn")  # a fork would inherit locked threads
        self.pipe, far_end = context.Pipe()
        self.process = context.Process(target=serve, args=(far_end, datasets), daemon=True)
        with ignoring_interrupts():
            self.process.start()
        far_end.close()
        self.ready, self.entry, self.deadline = False, None, np.inf

    def start(self, entry, options, deadline):
        self.pipe.send((entry, options))
        self.entry, self.deadline = entry, deadline

    def receive(self):
        """Return a result if there is one; the first message only says "ready"."""
        message = self.pipe.recv()
        if not self.ready:
            self.ready = True
        else:
            self.entry, self.deadline = None, np.inf
        return message

    def kill(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Race:
    """All contests, their results, and the clock.

    Parameters
    ----------
    datasets : list of Dataset
    contests : list of (dataset number, Candidate, rival Candidate or None)
    options : dict
        ``cv`` and ``seed`` of `evaluate`.
    jobs : int
        Candidates at the same time, on one core each.
    end : float
        The moment, on the clock ``monotonic``, at which everything stops.
    progress : callable
        Called as ``progress(done, total, names running)``.
    """

    def __init__(self, datasets, contests, options, *, jobs, end, progress):
        self.datasets, self.options, self.end, self.progress = datasets, options, end, progress
        self.queue = collections.deque(Entry(*contest) for contest in contests)
        self.total = sum(1 + (entry.rival is not None) for entry in self.queue)
        self.jobs = max(1, min(jobs, len(self.queue)))
        self.results, self.workers = [], []

    def run(self):
        """Return the results of all candidates, in the order in which they ended."""
        try:
            while len(self.results) < self.total:
                self.assign()
                running = [worker.entry.candidate.name for worker in self.workers if worker.entry]
                self.progress(len(self.results), self.total, running)
                self.listen()
        finally:
            for worker in self.workers:
                worker.kill()
            self.progress(self.total, self.total, [])
        return self.results

    def assign(self):
        """Give every idle worker an entry; drop the entries for which there is no time."""
        while self.queue and self.allowance() < LEAST_ALLOWANCE:
            self.finish(self.queue.popleft(), NOT_RUN)
        while len(self.workers) < min(self.jobs, len(self.queue)):
            self.workers.append(Worker(self.datasets))
        for worker in self.workers:
            if self.queue and worker.ready and worker.entry is None:
                self.start(worker, self.queue.popleft())

    def allowance(self):
        """Return the equal share of the time left for each candidate not yet done."""
        return (self.end - monotonic()) * self.jobs / (self.total - len(self.results))

    def start(self, worker, entry):
        allowance = self.allowance()
        options = {**self.options, "allowance": allowance, "ceiling": entry.ceiling}
        worker.start(entry, options, min(monotonic() + PATIENCE * allowance, self.end))

    def listen(self):
        """Wait for a message, a death or a deadline, and act on it."""
        heard = connection.wait([worker.pipe for worker in self.workers], timeout=TICK)
        for worker in list(self.workers):
            entry = worker.entry
            if worker.pipe in heard:
                self.hear(worker, entry)
            elif monotonic() > worker.deadline:
                self.replace(worker)
                self.finish(entry, STOPPED)

    def hear(self, worker, entry):
        try:
            result = worker.receive()
        except (EOFError, OSError):
            self.replace(worker)
            if entry is None:
                raise RuntimeError("a worker process could not start") from None
            self.finish(entry, f"the process died (exit code {worker.process.exitcode})")
        else:
            if result is not None:
                self.finish(entry, result)

    def replace(self, worker):
        worker.kill()
        self.workers.remove(worker)

    def finish(self, entry, result):
        """Record a result, or the error that stands for it, and let the rival follow."""
        if isinstance(result, str):
            result = Result.of(entry.candidate, self.datasets[entry.dataset], result)
        self.results.append(result)
        if entry.rival is not None:
            ceiling = EVERYTHING
            if not result.error:
                points = np.inf if result.tunes_itself else result.points
                ceiling = (result.rows, points)
            self.queue.appendleft(Entry(entry.dataset, entry.rival, ceiling=ceiling))
