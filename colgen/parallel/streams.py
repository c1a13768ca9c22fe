"""Streams of pieces of work on a cluster: results in order, retries, and the pieces that end their workers."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from colgen.core.text import plural
from colgen.parallel.clusters import Cluster, StillPending, Task

_AHEAD = 4
"""Pieces under way per worker, so that no worker waits for its next piece."""

_MAX_WAIT = 1.0
"""Seconds between two checks for pieces that take too long."""


@dataclass(frozen=True)
class PieceResult:
    """The result of one piece: an ``outcome``, an ``error`` that the work raised, or the ``fault`` that prevented both.

    ``attempts`` counts how often the piece was sent.
    """

    number: int
    outcome: Any = None
    error: Exception | None = None
    fault: str = ""
    attempts: int = 1


@dataclass
class _Piece:
    """A piece that was sent to the workers and has no result yet.

    ``losses`` counts workers lost while this was their only piece. ``since`` is the time from which a worker must be
    working on it, because fewer earlier pieces than workers are left.
    """

    number: int
    piece: Any
    attempts: int = 0
    losses: int = 0
    since: float | None = None


@dataclass
class Stream:
    """Sends pieces to a cluster and collects their results.

    A piece is sent again if its worker is lost. If the loss of one worker affects pieces of others, these are then
    sent one at a time, to find the piece that causes the loss.

    Parameters
    ----------
    work
        Called with a piece, possibly more than once.
    retries
        A piece is given up after ``retries + 1`` losses of its worker.
    patience
        A piece is given up after a worker has had it for this many seconds.
    ahead
        Maximum number of pieces that are under way or finished out of order. By default 4 per worker.
    tell
        Called after each check with the numbers of finished pieces and of pieces under way.
    """

    cluster: Cluster
    work: Callable[[Any], Any]
    retries: int = 2
    patience: float = math.inf
    ahead: int | None = None
    tell: Callable[[int, int], object] = lambda ended, under_way: None
    _sent: dict[Task, _Piece] = field(default_factory=dict, init=False)
    _suspects: deque[_Piece] = field(default_factory=deque, init=False)
    _ended: dict[int, PieceResult] = field(default_factory=dict, init=False)

    def over(self, pieces: Iterable[Any]) -> Iterator[PieceResult]:
        """Yield the results of pieces in order. Pending pieces are cancelled if the caller stops iterating."""
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
                self._collect()
                self.tell(delivered + len(self._ended), len(self._sent) + len(self._suspects))
                while delivered in self._ended:
                    yield self._ended.pop(delivered)
                    delivered += 1
                if is_last and not self._sent and not self._suspects and not self._ended:
                    return
        finally:
            self.close()

    def send(self, number: int, piece: Any) -> None:
        """Send one piece; :meth:`some` returns its result."""
        if self._suspects:
            self._suspects.append(_Piece(number, piece))
        else:
            self._send(_Piece(number, piece))

    def some(self) -> list[PieceResult]:
        """Return results of sent pieces, by number, after about a second at most; possibly none."""
        if self._suspects and not self._sent:
            self._send(self._suspects.popleft())
        self._collect()
        return [self._ended.pop(number) for number in sorted(self._ended)]

    def close(self) -> None:
        """Cancel all pieces under way."""
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

    def _collect(self) -> None:
        """Wait until a piece has finished, or until it is time to check for pieces that take too long."""
        if not self._sent:
            return
        is_to_blame = self.cluster.isolates or len(self._sent) == 1
        for task in list(self.cluster.as_completed(list(self._sent), min(_MAX_WAIT, self.patience))):
            self._store(task, self._sent.pop(task), is_to_blame)
        if self.patience < math.inf:
            self._give_up_slow_pieces()

    def _store(self, task: Task, piece: _Piece, is_to_blame: bool) -> None:
        try:
            outcome = self.cluster.result(task)
        except StillPending:
            self._sent[task] = piece
        except Exception as error:
            if not self.cluster.is_lost(error):
                self._ended[piece.number] = PieceResult(piece.number, error=error, attempts=piece.attempts)
            else:
                self._retry(piece, is_to_blame)
        except BaseException as error:  # Dask's CancelledError
            if not self.cluster.is_lost(error):
                raise
            self._retry(piece, is_to_blame)
        else:
            self._ended[piece.number] = PieceResult(piece.number, outcome, attempts=piece.attempts)

    def _retry(self, piece: _Piece, is_to_blame: bool) -> None:
        """Send a piece again whose worker was lost, or give it up."""
        piece.losses += is_to_blame
        if piece.losses > self.retries:
            fault = f"its worker was lost {plural(piece.losses, 'time')}"
            self._ended[piece.number] = PieceResult(piece.number, fault=fault, attempts=piece.attempts)
        elif self.cluster.isolates:
            self._send(piece)
        else:
            self._suspects.append(piece)

    def _give_up_slow_pieces(self) -> None:
        """Give up pieces over their time limit. The first ``count`` pieces sent are the ones being worked on."""
        now = time.monotonic()
        for place, (task, piece) in enumerate(list(self._sent.items())):
            if place >= max(self.cluster.count, 1):
                return
            piece.since = now if piece.since is None else piece.since
            if now - piece.since > self.patience:
                del self._sent[task]
                self.cluster.cancel([task])
                fault = f"there was no result after {self.patience:g} s"
                self._ended[piece.number] = PieceResult(piece.number, fault=fault, attempts=piece.attempts)
