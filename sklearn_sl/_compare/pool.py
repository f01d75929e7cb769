"""Run candidates in worker processes, under a time budget that holds.

A candidate cannot be trusted to end: it may loop, wait, or crash the
interpreter. So it runs in a process that can be killed and replaced. Whether a
candidate is stopped depends on the machine; what one scores that is not stopped
does not.
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
from sklearn_sl._compare.race import Result, run_fold

LEAST_ALLOWANCE = 0.2  # seconds; with less a candidate is not started
LARGE_SHARE = 0.1  # of the time left, that a candidate may take
TICK = 0.2  # seconds between two looks at the clock
NOT_RUN = "not run (time budget)"
STOPPED = "stopped (time budget)"
INTERRUPTED = "not run (interrupted)"


@dataclasses.dataclass
class Entry:
    """A candidate in the queue, and the folds that it has done."""

    dataset: int
    candidate: Candidate
    folds: list = dataclasses.field(default_factory=list)
    waits: bool = True  # it may be stopped now and have a second chance later


def serve(pipe):
    """Do what comes through the pipe; the life of a worker process.

    One thread each: data sets are small, and on a busy machine threads that wait
    for each other can make a fit a hundred times slower, which spoils the times.
    """
    silence()
    with threadpool_limits(1):
        pipe.send(None)  # ready
        datasets = pipe.recv()
        with contextlib.suppress(EOFError):
            while True:
                task, dataset, args, options = pipe.recv()
                pipe.send(task(datasets[dataset], *args, **options))


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
    """A process that does one task at a time."""

    def __init__(self, datasets):
        context = multiprocessing.get_context("spawn")  # a fork would inherit locked threads
        self.pipe, far_end = context.Pipe()
        self.datasets = datasets  # sent when it is ready: until then it could only block the pipe
        self.process = context.Process(target=serve, args=(far_end,), daemon=True)
        with ignoring_interrupts():
            self.process.start()
        far_end.close()
        self.ready, self.entry, self.deadline = False, None, np.inf

    def send(self, task, dataset, *args, **options):
        """Give the process a function ``task(dataset, *args, **options)`` to call."""
        self.pipe.send((task, dataset, args, options))

    def receive(self):
        """Return an answer if there is one; the first message only says "ready"."""
        message = self.pipe.recv()
        if not self.ready:
            self.pipe.send(self.datasets)
            self.ready = True
        return message

    def kill(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Assistant:
    """A worker that is asked for one thing after the other, until a moment ``end``.

    It may be one that a race has left, which has the data sets already.
    """

    def __init__(self, datasets, end, worker=None):
        self.datasets, self.end, self.worker = datasets, end, worker

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.worker is not None:
            self.worker.kill()

    def ask(self, task, dataset, *args, **options):
        """Return what a task returns; None if time or the process ends."""
        try:
            if self.worker is None:
                self.worker = Worker(self.datasets)
                self.worker.receive()  # ready
            self.worker.send(task, dataset, *args, **options)
            left = None if np.isinf(self.end) else max(0.0, self.end - monotonic())
            if self.worker.pipe.poll(left):
                return self.worker.receive()
        except (EOFError, OSError):
            pass
        self.worker.kill()
        self.worker = None
        return None


class Race:
    """All candidates, their results, and the clock; afterwards a ``spare`` worker, if one is left.

    Parameters
    ----------
    datasets : list of Dataset
    candidates : list of (dataset number, Candidate)
    metrics : list of tuples of Metric
        Those of each data set.
    cv, seed : int
        Number and randomness of the outer folds.
    jobs : int
        Candidates at the same time, on one core each.
    end : float
        The moment, on the clock ``monotonic``, at which everything stops.
    progress : object
        Its methods ``started(running, done, total)`` and ``finished(result, done, total)`` are
        called.
    known : dict
        Results of an earlier run, by data set number, library and name.
    """

    def __init__(
        self, datasets, candidates, metrics, *, cv, seed, jobs=1, end=np.inf, progress, known=None
    ):
        self.datasets, self.metrics, self.cv, self.seed = datasets, metrics, cv, seed
        self.end, self.progress = end, progress
        self.total, self.interrupted = len(candidates), False
        self.results, self.workers, self.spare = [], [], None
        self.queue, self.stopped = collections.deque(), collections.deque()
        for number, candidate in candidates:
            earlier = (known or {}).get((number, candidate.library, candidate.name))
            if earlier is None:
                self.queue.append(Entry(number, candidate))
            else:
                self.results.append(earlier)
        self.jobs = max(1, min(jobs, len(self.queue)))

    def run(self):
        """Return the results of all candidates, in the order in which they ended."""
        try:
            while len(self.results) < self.total:
                self.assign()
                running = [worker.entry.candidate for worker in self.workers if worker.entry]
                self.progress.started(running, len(self.results), self.total)
                self.listen()
        except KeyboardInterrupt:
            self.interrupted = True
            self.give_up(INTERRUPTED)
        finally:
            for worker in self.workers:
                idle = worker.ready and worker.entry is None
                if idle and self.spare is None and not self.interrupted:
                    self.spare = worker
                else:
                    worker.kill()
        return self.results

    def give_up(self, reason):
        """Record for all that have not ended why they have not."""
        under_way = [worker.entry for worker in self.workers if worker.entry]
        for entry in (*under_way, *self.stopped, *self.queue):
            self.finish(entry, reason, quietly=True)
        self.queue.clear()
        self.stopped.clear()

    def assign(self):
        """Give every idle worker an entry; drop the entries for which there is no time."""
        if not self.queue and self.stopped:
            self.queue, self.stopped = self.stopped, self.queue
        while self.queue and self.allowance() < LEAST_ALLOWANCE:
            entry = self.queue.popleft()
            self.finish(entry, STOPPED if entry.folds or not entry.waits else NOT_RUN)
        idle = sum(worker.entry is None for worker in self.workers)
        for _ in range(min(self.jobs - len(self.workers), len(self.queue) - idle)):
            self.workers.append(Worker(self.datasets))
        for worker in self.workers:
            if self.queue and worker.ready and worker.entry is None:
                worker.entry = self.queue.popleft()
                worker.deadline = min(monotonic() + self.allowance(), self.end)
                self.next_fold(worker)

    def allowance(self):
        """Return the time that the next candidate may take before others have their turn.

        An equal share of what is left would be too strict: most need less, and a worker that was
        stopped takes seconds to be replaced.
        """
        left = self.end - monotonic()
        return max(left * self.jobs / max(self.total - len(self.results), 1), LARGE_SHARE * left)

    def next_fold(self, worker):
        entry = worker.entry
        worker.send(
            run_fold,
            entry.dataset,
            entry.candidate,
            len(entry.folds),
            cv=self.cv,
            seed=self.seed,
            metrics=self.metrics[entry.dataset],
        )

    def listen(self):
        """Wait for a message, a death or a deadline, and act on it."""
        heard = connection.wait([worker.pipe for worker in self.workers], timeout=TICK)
        for worker in list(self.workers):
            if worker.pipe in heard:
                self.hear(worker, worker.entry)
            elif monotonic() > worker.deadline:
                self.stop(worker)

    def hear(self, worker, entry):
        try:
            answer = worker.receive()
        except (EOFError, OSError):
            self.replace(worker)
            if entry is None:
                raise RuntimeError("a worker process could not start") from None
            self.finish(entry, f"the process died (exit code {worker.process.exitcode})")
            return
        if answer is None:  # ready
            return
        if not isinstance(answer, str):
            entry.folds.append(answer)
            if len(entry.folds) < self.cv:
                self.next_fold(worker)
                return
        worker.entry, worker.deadline = None, np.inf
        self.finish(entry, answer if isinstance(answer, str) else "")

    def stop(self, worker):
        """Take a candidate from its worker; at first it may go on later, if there is time."""
        entry = worker.entry
        self.replace(worker)
        if entry.waits:
            entry.waits = False
            self.stopped.append(entry)
        else:
            self.finish(entry, STOPPED)

    def replace(self, worker):
        worker.kill()
        self.workers.remove(worker)

    def finish(self, entry, error="", quietly=False):
        """Record the result, or the error that stands for it."""
        dataset, metric = self.datasets[entry.dataset], self.metrics[entry.dataset][0].scorer
        result = Result.of(entry.candidate, dataset, metric, entry.folds, error)
        self.results.append(result)
        if not quietly:
            self.progress.finished(result, len(self.results), self.total)
