"""Pieces of work on a cluster: what they bring comes back in their order, and what ends a worker is found and named."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from colgen.parallel.clusters import Cluster, StillPending, Task

_AHEAD = 4
"""So many pieces a worker are under way, so that none waits for the next one."""

_LONGEST = 1.0
"""Seconds between two looks at what takes too long."""


@dataclass(frozen=True)
class Done:
    """What became of a piece.

    Attributes
    ----------
    number
        Of the piece, from 0.
    outcome
        What the work has brought; None where it has not.
    error
        What the work has raised.
    fault
        Why there is neither: what is wrong with the piece, in a sentence.
    attempts
        How often it was sent.
    """

    number: int
    outcome: Any = None
    error: Exception | None = None
    fault: str = ""
    attempts: int = 1


@dataclass
class _Piece:
    """A piece under way.

    ``losses``: how often a worker was lost with it that had nothing else to do.
    ``since``: when every piece before it had ended but for as many as there are workers, so that somebody is at it.
    """

    number: int
    piece: Any
    attempts: int = 0
    losses: int = 0
    since: float | None = None


@dataclass
class Stream:
    """Sends pieces and takes in what they bring.

    A piece is sent again when its worker is lost with it, ``retries`` times.  Where a worker takes others' pieces with
    it, those are sent one at a time, so that none is blamed for what another one did.

    Parameters
    ----------
    cluster
        Who works.
    work
        Is given a piece; it may be done twice.
    retries
        A piece is given up that has been lost once more than this.
    patience
        A piece is given up that a worker has been at for so many seconds.
    ahead
        Pieces that are under way or have come back too early, at most; by default four a worker.
    tell
        Called after each look at the cluster with the numbers of pieces that have ended, and that are under way.
    """

    cluster: Cluster
    work: Callable[[Any], Any]
    retries: int = 2
    patience: float = math.inf
    ahead: int | None = None
    tell: Callable[[int, int], object] = lambda ended, under_way: None
    _sent: dict[Task, _Piece] = field(default_factory=dict, init=False)
    _suspects: deque[_Piece] = field(default_factory=deque, init=False)
    _ended: dict[int, Done] = field(default_factory=dict, init=False)

    def over(self, pieces: Iterable[Any]) -> Iterator[Done]:
        """What becomes of pieces, in their order, each as soon as those before it have ended.

        If the caller stops listening, what is under way is called off.
        """
        waiting = map(_Piece, itertools.count(), pieces)
        delivered, is_last = 0, False
        try:
            while True:
                while not is_last and not self._suspects and self._has_room():
                    piece = next(waiting, None)
                    if piece is None:
                        is_last = True
                    else:
                        self._send(piece)
                if self._suspects and not self._sent:
                    self._send(self._suspects.popleft())
                self._look()
                self.tell(delivered + len(self._ended), len(self._sent) + len(self._suspects))
                while delivered in self._ended:
                    yield self._ended.pop(delivered)
                    delivered += 1
                if is_last and not self._sent and not self._suspects and not self._ended:
                    return
        finally:
            self.close()

    def send(self, number: int, piece: Any) -> None:
        """Send one piece, for whoever asks for them by :meth:`some`."""
        if self._suspects:
            self._suspects.append(_Piece(number, piece))
        else:
            self._send(_Piece(number, piece))

    def some(self) -> list[Done]:
        """What has become of pieces that were sent, in the order of their numbers, within a second or so.

        There may be none of them by then.
        """
        if self._suspects and not self._sent:
            self._send(self._suspects.popleft())
        self._look()
        return [self._ended.pop(number) for number in sorted(self._ended)]

    def close(self) -> None:
        """Call off what is under way."""
        if self._sent:
            self.cluster.cancel(list(self._sent))
        self._sent.clear()
        self._suspects.clear()

    def _has_room(self) -> bool:
        ahead = self.ahead or _AHEAD * max(self.cluster.count, 1)
        return len(self._sent) + len(self._ended) < ahead

    def _send(self, piece: _Piece) -> None:
        piece.attempts += 1
        piece.since = None
        self._sent[self.cluster.submit(self.work, piece.piece)] = piece

    def _look(self) -> None:
        """Wait until a piece has ended, or until it is time to look after one that takes too long."""
        if not self._sent:
            return
        is_to_blame = self.cluster.isolates or len(self._sent) == 1
        for task in list(self.cluster.as_completed(list(self._sent), min(_LONGEST, self.patience))):
            self._take(task, self._sent.pop(task), is_to_blame)
        if self.patience < math.inf:
            self._lose_patience()

    def _take(self, task: Task, piece: _Piece, is_to_blame: bool) -> None:
        try:
            outcome = self.cluster.result(task)
        except StillPending:
            self._sent[task] = piece
        except Exception as error:
            if not self.cluster.is_lost(error):
                self._ended[piece.number] = Done(piece.number, error=error, attempts=piece.attempts)
            else:
                self._again(piece, is_to_blame)
        except BaseException as error:  # Dask's own of a task that was called off
            if not self.cluster.is_lost(error):
                raise
            self._again(piece, is_to_blame)
        else:
            self._ended[piece.number] = Done(piece.number, outcome, attempts=piece.attempts)

    def _again(self, piece: _Piece, is_to_blame: bool) -> None:
        """What becomes of a piece that was lost with its worker."""
        piece.losses += is_to_blame
        if piece.losses > self.retries:
            fault = f"its worker was lost {piece.losses} times"
            self._ended[piece.number] = Done(piece.number, fault=fault, attempts=piece.attempts)
        elif self.cluster.isolates:
            self._send(piece)
        else:
            self._suspects.append(piece)

    def _lose_patience(self) -> None:
        """Give up what a worker has been at for too long: in the order in which it was sent, that many are at work."""
        now = time.monotonic()
        for place, (task, piece) in enumerate(list(self._sent.items())):
            if place >= max(self.cluster.count, 1):
                return
            piece.since = now if piece.since is None else piece.since
            if now - piece.since > self.patience:
                del self._sent[task]
                self.cluster.cancel([task])
                fault = f"there was no word of it for {self.patience:g} s"
                self._ended[piece.number] = Done(piece.number, fault=fault, attempts=piece.attempts)
