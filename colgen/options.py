"""The options of ``solve`` besides the method, and checks of a problem's parts, before any work (promise 8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from colgen.certificate.writing import check_replaceable
from colgen.checkpoint.file import Checkpoint
from colgen.core.errors import InputError
from colgen.core.files import Named, check_destination, check_distinct
from colgen.core.hooks import check_hooks
from colgen.core.numbers import integer, real
from colgen.core.pool import Pool
from colgen.core.result import Iteration, NodeVisit, Result, RunListener
from colgen.core.stop import AnyOf, StopRule, TimeLimit
from colgen.core.text import FORGOTTEN, Described, describe
from colgen.core.warm_start import WarmStart
from colgen.method import Method, check_list
from colgen.parallel.clusters import check_client

_Part = TypeVar("_Part")

Start: TypeAlias = Result | WarmStart | Pool | Path | str | None
"""Start of a run: another run's result or pool, a pool's file, or guesses."""

_STARTS = (Result, WarmStart, Pool, Path, str)


def check_flags(**flags: object) -> None:
    """Raise InputError for a flag that is neither True nor False."""
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(f"{name}: expected True or False, not {describe(value)}")


@dataclass(frozen=True, kw_only=True, repr=False)
class Record(Described):
    """What to keep of a run.

    Attributes
    ----------
    duals
        Keep each round's dual values in ``result.iterations``.
    values
        Also keep the restricted master's solution of each round of column generation.
    on_node
        Called after each node of the tree with its outcome, the best answer so far and the bounds.
    certificate
        Write a proof to this file for ``colgen check`` (compressed if its name ends in ``.gz``). If exact arithmetic
        does not confirm a claim of the run, the result is optimal *within tolerance*.

    Examples
    --------
    >>> result = solve(problem, record=Record(duals=True))
    >>> len(result.iterations[-1].duals["demand"])
    4
    """

    duals: bool = False
    values: bool = False
    on_node: Callable[[NodeVisit], object] | None = None
    certificate: Path | str | None = None

    def __post_init__(self) -> None:
        check_flags(duals=self.duals, values=self.values)
        if self.on_node is not None and (not callable(self.on_node) or isinstance(self.on_node, type)):
            raise InputError(f"on_node: expected a function of a NodeVisit, not {describe(self.on_node)}")
        if self.certificate is not None:
            check_destination(self.certificate, "certificate")


@dataclass(frozen=True, kw_only=True, repr=False)
class Parallel(Described):
    """How a run uses threads, processes and clusters.

    Attributes
    ----------
    workers
        Number of threads for the pricing problems of a round, or of processes of a cluster on this machine. The result
        does not depend on it. Oracles that modify shared data need 1.
    node_batch
        Evaluate this many open nodes at once, each with a copy of the problem: its own restricted master and oracles.
        The tree differs from that of ``node_batch=1``, but is the same for any number of workers. Stop rules other than
        limits of time and memory are evaluated between batches.
    cluster
        Search the tree on a cluster: a ``distributed.Client`` of Dask, a scheduler's address
        (``"tcp://host:8786"``), ``"local"`` for Dask on this machine, ``"processes"`` for processes without Dask, or
        any :class:`~colgen.parallel.clusters.Cluster`. The root is solved here, then subtrees are sent out,
        ``node_batch`` at once (16). The tree differs from that of one process, but is the same for any number of
        workers, even if some are lost. The problem and columns are sent by ``pickle``; a script must call ``solve``
        below ``if __name__ == "__main__":``.
    free_running
        On a cluster no subtree waits for another. This is faster, but runs are not reproducible.

    Raises
    ------
    InputError
        If a field is invalid; the message names it.

    Examples
    --------
    >>> solve(problem, parallel=Parallel(workers=2)).objective
    453.0
    """

    workers: int | None = None
    node_batch: int = 1
    cluster: Any = None
    free_running: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            integer(self.workers, "workers", low=1)
        integer(self.node_batch, "node_batch", low=1)
        check_flags(free_running=self.free_running)
        if self.cluster is not None:
            check_client(self.cluster)
        elif self.free_running:
            raise InputError("free_running: it needs a cluster: set Parallel(cluster=...) as well")


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options of one run, checked one by one and together; InputError names the option and what was expected."""

    stop: StopRule | Sequence[StopRule] = ()
    time_limit: float = math.inf
    start: Start = None
    relaxation: bool = False
    progress: bool | Callable[[Iteration], None] = False
    method: Method = Method()
    record: Record = Record()
    parallel: Parallel = Parallel()
    checkpoint: Checkpoint | Path | str | None = None

    def __post_init__(self) -> None:
        _check_rules(self.stop)
        if self.time_limit != math.inf:
            real(self.time_limit, "time_limit", finite=False)
        if self.start is not None and (self.start == "" or not isinstance(self.start, _STARTS)):
            raise InputError(
                "start: expected a result, a WarmStart, a pool or the file of a pool, not " + describe(self.start)
            )
        check_flags(relaxation=self.relaxation)
        progress = self.progress
        if not isinstance(progress, (bool, np.bool_)) and (not callable(progress) or isinstance(progress, type)):
            raise InputError(f"progress: expected True, False or a function of an Iteration, not {describe(progress)}")
        for name, kind in (("method", Method), ("record", Record), ("parallel", Parallel)):
            if not isinstance(getattr(self, name), kind):
                value = describe(getattr(self, name))
                raise InputError(f"{name}: expected a {kind.__name__}, such as {kind.__name__}(), not {value}")
        if self.checkpoint is not None and not isinstance(self.checkpoint, Checkpoint):
            object.__setattr__(self, "checkpoint", Checkpoint(self.checkpoint))
        self._check_together()

    def _check_together(self) -> None:
        if self.record.certificate is not None:
            if self.relaxation:
                raise InputError("certificate: it proves answers, so it cannot be combined with relaxation=True")
            if self.checkpoint is not None:
                raise InputError("certificate: not available with checkpoint, since a resumed run lacks earlier proofs")
            if self.parallel.node_batch != 1:
                raise InputError("certificate: not available with node_batch > 1")
        if self.parallel.cluster is not None:
            for name, value in (
                ("certificate", self.record.certificate),
                ("a DepthLimit", self.rule.depth),
                ("relaxation", self.relaxation or None),
            ):
                if value is not None:
                    raise InputError(f"cluster: not available with {name}")

    @property
    def rule(self) -> AnyOf:
        """All stop rules as one, including the time limit."""
        rules = [self.stop] if callable(self.stop) else list(self.stop)
        return AnyOf(*rules, *([TimeLimit(self.time_limit)] if self.time_limit < math.inf else []))

    @property
    def on_node(self) -> Callable[[NodeVisit], object] | None:
        """What is called after each node: the function of ``record``, and a listener of the run."""
        given = self.record.on_node
        if not isinstance(self.progress, RunListener):
            return given
        log = self.progress.on_node
        return log if given is None else lambda visit: (log(visit), given(visit))

    @property
    def saving(self) -> Checkpoint | None:
        """Where checkpoints are written, or None."""
        return cast("Checkpoint | None", self.checkpoint)

    @property
    def pool(self) -> Pool | Path | str | None:
        """The pool to start from or its file, or None."""
        return self.start if isinstance(self.start, (Pool, Path, str)) else None

    @property
    def guess(self) -> Result | WarmStart | None:
        """The result or guesses to start from, or None."""
        return self.start if isinstance(self.start, (Result, WarmStart)) else None

    def check_files(self) -> None:
        """Raise if a run would write a file twice or overwrite a file that it reads."""
        checkpoint = None if self.saving is None else self.saving.path
        named = (
            ("certificate", self.record.certificate),
            ("checkpoint", checkpoint),
            ("progress", getattr(self.progress, "path", None)),
        )
        written: list[Named] = [(name, path) for name, path in named if isinstance(path, (str, Path))]
        if checkpoint is not None:
            written.append(("the previous checkpoint,", f"{checkpoint}~"))
        check_distinct(written, [("start", self.pool)] if isinstance(self.pool, (str, Path)) else [])
        if isinstance(self.record.certificate, (str, Path)):
            check_replaceable(self.record.certificate)


