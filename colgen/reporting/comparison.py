"""Comparisons: ``compare`` solves one instance by several formulations or methods and returns a table."""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Never, overload

from colgen.core.errors import InputError
from colgen.core.numbers import integer, real
from colgen.core.renamed import refuse_old
from colgen.core.text import number, one_line, percent, plural
from colgen.reporting.axes import check_by
from colgen.reporting.compared import FRACTIONAL, SAME, Compared, Way, Ways, measure
from colgen.reporting.tables import align, count, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-12
"""Rounding error of a sum of costs that should be 0, relative to the largest cost."""


class Comparison(Sequence[Compared]):
    """The lines of a comparison, as a table, a notebook view or a pandas frame.

    With ``relaxation``, relaxations were compared, whose optima may differ.
    """

    def __init__(self, lines: Iterable[Compared], *, relaxation: bool = False) -> None:
        self._lines = tuple(lines)
        self.relaxation = relaxation

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Compared: ...

    @overload
    def __getitem__(self, index: slice) -> Comparison: ...

    def __getitem__(self, index: int | slice) -> Compared | Comparison:
        if isinstance(index, slice):
            return Comparison(self._lines[index], relaxation=self.relaxation)
        return self._lines[index]

    @property
    def agree(self) -> bool:
        """True if no answer contradicts a proof: proved optima are equal, and no answer beats a bound."""
        if len(self.instances) > 1:
            return all(self.of(instance).agree for instance in self.instances)
        proved = [line.objective for line in self if line.is_optimal]
        room = self._tolerance()
        if proved and max(proved) - min(proved) > room:
            return False
        sense = next((line.sense for line in self if line.sense is not None), None)
        if sense is None or self.relaxation:
            return True
        answers = [line.objective for line in self if math.isfinite(line.objective) and line.proof != FRACTIONAL]
        bounds = [line.dual_bound for line in self if math.isfinite(line.dual_bound)]
        return not any(sense.is_better(answer, bound, room) for answer in answers for bound in bounds)

    @property
    def instances(self) -> list[str]:
        """The names of the instances, in order."""
        return list(dict.fromkeys(line.instance for line in self))

    def of(self, instance: str) -> Comparison:
        """Return the lines of one instance."""
        return Comparison((line for line in self if line.instance == instance), relaxation=self.relaxation)

    def _tolerance(self) -> float:
        """Return the difference up to which numbers of these lines count as equal."""
        numbers = [abs(v) for line in self for v in (line.objective, line.dual_bound) if math.isfinite(v)]
        return max(SAME * max(numbers, default=0.0), _ROUNDING * max((line.scale for line in self), default=0.0))

    def to_frame(self) -> Any:
        """Return a pandas frame with one row per instance and way, indexed by their names.

        It has the columns of the table and the seconds of each stage of column generation.
        """
        import pandas

        rows = []
        for line in self:
            stages = {f"{stage}_seconds": line.stages.get(stage, math.nan) for stage in _STAGES}
            rows.append({"instance": line.instance, **{name: getattr(line, name) for name in _SHOWN}, **stages})
        frame = pandas.DataFrame(rows, columns=["instance", *_SHOWN, *(f"{stage}_seconds" for stage in _STAGES)])
        several = len(self.instances) > 1
        return frame.set_index(["instance", "name"]) if several else frame.drop(columns="instance").set_index("name")

    def draw(self, by: Literal["round", "second"] = "second", ax: Axes | None = None) -> Axes:
        """Draw the dual bounds by round or second; for several instances, the share of them proved over time."""
        from colgen.reporting.ablation_pictures import draw_bounds, draw_profile

        check_by(by)
        return draw_bounds(self._lines, by, ax) if len(self.instances) == 1 else draw_profile(self._lines, ax)

    def __str__(self) -> str:
        return "\n".join([align(*self._table(), words=len(self._table()[0]) - len(_NAMES) + 1), *self.warning()])

    def __repr__(self) -> str:
        if len(self.instances) > 1:
            text = f"{plural(len(self), 'line')} of {plural(len(self.instances), 'instance')}"
        else:
            text = ", ".join(f"{line.name} {number(line.objective)} in {line.seconds:.3g} s" for line in self)
            text = f"{plural(len(self), 'way')}: {text}"
        return one_line(f"<{' '.join([f'Comparison of {text}.', *self.warning()])}>")

    def _repr_html_(self) -> str:
        return table(*self._table()) + "".join(f"<p>{html.escape(line)}</p>" for line in self.warning())

    def _table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        if len(self.instances) > 1:
            return ("instance", *_NAMES), [(line.instance, *_cells(line)) for line in self]
        return _NAMES, [_cells(line) for line in self]

    def warning(self) -> list[str]:
        """Return a sentence about contradictions, if there are any."""
        agree = self.agree or self.relaxation
        return [] if agree else ["Answers and proofs contradict each other: one formulation or proof is wrong."]


