"""Formulations and methods side by side: ``compare`` solves one instance by each and returns a table."""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Never, overload

from colgen.core.errors import InputError
from colgen.core.numbers import real, whole
from colgen.core.renamed import refuse_old
from colgen.core.text import counted, number, one_line, percent
from colgen.reporting.compared import FRACTIONAL, SAME, Compared, Way, Ways, measured
from colgen.reporting.tables import aligned, count, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROUNDING = 1e-12
"""What sums of costs leave of zero, relative to the largest of them."""


class Comparison(Sequence[Compared]):
    """The lines of a comparison: prints as a table, shows as one in a notebook, and turns into a pandas frame.

    Attributes
    ----------
    relaxation
        Whether relaxations were compared, whose optima may well differ.
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
        """Whether no answer contradicts a proof: proved optima are the same, and none beats another way's bound."""
        if len(self.instances) > 1:
            return all(self.of(instance).agree for instance in self.instances)
        proved = [line.objective for line in self if line.is_optimal]
        room = self._room()
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
        """Their names, in order."""
        return list(dict.fromkeys(line.instance for line in self))

    def of(self, instance: str) -> Comparison:
        """The lines of one instance."""
        return Comparison((line for line in self if line.instance == instance), relaxation=self.relaxation)

    def _room(self) -> float:
        """By how much numbers of these lines may differ and still count as equal."""
        numbers = [abs(v) for line in self for v in (line.objective, line.dual_bound) if math.isfinite(v)]
        return max(SAME * max(numbers, default=0.0), _ROUNDING * max((line.scale for line in self), default=0.0))

    def to_frame(self) -> Any:
        """As a pandas frame, a row for each instance and way, indexed by their names (pandas must be installed).

        Beside what is shown it has the seconds of each stage of column generation.
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
        """Of one instance the dual bound of each way as it goes on; of several, what share each has proved when.

        Parameters
        ----------
        by
            What the horizontal axis counts, of one instance: rounds, or seconds.
        """
        from colgen.reporting.ablation_pictures import draw_bounds, draw_profile

        if by not in ("round", "second"):
            raise InputError(f"bounds are drawn by 'round' or by 'second', not by {by!r}")
        return draw_bounds(self._lines, by, ax) if len(self.instances) == 1 else draw_profile(self._lines, ax)

    def __str__(self) -> str:
        return "\n".join([aligned(*self._table(), words=len(self._table()[0]) - len(_NAMES) + 1), *self.warning()])

    def __repr__(self) -> str:
        if len(self.instances) > 1:
            said = f"{counted(len(self), 'line')} of {counted(len(self.instances), 'instance')}"
        else:
            said = ", ".join(f"{line.name} {number(line.objective)} in {line.seconds:.3g} s" for line in self)
            said = f"{counted(len(self), 'way')}: {said}"
        return one_line(f"<{' '.join([f'Comparison of {said}.', *self.warning()])}>")

    def _repr_html_(self) -> str:
        return table(*self._table()) + "".join(f"<p>{html.escape(line)}</p>" for line in self.warning())

    def _table(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        if len(self.instances) > 1:
            return ("instance", *_NAMES), [(line.instance, *_cells(line)) for line in self]
        return _NAMES, [_cells(line) for line in self]

    def warning(self) -> list[str]:
        """What a reader must know before anything else, in a sentence or none."""
        return (
            [] if self.agree or self.relaxation else ["Answers and proofs differ: one formulation or proof is wrong."]
        )


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
        Callables that take the instance, by name, or in a list (then named after themselves).  What one returns says
        what is done with it: a :class:`Problem` is solved by column generation; a complete model, Pyomo's or a compiled
        :class:`Rows`, by HiGHS with presolve; a :class:`Result` is taken as it is; of anything else the
        attributes ``objective`` and, if there is one, ``dual_bound`` are read, or it is the objective itself.
    time_limit
        Seconds for each problem or model; methods that return answers keep their own limits.
    relaxation
        Compare relaxations: of problems that of the root, of models that without whole variables.  Methods that return
        answers are refused, for these have no relaxation.
    repeats
        Each way is measured so often, and the quickest run is shown.  A short run in which kernels were compiled, or
        the first of all, is one to warm up, and is done again.

    Examples
    --------
    >>> compare(instance, {"column generation": Coreference, "all pairs": full})  # doctest: +SKIP
    >>> compare(instance, {"column generation": Coreference, "all pairs": full}, relaxation=True)  # doctest: +SKIP
    """
    refuse_old(compare, old)
    return _solve_all({"": instance}, _named(ways), time_limit, relaxation, repeats)


def compare_all(
    instances: Mapping[str, Any],
    ways: Ways,
    *,
    time_limit: float = math.inf,
    relaxation: bool = False,
    repeats: int = 1,
    **old: Never,
) -> Comparison:
    """Solve several instances, each in several ways: one table of all, one frame, one picture.

    Parameters
    ----------
    instances
        By name.
    ways, time_limit, relaxation, repeats
        As of :func:`compare`; the limit is that of each run.
    """
    refuse_old(compare_all, old)
    if not isinstance(instances, Mapping) or not instances:
        raise InputError("expected one instance or more, by name")
    return _solve_all(dict(instances), _named(ways), time_limit, relaxation, repeats)


def _named(ways: Mapping[str, Way] | Sequence[Way]) -> Mapping[str, Way]:
    named = ways if isinstance(ways, Mapping) else {_name(way): way for way in ways}
    if not named:
        raise InputError("expected one way or more to solve the instance")
    if not isinstance(ways, Mapping) and len(named) < len(ways):
        raise InputError("two ways have the same name: give them as a mapping from names of their own")
    return named


def _solve_all(
    instances: Mapping[str, Any], ways: Mapping[str, Way], time_limit: float, relaxation: bool, repeats: int
) -> Comparison:
    repeats = whole(repeats, "repeats", low=1)
    real(time_limit, "time_limit", finite=False)
    lines: list[Compared] = []
    for called, instance in instances.items():
        for name, way in ways.items():
            line = measured(name, way, instance, time_limit, relaxation, repeats=repeats, first=not lines)
            lines.append(replace(line, instance=called))
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
"""What a frame has of a line, in order."""

_NAMES = (
    "name", "objective", "dual bound", "root gap", "columns", "rows", "rounds", "nodes", "seconds", "processor",
    "compiling", "proof",
)  # fmt: skip
"""What a table shows of it."""

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
