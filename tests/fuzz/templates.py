"""All templates from one seed: what was run, and what failed."""

from __future__ import annotations

import dataclasses
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
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
from tests.fuzz.answers import Said, held_against
from tests.fuzz.engine.campaign import Tally, numbers
from tests.fuzz.engine.judging import Failure, Fault
from tests.fuzz.scores import Drawn

TEMPLATES: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
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
}

_WITHOUT_UNITS = (rolls.NAME, orders.NAME, colours.NAME, routes.NAME, compacts.NAME, decompositions.NAME)
"""Templates whose data are whole numbers, or are counted in decimals: other units are other numbers.

And those whose answers HiGHS finds, whose bits are its own affair.
"""

_LAWS = 0.1
"""Share of instances that are also solved in other units."""


def fuzz_template(
    name: str,
    seed: int,
    *,
    count: int | None = None,
    seconds: float | None = None,
    shrinking: float = 5.0,
    say: Callable[[str], None] = lambda line: None,
) -> Tally:
    """Solve random instances of a template until there were ``count`` answers, or for so many seconds."""
    module, tally, known = TEMPLATES[name], Tally(), set[str]()
    for number in numbers(None, seconds):
        if count is not None and tally.runs >= count:
            break
        rng = np.random.default_rng([seed, number])
        drawn = module.draw(rng)
        failure, answers = judge(drawn)
        tally.runs += answers
        factor = None
        if failure is None and name not in _WITHOUT_UNITS and rng.random() < _LAWS:
            factor = float(2.0 ** int(rng.integers(-30, 31)))
            failure = judge_law(drawn, factor)
            tally.runs += answers
        if failure is None:
            continue
        alike = failure.words[:24]
        if shrinking and factor is None and alike not in known:
            known.add(alike)
            drawn, failure = shrink(drawn, failure, shrinking)
        say(f"{name}, seed {seed}, instance {number}: {failure.fault.value}: {failure.words}")
        tally.take(failure, {"what": name, "seed": [seed, number], "drawn": drawn.to_dict(), "law": factor})
    return tally


def judge(drawn: Drawn) -> tuple[Failure | None, int]:
    """Solve an instance; what is wrong with what is said of it, and of how many answers that is."""
    judged = _judged(drawn)
    if isinstance(judged, Failure):
        return judged, 1
    truths, said = judged
    return held_against(truths, said), len(truths.best)


def _judged(drawn: Drawn) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return TEMPLATES[drawn.template].judged(drawn)
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{where.filename.rsplit('/', 1)[-1]}:{where.name}"
        return Failure(Fault.FALSE_ALARM, f"{type(error).__name__} in {at}: {error}"[:400])


def judge_law(drawn: Drawn, factor: float) -> Failure | None:
    """Hold an instance against itself in units larger by a power of two: nothing but units may differ."""
    here, there = _judged(drawn), _judged(dataclasses.replace(drawn, scale=drawn.scale * factor))
    if isinstance(here, Failure) or isinstance(there, Failure):
        if isinstance(here, Failure) and isinstance(there, Failure):
            return None
        return Failure(Fault.LAW, f"one run fails: {here if isinstance(here, Failure) else there}"[:400])
    first: Said = here[1]
    second: Said = there[1]
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


def shrink(drawn: Drawn, failure: Failure, seconds: float) -> tuple[Drawn, Failure]:
    """The smallest instance found that fails in the same manner."""
    deadline = time.monotonic() + seconds
    again = True
    while again and time.monotonic() < deadline:
        again = False
        for candidate in _candidates(drawn):
            found, _ = judge(candidate)
            if found is not None and found.fault is failure.fault and found.words[:12] == failure.words[:12]:
                drawn, failure, again = candidate, found, True
                break
            if time.monotonic() > deadline:
                break
    return drawn, failure


def replay_template(data: dict[str, Any]) -> Failure | None:
    """Solve an instance from its file again."""
    drawn = Drawn.from_dict(data["drawn"])
    return judge_law(drawn, data["law"]) if data.get("law") else judge(drawn)[0]


def _candidates(drawn: Drawn) -> Iterator[Drawn]:
    yield from TEMPLATES[drawn.template].smaller(drawn)
    if drawn.scale != 1.0:
        yield dataclasses.replace(drawn, scale=1.0)
        rounded = 10.0 ** round(float(np.log10(drawn.scale)))
        if rounded != drawn.scale:
            yield dataclasses.replace(drawn, scale=rounded)
    if any(drawn.constants):
        yield dataclasses.replace(drawn, constants=(0.0,) * len(drawn.constants))
    for name, array in drawn.arrays.items():
        if drawn.template in _WITHOUT_UNITS:
            return
        for digits in (0, 1, 3):
            plainer = np.round(array, digits)
            if not np.array_equal(plainer, array):
                yield dataclasses.replace(drawn, arrays={**drawn.arrays, name: plainer})
        if array.size <= 300:
            for k in np.flatnonzero(array).tolist():
                less = array.copy()
                less.flat[k] = 0.0
                yield dataclasses.replace(drawn, arrays={**drawn.arrays, name: less})
