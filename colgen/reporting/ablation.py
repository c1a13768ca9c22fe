"""Ablations: problems solved by many methods, with the time and work of each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never

from colgen.core.errors import ColgenError, InputError
from colgen.core.files import write_text
from colgen.core.renamed import refuse_old
from colgen.core.result import Result, Termination, write_csv
from colgen.core.text import number, plural
from colgen.problem import Problem
from colgen.reporting.axes import check_by
from colgen.reporting.compared import Compared, make_line
from colgen.reporting.comparison import Comparison
from colgen.reporting.methods import (
    BOUNDINGS,
    CHOICES,
    HEURISTICS,
    PRICINGS,
    STABILIZATIONS,
    Variant,
    Variants,
    apply_variant,
    check_methods,
    keeps_rows,
    replace_parts,
    without,
)
from colgen.reporting.tables import align, count, table
from colgen.solving import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Ablated(Compared):
    """One method on one instance; ``name`` is the method.

    ``misprices`` counts pricing calls in addition to rounds. ``own_rows`` is False if the method changes the rows or
    cuts of the problem, so that relaxations may differ.
    """

    generated: int = 0
    misprices: int = 0
    ended: Termination | None = None
    own_rows: bool = True

    @property
    def is_proved(self) -> bool:
        """True if the run proved an optimum, also of the relaxation, or infeasibility."""
        return self.ended is not None and self.ended.is_proof

    @property
    def is_interrupted(self) -> bool:
        """True if a signal ended the run."""
        return self.ended is not None and self.ended.is_interrupt

    def to_dict(self) -> dict[str, Any]:
        """Return a row of the frame as plain data."""
        return {
            "instance": self.instance,
            "method": self.name,
            "objective": self.objective,
            "dual_bound": self.dual_bound,
            "rounds": self.rounds,
            "misprices": self.misprices,
            "columns": self.generated,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "proof": self.proof,
        }


__all__ = [
    "BOUNDINGS",
    "CHOICES",
    "HEURISTICS",
    "PRICINGS",
    "STABILIZATIONS",
    "Ablated",
    "Ablation",
    "ablation",
    "replace_parts",
    "without",
]

Source = Problem | Callable[[], Problem]
"""A problem, or a function that makes a new one for each run."""

_COMPILED = 0.01
"""A run is repeated, with compiled kernels, if compiling took more than this share of it."""

_SHORT = 5.0
"""The very first run is repeated if it took at most this many seconds, because it includes imports and setup."""

_LEAST = 1e-3
"""Lower limit of seconds in ratios; shorter times are not reliable."""


class Ablation:
    """The results of all methods on all instances, as a table, a notebook view, a picture or a file.

    There is one line per instance and method. For several instances the table has sums, and its column *slowest* is the
    largest ratio of seconds to those of the first method over all instances.
    """

    def __init__(self, lines: Iterable[Ablated], *, relaxation: bool = False) -> None:
        self.lines = tuple(lines)
        self.relaxation = relaxation

    @property
    def is_interrupted(self) -> bool:
        """True if a signal ended the ablation early."""
        return bool(self.lines) and self.lines[-1].is_interrupted

    @property
    def methods(self) -> list[str]:
        """The names of the methods, in order."""
        return list(dict.fromkeys(line.name for line in self.lines))

    @property
    def instances(self) -> list[str]:
        """The names of the instances, in order."""
        return list(dict.fromkeys(line.instance for line in self.lines))

    def of(self, method: str) -> list[Ablated]:
        """Return the lines of a method, one per instance."""
        if method not in self.methods:
            raise InputError(f"unknown method {method!r}: expected {', '.join(self.methods)}")
        return [line for line in self.lines if line.name == method]

    @property
    def agree(self) -> bool:
        """True if no solution contradicts a proof, on any instance.

        Relaxations of methods with other cuts or other problems may differ, and are not compared.
        """
        alike = [line for line in self.lines if line.own_rows or not self.relaxation]
        return all(
            Comparison((line for line in alike if line.instance == name), relaxation=self.relaxation).agree
            for name in self.instances
        )

    def ratios(self, method: str, base: str | None = None, by: Literal["seconds", "rounds"] = "seconds") -> list[float]:
        """Return the time or rounds of a method divided by those of ``base`` (by default the first), by instance."""
        if by not in ("seconds", "rounds"):
            raise InputError(f"by: expected 'seconds' or 'rounds', not {by!r}")
        others = {line.instance: line for line in self.of(self.methods[0] if base is None else base)}
        lines = [line for line in self.of(method) if line.instance in others]  # an interrupted ablation lacks some
        return [_measure(line, by) / _measure(others[line.instance], by) for line in lines]

    def to_frame(self, *, rounds: bool = False) -> Any:
        """Return a pandas frame with one row per instance and method, or per round of each with ``rounds``."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas; to_csv writes the same table without it") from error

        return pandas.DataFrame(self.rounds() if rounds else [line.to_dict() for line in self.lines])

    def rounds(self) -> list[dict[str, Any]]:
        """Return a dictionary for each round of each run, with bounds and seconds."""
        names = ("phase", "objective", "dual_bound", "incumbent", "global_bound", "columns", "misprices", "seconds")
        return [
            {"instance": line.instance, "method": line.name, "round": i.number, **{n: getattr(i, n) for n in names}}
            for line in self.lines
            for i in line.trace
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return lines and rounds as plain data for JSON, with None for infinite numbers."""
        return {
            "relaxation": self.relaxation,
            "agree": self.agree,
            "lines": [_plain(line.to_dict()) for line in self.lines],
            "rounds": [_plain(each) for each in self.rounds()],
        }

    def to_json(self, path: Path | str) -> None:
        """Write lines and rounds as JSON."""
        write_text(path, json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False) + "\n")

    def to_csv(self, path: Path | str) -> None:
        """Write the lines as CSV."""
        write_csv([line.to_dict() for line in self.lines], path)

    def draw(self, by: Literal["round", "second"] = "round", ax: Axes | None = None) -> Axes:
        """Draw the dual bounds by round or second; for several instances, the share of them proved over time."""
        from colgen.reporting.ablation_pictures import draw_bounds, draw_profile

        check_by(by)
        return draw_bounds(self.lines, by, ax) if len(self.instances) == 1 else draw_profile(self.lines, ax)

    def __str__(self) -> str:
        return "\n".join([align(*self._table()), *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(*self._table()) + "".join(f"<p>{line}</p>" for line in self._remarks())

    def _table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        if len(self.instances) == 1:
            shown = [_of_one(line) for line in self.lines]
            kept = [k for k, name in enumerate(_OF_ONE) if not (self._common and name in _OUTCOME)]
            return [_OF_ONE[k] for k in kept], [[line[k] for k in kept] for line in shown]
        return _OF_MANY, [_of_many(self, method) for method in self.methods]

    @property
    def _common(self) -> str:
        """The outcome of one instance in words if it is the same for all of several methods; empty otherwise."""
        ends = {(number(line.objective, 8), number(line.dual_bound, 8), line.proof) for line in self.lines}
        if len(self.instances) != 1 or len(self.lines) == 1 or len(ends) > 1:
            return ""
        ((objective, bound, proof),) = ends
        return f"All methods: objective {objective}, dual bound {bound}. {proof}"

    def _remarks(self) -> list[str]:
        common = [self._common] if self._common else []
        wrong = [] if self.agree else ["Answers and proofs contradict each other: one of the methods is wrong."]
        return common + wrong


def ablation(
    problem: Source | Sequence[Source] | Mapping[str, Source],
    methods: Variants,
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
    say: Callable[[str], None] | None = None,
    **old: Never,
) -> Ablation:
    """Solve one or several problems by many methods, and return the time and work of each.

    Parameters
    ----------
    problem
        A problem, several, or several by name. A function without arguments may make a new problem for each run.
    methods
        By name: a :class:`Method`, another :class:`Problem`, or a function from a problem to another; see
        :func:`replace_parts`. :mod:`colgen.reporting.methods` has ready sets.
    time_limit
        Seconds for each run.
    relaxation
        Solve only the relaxation of the root.
    say
        Called with a line of text after each run.

    Returns
    -------
    Ablation
        Seconds are processor seconds without compiling kernels.

    Raises
    ------
    InputError
        If a method is invalid, before anything is solved.
    ColgenError
        Any error of a run, with the names of the method and the instance.

    Examples
    --------
    >>> found = ablation(problem, {"default": Method(), "none": Method(stabilization=NoStabilization())})
    >>> found.methods, found.agree
    (['default', 'none'], True)
    """
    refuse_old(ablation, old)
    sources = _name_sources(problem)
    check_methods(methods, len(sources))
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not time_limit >= 0.0:
        raise InputError(f"time_limit: expected seconds, zero or more, not {time_limit!r}")
    lines: list[Ablated] = []
    for instance, source in sources.items():
        for name, method in methods.items():
            try:
                found, seconds = _measure_run(source, method, time_limit, relaxation, first=not lines)
            except ColgenError as error:
                error.args = (f"{name}, {instance}: {error}", *error.args[1:])
                raise
            line = _line(instance, name, found, seconds, relaxation, keeps_rows(method))
            lines.append(line)
            if say is not None:
                effort = f"{plural(line.rounds or 0, 'round')}, {plural(line.nodes or 0, 'node')}, {line.seconds:.3g} s"
                say(f"{instance}, {name}: {effort}. {line.proof}")
            if line.is_interrupted:
                return Ablation(lines, relaxation=relaxation)
    return Ablation(lines, relaxation=relaxation)


def _name_sources(problem: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """Return problems by name."""
    if isinstance(problem, Mapping):
        named = dict(problem)
    elif isinstance(problem, Sequence):
        named = {f"{_kind(each)} {k}": each for k, each in enumerate(problem, 1)}
    else:
        named = {_kind(problem): problem}
    if not named:
        raise InputError("expected one problem or more")
    for name, each in named.items():
        if isinstance(each, type) or not (isinstance(each, Problem) or callable(each)):
            raise InputError(f"{name}: expected a problem or a function that makes one, not {each!r}")
    return named


def _kind(source: Source) -> str:
    name = getattr(source, "__name__", "") if not isinstance(source, Problem) else ""
    return str(name) if name.isidentifier() else type(source).__name__ if isinstance(source, Problem) else "problem"


def _measure_run(
    source: Source, method: Variant, time_limit: float, relaxation: bool, *, first: bool
) -> tuple[Result, float]:
    """Run a method and return the result and its processor seconds. Repeat a run dominated by first calls."""
    for again in (True, False):
        problem, chosen = apply_variant(source, method)
        result = solve(problem, time_limit=time_limit, relaxation=relaxation, method=chosen)
        seconds, compiled = result.processor_seconds, result.seconds["compiling"]
        if not again or (compiled <= _COMPILED * seconds and not (first and seconds < _SHORT)):
            break
    return result, max(seconds - compiled, 0.0)


def _line(instance: str, name: str, found: Result, seconds: float, relaxation: bool, own_rows: bool) -> Ablated:
    shared = vars(make_line(name, found, seconds, relaxation=relaxation))
    return Ablated(
        **{**shared, "instance": instance, "processor_seconds": seconds},
        generated=found.columns_generated,
        misprices=sum(i.misprices for i in found.iterations),
        ended=found.termination,
        own_rows=own_rows,
    )


def _measure(line: Ablated, by: str) -> float:
    return max(line.seconds, _LEAST) if by == "seconds" else max((line.rounds or 0) + line.misprices, 1)


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in line.items()}


_OF_ONE = ("method", "objective", "dual bound", "rounds", "misprices", "columns", "nodes", "seconds", "proof")
_OUTCOME = ("objective", "dual bound", "proof")
_OF_MANY = ("method", "rounds", "misprices", "columns", "nodes", "seconds", "slowest", "proved")


def _of_one(line: Ablated) -> Sequence[str]:
    return (
        line.name,
        number(line.objective, 8),
        number(line.dual_bound, 8),
        count(line.rounds),
        count(line.misprices),
        count(line.generated),
        count(line.nodes),
        f"{line.seconds:.3g}",
        line.proof,
    )


def _of_many(found: Ablation, method: str) -> Sequence[str]:
    lines = found.of(method)
    return (
        method,
        count(sum(line.rounds or 0 for line in lines)),
        count(sum(line.misprices for line in lines)),
        count(sum(line.generated for line in lines)),
        count(sum(line.nodes or 0 for line in lines)),
        f"{sum(line.seconds for line in lines):.3g}",
        f"{max(found.ratios(method), default=math.nan):.2f}",
        f"{sum(line.is_proved for line in lines)} of {len(lines)}",
    )