def _check_rules(stop: Any) -> None:
    if isinstance(stop, (int, float)) and not isinstance(stop, bool):
        raise InputError(
            f"stop: expected a stop rule or several, not {describe(stop)}: use time_limit={stop} for seconds"
        )
    for rule in (stop,) if callable(stop) else check_list(stop, "stop: expected a stop rule or several"):
        if not callable(rule) or isinstance(rule, type):
            raise InputError(f"stop: expected stop rules, such as TimeLimit(60), not {describe(rule)}")


def check_stated(problem: Any) -> None:
    """Raise InputError for invalid numbers that a problem declares, and for misspelt methods of its class."""
    check_hooks(problem)
    for name in ("objective_step", "scale"):
        stated(problem, name)


def stated(problem: Any, name: str) -> float | None:
    """Return a number that a problem declares, or None; raise InputError if it is not positive.

    It is checked at each call, because methods may change it.
    """
    value = getattr(problem, name)
    if value is None or _is_positive(value):
        return cast("float | None", value)
    name = f"{type(problem).__name__}.{name}"
    number = real(value, f"{name} (None if unknown)", low=-math.inf)
    if not number > 0.0:
        raise InputError(f"{name}: expected a number above 0, or None if unknown, not {value}")
    return number


def _is_positive(value: Any) -> bool:
    """Whether a value is a positive float: a fast path for the usual case."""
    return isinstance(value, float) and 0.0 < value < math.inf


