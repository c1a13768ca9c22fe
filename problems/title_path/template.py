"""Paths of k vertices on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from colgen import NoStabilization, Problem, Proof, Row, Sense, Separation, SeparationContext, Solution, Stabilization
from colgen.core.budget import Budget
from problems.title_path.instance import Instance, Path, checked
from problems.title_path.master import ONCE, WalkMaster, column_of
from problems.title_path.search import Start


class TitlePath(Problem):
    """The heaviest path of k vertices, no two of one class, by row generation over walks.

    The answer is a tuple of vertices.
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    @property
    def scale(self) -> float:  # type: ignore[override]
        """What weights are relative to once what all paths have in common is taken off."""
        return self.instance.scaled.scale

    def initial_proof(self, budget: Budget) -> Proof | None:
        """A first path and a first bound; where time has run out for anything else they are all that will be known."""
        if "start" not in self.__dict__:
            self.__dict__["start"] = Start(self.instance.scaled, lambda: budget.expired)
        if self.start.path is None or not budget.expired:
            return None
        column = column_of(self.instance, self.start.path)
        return Proof(Sense.MAXIMIZE, Solution(column.cost, ((column, 1.0),)), self.start.users_bound(self.instance))

    @cached_property
    def start(self) -> Start:
        """A first path and a first bound."""
        return Start(self.instance.scaled)

    def restricted_master(self) -> WalkMaster:
        return WalkMaster(self.instance, self.start)

    def separation(self) -> Sequence[Separation]:
        return (RepeatedClasses(self.instance),)

    def stabilization(self) -> Stabilization:
        return NoStabilization()  # nothing is priced

    def initial_answers(self) -> Iterable[Solution]:
        if self.start.path is not None:
            column = column_of(self.instance, self.start.path)
            yield Solution(column.cost, ((column, 1.0),))

    def answer(self, solution: Solution) -> Path:
        ((column, _),) = solution.columns
        path: Path = column.structure
        return path

    def check(self, answer: Path) -> float:
        return checked(self.instance, answer)


class RepeatedClasses(Separation):
    """Σ_p (visits of class c by p) x_p ≤ 1 for each class c: exact on the single walk that the master chooses.

    Row ``("once", c)`` has the number of the class as its index.
    """

    def __init__(self, instance: Instance) -> None:
        self._classes = instance.class_numbers.tolist()

    def separate(self, solution: Solution, context: SeparationContext | None = None) -> Sequence[Row]:
        visits: dict[int, float] = {}
        for column, value in solution.columns:
            for v in column.structure:
                visits[self._classes[v]] = visits.get(self._classes[v], 0.0) + value
        return [self._row(c) for c, total in visits.items() if total > 1.0 + 1e-6]

    def _row(self, number: int) -> Row:
        classes = self._classes
        return Row(
            (ONCE, number),
            upper=1.0,
            coefficient=lambda column: float(sum(classes[v] == number for v in column.structure)),
        )
