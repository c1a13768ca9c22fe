"""The options of ``solve`` besides the method: objects that validate themselves; and checks of a problem's parts."""

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
from colgen.core.numbers import real, whole
from colgen.core.pool import Pool
from colgen.core.result import Iteration, NodeVisit, Result
from colgen.core.stop import AnyOf, StopRule, TimeLimit
from colgen.core.text import FORGOTTEN, describe
from colgen.core.warm_start import WarmStart
from colgen.method import Method, listed
from colgen.parallel.clusters import check_client

_Part = TypeVar("_Part")

Start: TypeAlias = Result | WarmStart | Pool | Path | str | None
"""What a run starts from: another run's result or pool, a pool's file, or guesses."""

_STARTS = (Result, WarmStart, Pool, Path, str)


def check_flags(**flags: object) -> None:
    """Refuse flags that are neither True nor False.

    Raises
    ------
    InputError
        Naming the flag.
    """
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(f"{name}: expected True or False, not {describe(value)}")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What is kept of a run.

    Attributes
    ----------
    duals
        Keep each round's dual values in ``result.iterations``.
    values
        Keep there the restricted master's solution of each round of column generation as well.
    on_node
        Called after each node of the tree, with its outcome, the best answer so far and the bounds.
    certificate
        Write what is proved to this file (compressed if its name ends in ``.gz``), for ``colgen check``.  Where exact
        arithmetic does not confirm a claim of the run, the result is optimal *within tolerance*.

    Raises
    ------
    InputError
        If a field is out of its domain; the message names it.
    """

    duals: bool = False
    values: bool = False
    on_node: Callable[[NodeVisit], object] | None = None
    certificate: Path | str | None = None

    def __post_init__(self) -> None:
        check_flags(duals=self.duals, values=self.values)
        if self.on_node is not None and (not callable(self.on_node) or isinstance(self.on_node, type)):
            raise InputError(f"on_node: expected a function of a node's visit, not {describe(self.on_node)}")
        if self.certificate is not None:
            check_destination(self.certificate, "certificate")


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """Who works on a run.

    Attributes
    ----------
    workers
        So many threads work on the pricing problems of a round, or so many processes on a cluster of this machine.  The
        result is the same for any number of them.  Oracles that share data which they change are not for more than one.
    node_batch
        Evaluate so many open nodes of the tree at once, each over a restricted master and oracles of its own (of a copy
        of the problem).  The tree is another than that of 1, but the same for any number of workers; stop rules
        other than limits of time and memory are asked between batches.
    cluster
        Search the tree on a cluster: a ``distributed.Client`` of Dask, a scheduler's address
        (``"tcp://host:8786"``), ``"local"`` for Dask on this machine, ``"processes"`` for processes without it, or any
        :class:`~colgen.parallel.clusters.Cluster`.  The root is solved here, then subtrees are sent out, ``node_batch``
        of them at once (16).  The tree is another than that of one process, but the same for any number of workers,
        whichever of them are lost.  The problem travels by ``pickle``, and so do columns; a script calls ``solve``
        below ``if __name__ == "__main__":``.
    free_running
        On a cluster no subtree waits for another: faster, and no two runs have the same tree.

    Raises
    ------
    InputError
        If a field is out of its domain; the message names it.
    """

    workers: int | None = None
    node_batch: int = 1
    cluster: Any = None
    free_running: bool = False

    def __post_init__(self) -> None:
        if self.workers is not None:
            whole(self.workers, "workers", low=1)
        whole(self.node_batch, "node_batch", low=1)
        check_flags(free_running=self.free_running)
        if self.cluster is not None:
            check_client(self.cluster)
        elif self.free_running:
            raise InputError("free_running: it concerns the workers of a cluster: name a cluster")


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options of one run, checked one by one and together.

    Raises
    ------
    InputError
        Naming the option and what was expected.
    """

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
            raise InputError(f"progress: expected True, False or a function of a round, not {describe(progress)}")
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
                raise InputError("certificate: it proves answers: leave relaxation out")
            if self.checkpoint is not None:
                raise InputError("certificate: a resumed run has not seen the earlier proofs: leave checkpoint out")
            if self.parallel.node_batch != 1:
                raise InputError("certificate: nodes must be evaluated one by one: leave node_batch out")
        if self.parallel.cluster is not None:
            for name, value in (
                ("certificate", self.record.certificate),
                ("a DepthLimit", self.rule.depth),
                ("relaxation", self.relaxation or None),
            ):
                if value is not None:
                    raise InputError(f"cluster: a tree is searched on a cluster without {name}: leave one of them out")

    @property
    def rule(self) -> AnyOf:
        """All stop rules as one, the time limit among them."""
        rules = [self.stop] if callable(self.stop) else list(self.stop)
        return AnyOf(*rules, *([TimeLimit(self.time_limit)] if self.time_limit < math.inf else []))

    @property
    def saving(self) -> Checkpoint | None:
        """Where checkpoints are written; None for nowhere."""
        return cast("Checkpoint | None", self.checkpoint)

    @property
    def pool(self) -> Pool | Path | str | None:
        """The pool to start from, or its file; None without one."""
        return self.start if isinstance(self.start, (Pool, Path, str)) else None

    @property
    def guess(self) -> Result | WarmStart | None:
        """The result or guesses to start from; None without them."""
        return self.start if isinstance(self.start, (Result, WarmStart)) else None

    def check_files(self) -> None:
        """Refuse that a run writes two files of one name, or over a file that it reads."""
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
            f"stop: expected a stop rule or several, not {describe(stop)}: time_limit={stop} if seconds are meant"
        )
    for rule in (stop,) if callable(stop) else listed(stop, "stop: expected a stop rule or several"):
        if not callable(rule) or isinstance(rule, type):
            raise InputError(f"stop: expected stop rules, such as TimeLimit(60), not {describe(rule)}")


