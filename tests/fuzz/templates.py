"""Templates as subjects: each has a module that draws instances, knows the truth, and asks the template."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from tests.fuzz import (
    chains,
    clusters,
    colours,
    compacts,
    decompositions,
    machines,
    nonlocal_trees,
    orders,
    paths,
    rolls,
    routes,
    second_order,
)
from tests.fuzz.judging import Failure, Fault, Said, attempt, compare_runs, find_fault
from tests.fuzz.scores import Drawn, Rng

LAWS = 0.1
"""Share of instances that are also solved in other units."""


@dataclass(frozen=True)
class TemplateSubject:
    """A template.

    Attributes
    ----------
    has_units
        Whether its data may be counted in other units: whole numbers and decimals become other numbers, and where HiGHS
        finds the answers, their bits are its own affair.
    """

    module: ModuleType
    has_units: bool = True
    key = "drawn"

    def draw(self, rng: Rng) -> Drawn:
        """An instance and a way to solve it."""
        drawn: Drawn = self.module.draw(rng)
        return drawn

    def judge(self, drawn: Drawn) -> tuple[Failure | None, int]:
        """What is wrong with what is said of an instance, and of how many answers that is."""
        found = attempt(partial(self.module.ask, drawn))
        if isinstance(found, Failure):
            return found, 1
        truths, said = found
        return find_fault(truths, said), len(truths.best)

    def draw_law(self, rng: Rng, drawn: Drawn) -> float | None:
        """A power of two, for some of the instances."""
        return float(2.0 ** int(rng.integers(-30, 31))) if self.has_units and rng.random() < LAWS else None

    def judge_law(self, drawn: Drawn, law: float) -> tuple[Failure | None, int]:
        """Compare an instance with itself in units larger by a power of two: nothing but units may differ."""
        larger = dataclasses.replace(drawn, scale=drawn.scale * law)
        here, there = (attempt(partial(self.module.ask, each)) for each in (drawn, larger))
        if isinstance(here, Failure) or isinstance(there, Failure):
            return compare_runs(here, there), 1
        return _compare(here[1], there[1], law), len(here[0].best)

    def smaller(self, drawn: Drawn) -> Iterator[Drawn]:
        """Smaller and plainer instances, the most rewarding ones first."""
        yield from self.module.smaller(drawn)
        if drawn.scale != 1.0:
            yield dataclasses.replace(drawn, scale=1.0)
            rounded = 10.0 ** round(float(np.log10(drawn.scale)))
            if rounded != drawn.scale:
                yield dataclasses.replace(drawn, scale=rounded)
        if any(drawn.constants):
            yield dataclasses.replace(drawn, constants=(0.0,) * len(drawn.constants))
        if not self.has_units:
            return
        for name, array in drawn.arrays.items():
            for digits in (0, 1, 3):
                plainer = np.round(array, digits)
                if not np.array_equal(plainer, array):
                    yield dataclasses.replace(drawn, arrays={**drawn.arrays, name: plainer})
            if array.size <= 300:
                for k in np.flatnonzero(array).tolist():
                    less = array.copy()
                    less.flat[k] = 0.0
                    yield dataclasses.replace(drawn, arrays={**drawn.arrays, name: less})

    def load(self, data: Mapping[str, Any]) -> Drawn:
        """An instance from a replay file."""
        return Drawn.from_dict(data)


def _compare(first: Said, second: Said, factor: float) -> Failure | None:
    if not (len(first.objective) and len(second.objective)):
        return None  # of one of them nothing is known
    if first.proved is not second.proved:
        return Failure(Fault.LAW, f"proved {first.proved} becomes {second.proved}")
    for name in ("worth", "objective", "bound"):
        before, after = getattr(first, name) * factor, getattr(second, name)
        if not np.array_equal(before, after):
            k = int(np.flatnonzero(before != after)[0])
            return Failure(Fault.LAW, f"{name} {before[k]!r} becomes {after[k]!r} in units {factor:g} times as large")
    return None


TEMPLATES = {
    **{m.NAME: TemplateSubject(m) for m in (chains, clusters, machines, nonlocal_trees, paths, second_order)},
    **{m.NAME: TemplateSubject(m, False) for m in (colours, compacts, decompositions, orders, rolls, routes)},
}
"""By name."""


def judge(drawn: Drawn) -> tuple[Failure | None, int]:
    """Judge an instance of the template that it names."""
    return TEMPLATES[drawn.template].judge(drawn)