def parts_of(value: _Part | Iterable[_Part], kind: type, problem: object, method: str) -> tuple[_Part, ...]:
    """Return the result of a problem's method, one object of a class or several, as a tuple.

    InputError names the method and what was expected.
    """
    if type(value) is tuple and all(isinstance(part, kind) for part in value):
        for part in value:
            _check_part(part)
        return value
    if isinstance(value, kind):
        _check_part(value)
        return (cast(_Part, value),)
    name = f"{type(problem).__name__}.{method}()"
    if value is None:
        raise InputError(f"{name} returned None: {FORGOTTEN} Expected a {kind.__name__} or several, or () for none")
    if isinstance(value, type) or not isinstance(value, Iterable):
        raise InputError(f"{name}: expected a {kind.__name__} or several, not {describe(value)}")
    several = tuple(value)
    for part in several:
        if not isinstance(part, kind):
            raise InputError(f"{name}: expected objects of subclasses of {kind.__name__}, not {describe(part)}")
        _check_part(part)
    return several


def _check_part(part: Any) -> None:
    """Raise for a part of a problem with misspelt methods or invalid numbers."""
    check_hooks(part)
    kind: Any = type(part)
    for name in _counts_of(kind):
        value = getattr(part, name)
        if value is not None:
            integer(value, f"{kind.__name__}.{name}")


@lru_cache(maxsize=1000)
def _counts_of(kind: type) -> tuple[str, ...]:
    """Return the integer attributes of a part, if a class of colgen defines them."""
    own = [each for each in kind.__mro__ if each.__module__.startswith("colgen.")]
    return tuple(name for name in ("every", "limit") if any(name in vars(each) for each in own))


def part_of(value: _Part | None, kind: type, problem: object, method: str) -> _Part:
    """Return the result of a problem's method if it is an object of a class; InputError names the method otherwise."""
    if isinstance(value, kind):
        _check_part(value)
        return cast(_Part, value)
    name = f"{type(problem).__name__}.{method}()"
    why = f": {FORGOTTEN} Expected" if value is None else ", expected"
    raise InputError(f"{name} returned {describe(value)}{why} a {kind.__name__}")
