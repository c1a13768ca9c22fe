"""Templates as fuzz subjects: each has a module that draws samples and returns truth and claims."""

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
    networks,
    nonlocal_trees,
    orders,
    paths,
    rolls,
    routes,
    second_order,
)
from tests.fuzz.judging import Claims, Failure, Fault, attempt, compare_runs, find_fault
from tests.fuzz.scores import Rng, Sample

LAWS = 0.1
"""Share of samples that are also solved in other units."""


@dataclass(frozen=True)
class TemplateSubject:
    """A template.

    Attributes
    ----------
    has_units
        Whether scaling by powers of two must not change the run.  It may if data must be integers, or if HiGHS solves
        the problem, whose results may differ in the last bits.
    """

    module: ModuleType
    has_units: bool = True
    key = "drawn"

    def draw(self, rng: Rng) -> Sample:
        """Draw an instance and settings."""
        sample: Sample = self.module.draw(rng)
        return sample

    def judge(self, sample: Sample) -> tuple[Failure | None, int]:
        """Return the failure of a sample, or None, and the number of its answers."""
        outcome = attempt(partial(self.module.evaluate, sample))
        if isinstance(outcome, Failure):
            return outcome, 1
        truths, claims = outcome
        return find_fault(truths, claims), len(truths.best)

    def draw_law(self, rng: Rng, sample: Sample) -> float | None:
        """Draw a power of two for some samples, else None."""
        return float(2.0 ** int(rng.integers(-30, 31))) if self.has_units and rng.random() < LAWS else None

    def judge_law(self, sample: Sample, law: float) -> tuple[Failure | None, int]:
        """Compare runs in two units that differ by a power of two: only units may differ."""
        larger = dataclasses.replace(sample, scale=sample.scale * law)
        here, there = (attempt(partial(self.module.evaluate, each)) for each in (sample, larger))
        if isinstance(here, Failure) or isinstance(there, Failure):
            return compare_runs(here, there), 1
        return _compare(here[1], there[1], law), len(here[0].best)

    def simplify(self, sample: Sample) -> Iterator[Sample]:
        """Yield smaller and simpler samples, the largest reductions first."""
        yield from self.module.simplify(sample)
        if sample.scale != 1.0:
            yield dataclasses.replace(sample, scale=1.0)
            rounded = 10.0 ** round(float(np.log10(sample.scale)))
            if rounded != sample.scale:
                yield dataclasses.replace(sample, scale=rounded)
        if any(sample.constants):
            yield dataclasses.replace(sample, constants=(0.0,) * len(sample.constants))
        if not self.has_units:
            return
        for name, array in sample.arrays.items():
            for digits in (0, 1, 3):
                plainer = np.round(array, digits)
                if not np.array_equal(plainer, array):
                    yield dataclasses.replace(sample, arrays={**sample.arrays, name: plainer})
            if array.size <= 300:
                for k in np.flatnonzero(array).tolist():
                    less = array.copy()
                    less.flat[k] = 0.0
                    yield dataclasses.replace(sample, arrays={**sample.arrays, name: less})

    def load(self, data: Mapping[str, Any]) -> Sample:
        """Load a sample from a replay file."""
        return Sample.from_dict(data)


def _compare(first: Claims, second: Claims, factor: float) -> Failure | None:
    if not (len(first.objective) and len(second.objective)):
        return None  # one truth is unknown
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
    **{m.NAME: TemplateSubject(m, False) for m in (colours, compacts, decompositions, networks, orders, rolls, routes)},
}
"""Subjects by name."""


def judge(sample: Sample) -> tuple[Failure | None, int]:
    """Judge a sample by its template."""
    return TEMPLATES[sample.template].judge(sample)
