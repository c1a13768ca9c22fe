"""A scripted cluster: the test decides which worker ends when, and which task finishes first."""

import pickle

import numpy as np

from colgen.parallel.clusters import StillPending


class WorkerLostError(Exception):
    """A worker is gone."""


class Future:
    def __init__(self, piece):
        self.piece, self.outcome, self.error = piece, None, None

    def result(self):
        if self.error is not None:
            raise self.error
        return self.outcome


class Scripted:
    """Runs a random task at each call of ``as_completed``.

    ``deaths`` counts how often a piece ends its worker before it is done, ``forgotten`` how often its result is lost
    afterwards.
    """

    def __init__(self, seed=0, count=2, isolates=True, deaths=None, never=(), forgotten=None):
        self.rng = np.random.default_rng(seed)
        self.count, self.isolates = count, isolates
        self.deaths, self.never = dict(deaths or {}), list(never)
        self.forgotten = dict(forgotten or {})
        self.queue, self.cancelled, self.most, self.begun = [], [], 0, []

    def submit(self, work, piece):
        future = Future(piece)
        future.work = work
        self.queue.append((future, work))
        self.most = max(self.most, len(self.queue))
        return future

    def as_completed(self, tasks, seconds):
        running = [k for k, (future, _) in enumerate(self.queue[: self.count]) if future.piece not in self.never]
        if not running:
            return []
        future, work = self.queue.pop(running[self.rng.integers(len(running))])
        self.begun.append(future.piece)
        if self.deaths and self.deaths.get(future.piece, 0) > 0:
            self.deaths[future.piece] -= 1
            gone = [future]
            if not self.isolates:
                gone += [other for other, _ in self.queue]
                self.queue.clear()
            for each in gone:
                each.error = WorkerLostError()
            return gone
        try:
            future.outcome = work(future.piece)
        except Exception as error:
            future.error = error
        return [future]

    def result(self, task):
        if self.forgotten and self.forgotten.get(task.piece, 0) > 0:
            self.forgotten[task.piece] -= 1
            self.queue.append((task, task.work))
            raise StillPending
        return task.result()

    def cancel(self, tasks):
        self.cancelled += [task.piece for task in tasks]
        self.queue = [entry for entry in self.queue if entry[0] not in tasks]

    def is_lost(self, error):
        return isinstance(error, WorkerLostError)

    def close(self):
        self.closed = True


class Travelling(Scripted):
    """A scripted cluster that pickles tasks and results."""

    def submit(self, work, piece):
        return super().submit(lambda sent: pickle.loads(pickle.dumps(work(pickle.loads(sent)))), pickle.dumps(piece))