def check_stated(problem: Any) -> None:
    """Refuse what a problem states of its objectives where it is out of its domain, and misspelt methods of its class.

    Raises
    ------
    InputError
        Naming the attribute, its value, and what was expected; or the method, and the one that is meant.
    """
    check_hooks(problem)
    for name in ("objective_step", "scale"):
        stated(problem, name)


def stated(problem: Any, name: str) -> float | None:
    """Return what a problem states of its objectives in an attribute, checked each time: its methods may change it.

    Raises
    ------
    InputError
        Naming the attribute, its value, and what was expected.
    """
    value = getattr(problem, name)
    if value is None or _is_positive(value):
        return cast("float | None", value)
    name = f"{type(problem).__name__}.{name}"
    number = real(value, f"{name} (None if nothing is known)", low=-math.inf)
    if not number > 0.0:
        raise InputError(f"{name}: expected a number above 0, or None if nothing is known, not {value}")
    return number


def _is_positive(value: Any) -> bool:
    """Whether a setting is plainly a positive number: the usual case, told without a closer look."""
    return isinstance(value, float) and 0.0 < value < math.inf


def parts_of(found: _Part | Iterable[_Part], kind: type, problem: object, method: str) -> tuple[_Part, ...]:
    """What a method of a problem has returned, one object of a class or several, as a tuple.

    Raises
    ------
    InputError
        Naming the method and what was expected.
    """
    if type(found) is tuple and all(isinstance(part, kind) for part in found):
        for part in found:
            _check_part(part)
        return found
    if isinstance(found, kind):
        _check_part(found)
        return (cast(_Part, found),)
    name = f"{type(problem).__name__}.{method}()"
    if found is None:
        raise InputError(f"{name} returned None: {FORGOTTEN} Expected a {kind.__name__} or several, or () for none")
    if isinstance(found, type) or not isinstance(found, Iterable):
        raise InputError(f"{name}: expected a {kind.__name__} or several, not {describe(found)}")
    several = tuple(found)
    for part in several:
        if not isinstance(part, kind):
            raise InputError(f"{name}: expected objects of subclasses of {kind.__name__}, not {describe(part)}")
        _check_part(part)
    return several


def _check_part(part: Any) -> None:
    """Refuse a part of a problem with misspelt methods, or with numbers that are out of their domain."""
    check_hooks(part)
    kind: Any = type(part)
    for name in _counts_of(kind):
        value = getattr(part, name)
        if value is not None:
            whole(value, f"{kind.__name__}.{name}")


@lru_cache(maxsize=1000)
def _counts_of(kind: type) -> tuple[str, ...]:
    """Return the attributes of a part that must be integers: those of these names that a class of colgen defines."""
    own = [each for each in kind.__mro__ if each.__module__.startswith("colgen.")]
    return tuple(name for name in ("every", "limit") if any(name in vars(each) for each in own))


def part_of(found: _Part | None, kind: type, problem: object, method: str) -> _Part:
    """What a method of a problem has returned, which must be one object of a class.

    Raises
    ------
    InputError
        Naming the method and what was expected.
    """
    if isinstance(found, kind):
        _check_part(found)
        return cast(_Part, found)
    name = f"{type(problem).__name__}.{method}()"
    why = f": {FORGOTTEN} Expected" if found is None else ", expected"
    raise InputError(f"{name} returned {describe(found)}{why} a {kind.__name__}")
