"""Ablations: problems solved by many methods, with the time and work of each."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never

from colgen.core.errors import ColgenError, InputError
from colgen.core.files import write_text
from colgen.core.renamed import refuse_old
from colgen.core.result import Result, Termination, write_csv
from colgen.core.text import number
from colgen.problem import Problem
from colgen.reporting.compared import Compared, compared
from colgen.reporting.comparison import Comparison
from colgen.reporting.methods import (
    BOUNDINGS,
    CHOICES,
    HEURISTICS,
    PRICINGS,
    STABILIZATIONS,
    Variant,
    Variants,
    applied,
    check_methods,
    keeps_rows,
    replace_parts,
    without,
)
from colgen.reporting.tables import aligned, count, table
from colgen.solvers.compiling import compile_seconds
from colgen.solving import solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Ablated(Compared):
    """What one method took on one instance; ``name`` is the method's.

    Attributes
    ----------
    generated
        Columns that were generated.
    misprices
        How often the oracles were asked in vain, beside the rounds.
    ended
        Why the run stopped.
    own_rows
        Whether the method leaves the problem the rows that it has, cuts among them: if it does not, its relaxation may
        be another one.
    """

    generated: int = 0
    misprices: int = 0
    ended: Termination | None = None
    own_rows: bool = True

    @property
    def is_proved(self) -> bool:
        """Whether the run ended with a proof: of an optimum, the relaxation's too, or that there is none."""
        return self.ended is not None and self.ended.is_proof

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal has ended the run."""
        return self.ended is not None and self.ended.is_interrupt

    def to_dict(self) -> dict[str, Any]:
        """A line of the frame, plain data."""
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
"""A problem, or what makes a new one for each run."""

_COMPILED = 0.01
"""A run of which compiling takes more than this share is measured once more, now that the kernels are there."""

_SHORT = 5.0
"""Seconds: the first run of all is measured once more if it takes no longer, for much is imported and set up in it."""

_LEAST = 1e-3
"""Seconds: below, ratios of times measure the clock."""


class Ablation:
    """What each method took on each instance: prints as a table, shows as one in a notebook, can be drawn and saved.

    Of several instances the table has the sums, and in the column *slowest* the seconds of the instance that suffers
    most, over those of the first method.

    Attributes
    ----------
    lines
        A line for each instance and method.
    relaxation
        Whether root relaxations were solved, and not the problems.
    """

    def __init__(self, lines: Iterable[Ablated], *, relaxation: bool = False) -> None:
        self.lines = tuple(lines)
        self.relaxation = relaxation

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal has ended it; what was measured until then is here."""
        return bool(self.lines) and self.lines[-1].is_interrupted

    @property
    def methods(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(line.name for line in self.lines))

    @property
    def instances(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(line.instance for line in self.lines))

    def of(self, method: str) -> list[Ablated]:
        """The lines of a method, an instance each."""
        if method not in self.methods:
            raise InputError(f"there is no method {method!r}; there are: {', '.join(self.methods)}")
        return [line for line in self.lines if line.name == method]

    @property
    def agree(self) -> bool:
        """Whether no answer contradicts a proof, on any instance: methods differ in time, not in what is true.

        Relaxations with other cuts, or of other problems, differ rightly, and are not held against one another.
        """
        alike = [line for line in self.lines if line.own_rows or not self.relaxation]
        return all(
            Comparison((line for line in alike if line.instance == name), relaxation=self.relaxation).agree
            for name in self.instances
        )

    def ratios(self, method: str, base: str | None = None, by: Literal["seconds", "rounds"] = "seconds") -> list[float]:
        """What a method took over what another took, the first one by default, instance by instance."""
        if by not in ("seconds", "rounds"):
            raise InputError(f"ratios are of 'seconds' or of 'rounds', not of {by!r}")
        others = {line.instance: line for line in self.of(self.methods[0] if base is None else base)}
        lines = [line for line in self.of(method) if line.instance in others]  # all, unless a run was interrupted
        return [_measure(line, by) / _measure(others[line.instance], by) for line in lines]

    def to_frame(self, *, rounds: bool = False) -> Any:
        """As a pandas frame, a row for each instance and method; with ``rounds`` one for each round of each of them."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas; to_csv writes the same table without it") from error

        return pandas.DataFrame(self.rounds() if rounds else [line.to_dict() for line in self.lines])

    def rounds(self) -> list[dict[str, Any]]:
        """The bound over rounds and time: a dictionary for each round of each run."""
        names = ("phase", "objective", "dual_bound", "incumbent", "global_bound", "columns", "misprices", "seconds")
        return [
            {"instance": line.instance, "method": line.name, "round": i.number, **{n: getattr(i, n) for n in names}}
            for line in self.lines
            for i in line.trace
        ]

    def to_dict(self) -> dict[str, Any]:
        """Lines and rounds as plain data for JSON (infinities as None)."""
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
        """Of one instance the dual bound of each method as its run goes on; of several, what share each has proved.

        Parameters
        ----------
        by
            What the horizontal axis counts, of one instance: rounds, or seconds.
        """
        from colgen.reporting.ablation_pictures import draw_bounds, draw_profile

        if by not in ("round", "second"):
            raise InputError(f"bounds are drawn by 'round' or by 'second', not by {by!r}")
        return draw_bounds(self.lines, by, ax) if len(self.instances) == 1 else draw_profile(self.lines, ax)

    def __str__(self) -> str:
        return "\n".join([aligned(*self._table()), *self._warning()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return table(*self._table()) + "".join(f"<p>{line}</p>" for line in self._warning())

    def _table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        if len(self.instances) == 1:
            return _OF_ONE, [_of_one(line) for line in self.lines]
        return _OF_MANY, [_of_many(self, method) for method in self.methods]

    def _warning(self) -> list[str]:
        return [] if self.agree else ["Answers and proofs differ: one of the methods is wrong."]


def ablation(
    problem: Source | Sequence[Source] | Mapping[str, Source],
    methods: Variants,
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
    say: Callable[[str], None] | None = None,
    **old: Never,
) -> Ablation:
    """Solve a problem, or several, by many methods, and say what each of them took.

    Parameters
    ----------
    problem
        A problem, several, or several by name.  In place of one that keeps what it has computed may stand a function
        without arguments that makes it anew for each run.
    methods
        By name: a :class:`Method`, another :class:`Problem`, or a function that makes another problem of the problem;
        :func:`replace_parts` returns such functions.  :mod:`colgen.reporting.methods` has sets to choose from.
    time_limit
        Seconds for each run.
    relaxation
        Solve the relaxation of the root alone.
    say
        Called with a line of text after each run.

    Returns
    -------
    Ablation
        Seconds are the processor's, without those that compiling kernels takes.

    Raises
    ------
    InputError
        If a method is not one, before anything is solved.
    ColgenError
        Whatever a run raises, with the names of method and instance.

    Examples
    --------
    >>> ablation(problem, {"default": Method(), "none": Method(stabilization=NoStabilization())})  # doctest: +SKIP
    """
    refuse_old(ablation, old)
    sources = _named(problem)
    check_methods(methods, len(sources))
    if isinstance(time_limit, bool) or not isinstance(time_limit, (int, float)) or not time_limit >= 0.0:
        raise InputError(f"time_limit: expected seconds, zero or more, not {time_limit!r}")
    lines: list[Ablated] = []
    for instance, source in sources.items():
        for name, method in methods.items():
            try:
                found, seconds = _measured(source, method, time_limit, relaxation, first=not lines)
            except ColgenError as error:
                error.args = (f"{name}, {instance}: {error}", *error.args[1:])
                raise
            line = _line(instance, name, found, seconds, relaxation, keeps_rows(method))
            lines.append(line)
            if say is not None:
                say(f"{instance}, {name}: {line.rounds} rounds, {line.nodes} nodes, {line.seconds:.3g} s. {line.proof}")
            if line.is_interrupted:
                return Ablation(lines, relaxation=relaxation)
    return Ablation(lines, relaxation=relaxation)


def _named(problem: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """Problems by name."""
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
            raise InputError(f"{name}: expected a problem, or a function that makes one, not {each!r}")
    return named


def _kind(source: Source) -> str:
    name = getattr(source, "__name__", "") if not isinstance(source, Problem) else ""
    return str(name) if name.isidentifier() else type(source).__name__ if isinstance(source, Problem) else "problem"


def _measured(
    source: Source, method: Variant, time_limit: float, relaxation: bool, *, first: bool
) -> tuple[Result, float]:
    """A run, and its seconds of the processor; once more if much of them was of a first call."""
    for again in (True, False):
        problem, chosen = applied(source, method)
        compiled, started = compile_seconds(), time.process_time()
        result = solve(problem, time_limit=time_limit, relaxation=relaxation, method=chosen)
        seconds, compiled = time.process_time() - started, compile_seconds() - compiled
        if not again or (compiled <= _COMPILED * seconds and not (first and seconds < _SHORT)):
            break
    return result, max(seconds - compiled, 0.0)


def _line(instance: str, name: str, found: Result, seconds: float, relaxation: bool, own_rows: bool) -> Ablated:
    shared = compared(name, found, seconds, relaxation=relaxation)
    known = {**vars(shared), "instance": instance, "processor_seconds": seconds}
    return Ablated(
        **known,
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