def compare(
    instance: Any,
    ways: Ways,
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
    repeats: int = 1,
    **old: Never,
) -> Comparison:
    """Solve one instance in several ways.

    Parameters
    ----------
    ways
        Functions of the instance, by name or in a list. A :class:`Problem` that one returns is solved by column
        generation, and a complete model (Pyomo or :class:`Rows`) by HiGHS with presolve. A :class:`Result` is used
        directly. Other values must be an objective, or have the attribute ``objective`` and optionally ``dual_bound``.
    time_limit
        Seconds for each problem or model. Functions that return answers have their own limits.
    relaxation
        Compare relaxations: root relaxations of problems, and models without integrality. Functions that return answers
        are refused.
    repeats
        Number of measured runs; the fastest is shown. A short run that compiles kernels, or is the first of all, is a
        warm-up and does not count.

    Examples
    --------
    >>> from colgen.problems import coreference
    >>> scored = coreference.communities(12, 3)
    >>> found = compare(scored, {"columns": coreference.Coreference, "all pairs": coreference.model.full})
    >>> found[0].objective == found[1].objective
    True
    """
    refuse_old(compare, old)
    return _solve_all({"": instance}, _name_ways(ways), time_limit, relaxation, repeats)


def compare_all(
    instances: Mapping[str, Any],
    ways: Ways,
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
    repeats: int = 1,
    **old: Never,
) -> Comparison:
    """Solve several instances by name, each in several ways; see :func:`compare`. The limit is for each run.

    Examples
    --------
    >>> rolls = {f"roll of {roll}": (roll, [45, 36, 31], [9, 61, 39]) for roll in (80, 100)}
    >>> found = compare_all(rolls, {"patterns": lambda instance: CuttingStock(*instance)})
    >>> [line.objective for line in found]
    [55.0, 46.0]
    """
    refuse_old(compare_all, old)
    if not isinstance(instances, Mapping) or not instances:
        raise InputError("instances: expected at least one instance by name")
    return _solve_all(dict(instances), _name_ways(ways), time_limit, relaxation, repeats)


def _name_ways(ways: Mapping[str, Way] | Sequence[Way]) -> Mapping[str, Way]:
    named = ways if isinstance(ways, Mapping) else {_name(way): way for way in ways}
    if not named:
        raise InputError("ways: expected at least one")
    if not isinstance(ways, Mapping) and len(named) < len(ways):
        raise InputError("ways: two have the same name; use a mapping from different names")
    return named


def _solve_all(
    instances: Mapping[str, Any], ways: Mapping[str, Way], time_limit: float, relaxation: bool, repeats: int
) -> Comparison:
    repeats = integer(repeats, "repeats", low=1)
    real(time_limit, "time_limit", finite=False)
    lines: list[Compared] = []
    for instance_name, instance in instances.items():
        for name, way in ways.items():
            line = measure(name, way, instance, time_limit, relaxation, repeats=repeats, first=not lines)
            lines.append(replace(line, instance=instance_name))
    return Comparison(lines, relaxation=relaxation)


def _name(way: Way) -> str:
    if isinstance(way, functools.partial):
        options = ", ".join(map(str, [*way.args, *(f"{key}={value!r}" for key, value in way.keywords.items())]))
        return f"{_name(way.func)}({options})"
    return str(getattr(way, "__name__", type(way).__name__))


_SHOWN = (
    "name", "objective", "dual_bound", "root_bound", "root_gap", "columns", "rows", "rounds", "nodes", "seconds",
    "processor_seconds", "compiling", "proof",
)  # fmt: skip
"""The columns of a frame, in order."""

_NAMES = (
    "name", "objective", "dual bound", "root gap", "columns", "rows", "rounds", "nodes", "seconds", "processor",
    "compiling", "proof",
)  # fmt: skip
"""The columns of a table."""

_STAGES = ("master", "pricing", "separation", "heuristics", "setup", "other")


def _cells(line: Compared) -> tuple[str, ...]:
    return (
        line.name,
        number(line.objective, 8),
        number(line.dual_bound, 8),
        "" if math.isnan(line.root_gap) else percent(line.root_gap),
        count(line.columns),
        count(line.rows),
        count(line.rounds),
        count(line.nodes),
        f"{line.seconds:.3g}",
        "" if math.isnan(line.processor_seconds) else f"{line.processor_seconds:.3g}",
        f"{line.compiling:.3g}" if line.compiling > line.seconds / 1000.0 else "",
        line.proof,
    )
