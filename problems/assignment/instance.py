"""Instances of generalized assignment: validated data, files, generators."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.files import read_text, write_text
from colgen.core.numbers import numbers_of
from colgen.core.tolerances import COMMON
from colgen.solvers.arrays import EXACT, ArrayError, as_floats, as_integers
from colgen.solvers.packing.zero_one import LARGEST_TABLE
from colgen.solvers.scaling import power_of_two

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PENALTY = 1e4
"""A cost that exceeds the least one of its task by this many times an ordinary difference is a penalty."""

_FIRST = 64
"""Number of costs that are tried before all of them."""


_COMMON = 2.0**10
"""Costs have a large common part if they exceed the differences between machines by this factor."""


@dataclass(frozen=True, eq=False)
class AssignmentInstance:
    """An instance of generalized assignment: tasks, and machines of limited capacity.

    Parameters
    ----------
    costs
        Cost of each task on each machine, shape (machines, tasks).
    sizes
        Capacity that each task needs on each machine, nonnegative integers, shape (machines, tasks).
    capacities
        Capacity of each machine, a nonnegative integer.
    reading
        How an ambiguous file was interpreted, in a few words.

    Raises
    ------
    InputError
        If the data is invalid, or tables over the capacities would exhaust memory.
    """

    costs: Floats
    sizes: Ints
    capacities: Ints
    name: str = ""
    reading: str = ""

    def __post_init__(self) -> None:
        try:
            costs = as_floats(self.costs, "costs", shape=(None, None)).copy()
            sizes = as_integers(self.sizes, "sizes", shape=costs.shape, low=0).copy()
            capacities = as_integers(self.capacities, "capacities", shape=(len(costs),), low=0).copy()
        except ArrayError as error:
            raise InputError(str(error)) from None
        if not costs.size:
            raise InputError(f"expected at least one machine and one task, not costs of shape {costs.shape}")
        for name, array in (("costs", costs), ("sizes", sizes), ("capacities", capacities)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "name", str(self.name))
        room = self.in_units[1]
        if (int(room.max()) + 1) * (costs.shape[1] + 1) > LARGEST_TABLE:
            largest = LARGEST_TABLE // (costs.shape[1] + 1) - 1
            raise InputError(
                f"expected capacities of at most {largest:,} for {costs.shape[1]:,} tasks, in units of the sizes' "
                f"common divisor, not {int(room.max()):,}"
            )

    @property
    def num_machines(self) -> int:
        """Number of machines, which are numbered from 0."""
        return len(self.costs)

    @property
    def num_tasks(self) -> int:
        """Number of tasks, which are numbered from 0."""
        return int(self.costs.shape[1])

    @cached_property
    def in_units(self) -> tuple[Ints, Ints]:
        """Equivalent sizes and capacities: divided by a common divisor per machine, and reduced where possible."""
        units = np.maximum(np.gcd.reduce(self.sizes, axis=1), 1)
        sizes = self.sizes // units[:, None]
        room = self.capacities // units
        fitting = np.where(sizes <= room[:, None], sizes, 0)
        # Capacity beyond the total size is useless.
        totals = np.array([sum(row) for row in fitting.tolist()], dtype=object)
        room = np.array([min(int(c), int(t)) for c, t in zip(room, totals, strict=True)], dtype=np.int64)
        return np.ascontiguousarray(np.where(self.sizes <= self.capacities[:, None], sizes, room[:, None] + 1)), room

    @cached_property
    def step(self) -> float | None:
        """The greatest common divisor of the costs, which divides every objective.  None if sums may be rounded."""
        ratios = [cost.as_integer_ratio() for cost in self.costs.ravel().tolist()]
        for some in (ratios[:_FIRST], ratios):  # the first ones usually decide
            unit = max(divisor for _, divisor in some)
            numbers = [number * (unit // divisor) for number, divisor in some]
            common = math.gcd(*numbers) or 1
            if sum(map(abs, numbers)) >= EXACT * common:
                return None
        return common / unit

    @cached_property
    def penalties(self) -> NDArray[np.bool_]:
        """Mask of assignments whose costs far exceed the others and so serve as penalties, shape (machines, tasks)."""
        fits = self.fits()
        more = self.costs - np.where(fits, self.costs, np.inf).min(axis=0)
        above = more[fits & (more > 0.0)]
        least = np.abs(self.costs[fits & (more <= 0.0)]).max(initial=0.0)
        ordinary = [size for size in (float(np.median(above)) if len(above) else 0.0, float(least)) if size > 0.0]
        return np.asarray(fits & (more > _PENALTY * min(ordinary, default=math.inf)))

    @cached_property
    def scale(self) -> float | None:
        """Scale of cost differences; None unless costs have both signs or a large common part."""
        return self.scale_among(self.fits() & ~self.penalties)

    def scale_among(self, ordinary: NDArray[np.bool_]) -> float | None:
        """Return :attr:`scale` for the costs in a mask, shape (machines, tasks)."""
        costs = self.costs[ordinary]
        more = (self.costs - np.where(ordinary, self.costs, np.inf).min(axis=0))[ordinary]
        cancel = (costs < 0.0).any() and (costs > 0.0).any()
        if not cancel and not 0.0 < _COMMON * more.max(initial=0.0) < np.abs(costs).max(initial=0.0):
            return None
        if not more.any():
            return power_of_two(costs)
        return power_of_two(max(float(more.max()), COMMON * float(np.abs(costs).max())))  # above rounding errors

    def fits(self) -> NDArray[np.bool_]:
        """Return the mask of assignments whose task alone fits on its machine, shape (machines, tasks)."""
        return np.asarray(self.sizes <= self.capacities[:, None])

    def objective(self, answer: Sequence[int]) -> float:
        """Return the cost of an assignment."""
        return math.fsum(self.costs[list(answer), range(self.num_tasks)].tolist())

    def check(self, answer: Sequence[int]) -> float:
        """Return the cost of an assignment after validating it against the data.

        Parameters
        ----------
        answer
            The machine of each task.

        Raises
        ------
        ValueError
            If the assignment is infeasible; the message gives the reason.
        """
        machines = numbers_of(answer, "a machine for each task")
        if len(machines) != self.num_tasks:
            raise ValueError(f"{len(machines)} tasks have a machine, there are {self.num_tasks}")
        loads = [0] * self.num_machines
        for task, machine in enumerate(machines):
            if not 0 <= machine < self.num_machines:
                raise ValueError(f"task {task} is given to machine {machine}, expected 0 to {self.num_machines - 1}")
            loads[machine] += int(self.sizes[machine, task])
        for machine, load in enumerate(loads):
            if load > self.capacities[machine]:
                raise ValueError(f"machine {machine} has room for {self.capacities[machine]}, its tasks need {load}")
        return self.objective(machines)


# --- files -----------------------------------------------------------------------------------------------------------


_MAXIMISED = {f"gap{k}" for k in range(1, 13)}
"""OR-Library files with profits; they have the same format as files with costs."""


def read(path: Path | str, *, problem: int | None = None, sense: str | None = None) -> AssignmentInstance:
    """Read an instance in the OR-Library format.

    The file has the numbers of machines and tasks, the costs machine by machine, the sizes in the same order, and the
    capacities, separated by any white space.  It may begin with its number of problems, as the OR-Library's files do.
    Profits, which are maximised, become negative costs.

    Parameters
    ----------
    problem
        Number of the problem in the file, from 1; None: the first.
    sense
        ``"min"``: the file has costs.  ``"max"``: it has profits.  None: it has profits if it is named gap1 to gap12,
        as in the OR-Library, else costs.

    Raises
    ------
    InputError
        If the file is malformed; the message names it.
    """
    path = Path(path)
    if sense not in (None, "min", "max"):
        raise InputError(f"sense: expected 'min' or 'max', not {sense[:20]!r}")
    words = read_text(path).split()
    starts = _problem_starts(words)
    alone = len(words) >= 2 and _length(words, 0) == len(words)
    if starts and alone:
        raise InputError(
            f"{path}: the numbers can be one problem or {len(starts)} problems: begin a file with one problem with a "
            "line 1"
        )
    at, reading = 0, []
    if starts:
        number = 1 if problem is None else problem
        if not 1 <= number <= len(starts):
            raise InputError(f"{path}: expected a problem from 1 to {len(starts)}, not {number}")
        at = starts[number - 1]
        reading.append(
            f"problem {number} of {len(starts)}" + (" (--option problem=K for another)" if len(starts) > 1 else "")
        )
    elif problem not in (None, 1):
        raise InputError(f"{path}: expected problem 1, the only one in the file, not {problem}")
    counts = [_number(path, what, word) for what, word in zip(("machines", "tasks"), words[at:], strict=False)]
    if len(counts) < 2 or any(count < 1 or count != int(count) for count in counts):
        raise InputError(f"{path}: expected the numbers of machines and tasks first, not {' '.join(words[:2])[:40]!r}")
    machines, tasks = (int(count) for count in counts)
    expected = 2 + 2 * machines * tasks + machines
    if not starts and not alone:
        raise InputError(
            f"{path}: expected {expected:,} numbers for {machines} machines and {tasks} tasks (costs, sizes, "
            f"capacities), or the number of problems and then the problems, not {len(words):,}"
        )
    numbers = [_number(path, "numbers", word) for word in words[at + 2 : at + expected]]
    size = machines * tasks
    costs = np.array(numbers[:size], dtype=np.float64).reshape(machines, tasks)
    if sense == "max" or (sense is None and path.stem.lower() in _MAXIMISED):
        costs = 0.0 - costs
        reading.append("profits are maximised, as negative costs" + ("" if sense else ": gap1 to gap12 hold profits"))
    elif starts or sense:
        reading.append("costs are minimised")
    name = f"{path.stem}-{number}" if len(starts) > 1 else path.stem
    try:
        return AssignmentInstance(
            costs,
            np.array(numbers[size : 2 * size]).reshape(machines, tasks),
            np.array(numbers[2 * size :]),
            name,
            "; ".join(reading),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _length(words: Sequence[str], at: int) -> int:
    """Return how many numbers the problem at a position has; 0 if no problem can begin there."""
    pair = words[at : at + 2]
    if len(pair) < 2 or not all(re.fullmatch("0*[1-9][0-9]{0,8}", word) for word in pair):
        return 0
    machines, tasks = map(int, pair)
    return 2 + 2 * machines * tasks + machines


def _problem_starts(words: Sequence[str]) -> list[int]:
    """Return where each problem begins in a file that starts with their number; empty if it does not."""
    if not words or not re.fullmatch("0*[1-9][0-9]{0,5}", words[0]):
        return []
    starts, at = [], 1
    for _ in range(int(words[0])):
        length = _length(words, at)
        if not length or at + length > len(words):
            return []
        starts.append(at)
        at += length
    return starts if at == len(words) else []


def _number(path: Path, what: str, word: str) -> float:
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{path}: expected {what}, not {word[:20]!r}")
    return number


def write(instance: AssignmentInstance, path: Path | str) -> None:
    """Write the format that :func:`read` reads."""
    lines = [f"{instance.num_machines} {instance.num_tasks}"]
    for rows in (instance.costs, instance.sizes, instance.capacities[None, :]):
        lines += [" ".join(_format(number) for number in row) for row in rows.tolist()]
    write_text(path, "\n".join(lines) + "\n")


def _format(number: Any) -> str:
    return str(int(number)) if number == int(number) and abs(number) < EXACT else repr(number)


# --- generators ------------------------------------------------------------------------------------------------------


def random(num_machines: int, num_tasks: int, seed: int, *, kind: str = "D") -> AssignmentInstance:
    """Return a random instance of a kind in the literature (Chu and Beasley, 1997).

    Parameters
    ----------
    kind
        ``"C"``: costs are independent of sizes.  ``"D"``: large tasks are cheap, which makes the instance hard.
    """
    rng = np.random.default_rng(seed)
    shape = (num_machines, num_tasks)
    if kind == "C":
        sizes, costs = rng.integers(5, 26, shape), rng.integers(10, 51, shape)
        capacities = (0.8 * sizes.sum(axis=1) / num_machines).astype(np.int64)
    elif kind == "D":
        sizes = rng.integers(1, 101, shape)
        costs = 111 - sizes + rng.integers(-10, 11, shape)
        capacities = np.full(num_machines, round(0.8 * sizes.sum() / num_machines**2))
    else:
        raise InputError(f"kind: expected 'C' or 'D', not {kind!r}")
    name = f"random-{kind}-{num_machines}-{num_tasks}-{seed}"
    return AssignmentInstance(costs.astype(np.float64), sizes, capacities, name)
