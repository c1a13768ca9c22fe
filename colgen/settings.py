"""What ``solve`` may be asked for, checked before any work."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from colgen.bounding.protocol import Bounding
from colgen.branching.selection import Choice
from colgen.checkpoint.file import Saving
from colgen.core.errors import InputError
from colgen.core.hooks import check_hooks
from colgen.core.numbers import real, whole
from colgen.core.pool import Pool
from colgen.core.result import Result
from colgen.core.stop import AnyOf, StopRule, TimeLimit
from colgen.core.text import FORGOTTEN
from colgen.core.warm_start import WarmStart
from colgen.heuristics import Heuristic
from colgen.parallel.clusters import check_client
from colgen.solvers.linear.backends.registry import HIGHS, BackendError, check_backend
from colgen.solvers.linear.options import OptionError, check_options
from colgen.stabilization import Stabilization

_Part = TypeVar("_Part")


def check_settings(
    *,
    stop: Any = (),
    time_limit: Any = math.inf,
    start: Any = None,
    relaxation: Any = False,
    stabilization: Any = None,
    bounding: Any = None,
    heuristics: Any = None,
    queue: Any = None,
    choice: Any = None,
    node_limit: Any = None,
    depth_limit: Any = None,
    clean_up_after: Any = None,
    pricing_share: Any = 1.0,
    lp: Any = None,
    lp_options: Any = None,
    tolerance: Any = 1.0,
    keep_duals: Any = False,
    keep_values: Any = False,
    progress: Any = False,
    on_node: Any = None,
    certificate: Any = None,
    workers: Any = None,
    node_batch: Any = 1,
    client: Any = None,
    free_running: Any = False,
    checkpoint: Any = None,
    every: Any = 1.0,
    pool: Any = None,
) -> None:
    """Refuse settings of :func:`colgen.solve` that are out of their domain; each by its name.

    Raises
    ------
    InputError
        Naming the setting and what was expected.
    """
    if isinstance(stop, (int, float)) and not isinstance(stop, bool):
        meant = f"time_limit={stop} if seconds are meant"
        raise InputError(f"stop: expected a stop rule or several, not {what(stop)}: {meant}")
    for rule in (stop,) if callable(stop) else _several(stop, "stop: expected a stop rule or several"):
        if not callable(rule) or isinstance(rule, type):
            raise InputError(f"stop: expected stop rules, such as TimeLimit(60), not {what(rule)}")
    if time_limit != math.inf:
        real(time_limit, "time_limit", finite=False)
    if start is not None and not isinstance(start, (Result, WarmStart)):
        raise InputError(f"start: expected the result of another run, or a WarmStart, not {what(start)}")
    flags = {"relaxation": relaxation, "keep_duals": keep_duals, "keep_values": keep_values}
    for name, value in {**flags, "free_running": free_running}.items():
        if not isinstance(value, (bool, np.bool_)):
            raise InputError(f"{name}: expected True or False, not {what(value)}")
    if not isinstance(progress, (bool, np.bool_)) and (not callable(progress) or isinstance(progress, type)):
        raise InputError(f"progress: expected True, False or a function of a round, not {what(progress)}")
    if on_node is not None and (not callable(on_node) or isinstance(on_node, type)):
        raise InputError(f"on_node: expected a function of a node's visit, not {what(on_node)}")
    if certificate is not None:
        if not isinstance(certificate, (str, Path)) or not str(certificate):
            raise InputError(f"certificate: expected the name of a file, not {what(certificate)}")
        place = Path(certificate)
        if place.is_dir() or not place.absolute().parent.is_dir():
            raise InputError(f"certificate: expected the name of a file in an existing folder, not {str(place)!r}")
        if relaxation:
            raise InputError("certificate: it proves answers: leave relaxation out")
    if checkpoint is not None and not isinstance(checkpoint, Saving):
        if not isinstance(checkpoint, (str, Path)) or not str(checkpoint):
            raise InputError(f"checkpoint: expected the name of a file, not {what(checkpoint)}")
        place = Path(checkpoint)
        if place.is_dir() or not place.absolute().parent.is_dir():
            raise InputError(f"checkpoint: expected the name of a file in an existing folder, not {str(place)!r}")
    if checkpoint is not None and certificate is not None:
        raise InputError("certificate: a run that goes on has not seen what was proved before: leave checkpoint out")
    if pool is not None and not isinstance(pool, Pool) and (not isinstance(pool, (str, Path)) or not str(pool)):
        raise InputError(f"pool: expected the name of a file, or a run's pool, not {what(pool)}")
    if not _is_positive(every) and not real(every, "every") > 0.0:
        raise InputError(f"every: expected more than 0 seconds, not {every}")
    if stabilization is not None and not isinstance(stabilization, Stabilization):
        raise InputError(f"stabilization: expected a Stabilization, such as Wentges(), not {what(stabilization)}")
    if bounding is not None and not isinstance(bounding, Bounding):
        raise InputError(f"bounding: expected a Bounding, such as ColumnGeneration(), not {what(bounding)}")
    if heuristics is not None:
        for heuristic in _several(heuristics, "heuristics: expected a list of heuristics"):
            if not isinstance(heuristic, Heuristic):
                raise InputError(f"heuristics: expected heuristics, such as RestrictedMIP(), not {what(heuristic)}")
    if queue is not None and not callable(queue):
        raise InputError(f"queue: expected a class of queues, such as BestBound, not {what(queue)}")
    if choice is not None and not isinstance(choice, Choice):
        raise InputError(f"choice: expected a Choice, such as StrongBranching(), not {what(choice)}")
    if node_limit is not None:
        whole(node_limit, "node_limit", low=1)
    if depth_limit is not None:
        whole(depth_limit, "depth_limit")
    if clean_up_after is not None:
        whole(clean_up_after, "clean_up_after", low=1)
    if workers is not None:
        whole(workers, "workers", low=1)
    if node_batch != 1:
        whole(node_batch, "node_batch", low=1)
        if certificate is not None:
            raise InputError("certificate: it is written of nodes that are evaluated one by one: leave node_batch out")
    if client is not None:
        check_client(client)
        for name, value in (("certificate", certificate), ("depth_limit", depth_limit), ("relaxation", relaxation)):
            if value is not None and value is not False:
                raise InputError(f"client: a tree is searched on a cluster without {name}: leave one of them out")
    elif free_running:
        raise InputError("free_running: it says how the workers of a cluster search a tree: name a client")
    if lp is not None:
        try:
            check_backend(lp)
        except BackendError as error:
            raise InputError(f"lp: {error}") from None
        if lp_options is not None and lp != HIGHS:
            raise InputError(f"lp_options: they are those of HiGHS: leave them out beside lp={lp!r}")
    if lp_options is not None:
        try:
            check_options(lp_options)
        except OptionError as error:
            raise InputError(f"lp_options: {error}") from None
    plain = isinstance(pricing_share, float) and 0.0 < pricing_share <= 1.0
    if not plain and not 0.0 < real(pricing_share, "pricing_share") <= 1.0:
        raise InputError(f"pricing_share: expected a share above 0 and at most 1, not {pricing_share}")
    if not _is_positive(tolerance) and not real(tolerance, "tolerance") > 0.0:
        raise InputError(f"tolerance: expected a positive number, not {tolerance}")


def rule_of(stop: StopRule | Iterable[StopRule], time_limit: float) -> AnyOf:
    """Stop rules and a time limit as one rule."""
    rules = [stop] if callable(stop) else list(stop)
    return AnyOf(*rules, *([TimeLimit(time_limit)] if time_limit < math.inf else []))


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


def _several(value: Any, expected: str) -> Iterable[Any]:
    if type(value) is tuple or type(value) is list:
        return cast(Iterable[Any], value)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{expected}, not {what(value)}")
    if iter(value) is value:
        raise InputError(f"{expected}, not what can be looked at only once")
    return value


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
        raise InputError(f"{name}: expected a {kind.__name__} or several, not {what(found)}")
    several = tuple(found)
    for part in several:
        if not isinstance(part, kind):
            raise InputError(f"{name}: expected objects of subclasses of {kind.__name__}, not {what(part)}")
        _check_part(part)
    return several


def _check_part(part: Any) -> None:
    """Refuse a part of a problem with misspelt methods, or with numbers that are out of their domain."""
    check_hooks(part)
    stated = [kind for kind in type(part).__mro__ if kind.__module__.startswith("colgen.")]
    for name in ("every", "limit"):
        value = getattr(part, name, None) if any(name in vars(kind) for kind in stated) else None
        if value is not None:
            whole(value, f"{type(part).__name__}.{name}")


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
    raise InputError(f"{name} returned {what(found)}{why} a {kind.__name__}")


def what(value: Any) -> str:
    """Something unexpected, in a few words."""
    if isinstance(value, type):
        return f"the class {value.__name__}: an object of it is meant"
    text = repr(value) if isinstance(value, (int, float, str, bytes, type(None), np.generic)) else ""
    return text if text and len(text) <= 40 else f"a {type(value).__name__}"
