"""Paths of k vertices on the engine; copy or subclass it for similar problems."""

from __future__ import annotations

from collections.abc import Sequence

from colgen import Method, Pricing, Problem, Row, Separation, SeparationContext, Solution, WarmStart
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.problems.title_path.bound import Memory
from colgen.problems.title_path.instance import Path, PathInstance, check_path
from colgen.problems.title_path.master import ONCE, WalkDuals, WalkMaster
from colgen.problems.title_path.pricing import WalkPricing
from colgen.problems.title_path.proof import PathCertifier
from colgen.problems.title_path.search import InitialSearch


class TitlePath(Problem[Path]):
    """Find the heaviest path of k vertices of different classes by row generation over walks.

    The answer is a tuple of vertices.
    """

    def __init__(self, instance: PathInstance) -> None:
        self.instance = instance

    @property
    def scale(self) -> float:  # type: ignore[override]
        """The scale of the weights after subtracting what all paths have in common."""
        return self.instance.scaled.scale

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return penalties λ from an ascent, which give a good bound, and a good path."""
        start = InitialSearch(self.instance.scaled, lambda: budget.expired)
        return WarmStart(WalkDuals(start.relaxed.penalties, path=start.path))

    def master(self) -> WalkMaster:
        return WalkMaster(self.instance)

    def pricing(self) -> Pricing | Sequence[Pricing]:
        return WalkPricing(self.instance)

    def separation(self) -> Sequence[Separation]:
        return (RepeatedClasses(self.instance),)

    def method(self) -> Method:
        return Method(bounding=Memory(), heuristics=())  # the oracle's dynamic programs find paths

    def answer(self, solution: Solution) -> Path:
        ((column, _),) = solution.columns
        path: Path = column.structure
        return path

    def check(self, answer: Path) -> float:
        return check_path(self.instance, answer)

    def certifier(self) -> Certifier:
        return PathCertifier(self.instance)


class RepeatedClasses(Separation):
    """Σ_p (visits of class c by p) x_p ≤ 1 for each class c; exact for the single walk that the master chooses.

    Row ``("once", c)`` has the number of the class as its index.
    """

    def __init__(self, instance: PathInstance) -> None:
        self._classes = instance.class_numbers.tolist()

    def restore(self, key: Key, lower: float, upper: float) -> Row | None:
        return self._row(key[1]) if key[0] == ONCE and isinstance(key[1], int) else None

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
