"""Generalized assignment: data that validates itself, files, generators."""

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
"""What exceeds the least cost of its task by so many times what is ordinary is a penalty."""

_FIRST = 64
"""So many costs are looked at before all of them."""


_COMMON = 2.0**10
"""Costs so many times as large as what the machines of a task differ by have that much in common."""


@dataclass(frozen=True, eq=False)
class AssignmentInstance:
    """Tasks, and machines that do them.

    Parameters
    ----------
    costs
        Shape (machines, tasks): what a machine charges for a task.
    sizes
        Likewise: how much of its capacity it needs for it, whole and not negative.
    capacities
        Of each machine, whole and not negative.
    reading
        How a file was read where it could be read otherwise, in a few words.

    Raises
    ------
    InputError
        If the data is none of this, or capacities are so large that tables over them would not fit into the memory.
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
            raise InputError(f"expected a machine and a task at the least, not costs of shape {costs.shape}")
        for name, array in (("costs", costs), ("sizes", sizes), ("capacities", capacities)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "name", str(self.name))
        room = self.in_units[1]
        if (int(room.max()) + 1) * (costs.shape[1] + 1) > LARGEST_TABLE:
            largest = LARGEST_TABLE // (costs.shape[1] + 1) - 1
            raise InputError(
                f"expected capacities of at most {largest:,} for {costs.shape[1]:,} tasks, in units of what all sizes "
                f"of the machine are multiples of, not {int(room.max()):,}"
            )

    @property
    def num_machines(self) -> int:
        """Machines have the numbers from 0."""
        return len(self.costs)

    @property
    def num_tasks(self) -> int:
        """Tasks have the numbers from 0."""
        return int(self.costs.shape[1])

    @cached_property
    def in_units(self) -> tuple[Ints, Ints]:
        """Sizes and capacities that mean the same, in the units of each machine, and no larger than they need be."""
        units = np.maximum(np.gcd.reduce(self.sizes, axis=1), 1)
        sizes = self.sizes // units[:, None]
        room = self.capacities // units
        fitting = np.where(sizes <= room[:, None], sizes, 0)
        # More room than all tasks need is no use.
        totals = np.array([sum(row) for row in fitting.tolist()], dtype=object)
        room = np.array([min(int(c), int(t)) for c, t in zip(room, totals, strict=True)], dtype=np.int64)
        return np.ascontiguousarray(np.where(self.sizes <= self.capacities[:, None], sizes, room[:, None] + 1)), room

    @cached_property
    def step(self) -> float | None:
        """What every answer's cost is a multiple of, in any units; None if sums of costs may be rounded."""
        ratios = [cost.as_integer_ratio() for cost in self.costs.ravel().tolist()]
        for some in (ratios[:_FIRST], ratios):  # the first ones tell most
            unit = max(divisor for _, divisor in some)
            numbers = [number * (unit // divisor) for number, divisor in some]
            common = math.gcd(*numbers) or 1
            if sum(map(abs, numbers)) >= EXACT * common:
                return None
        return common / unit

    @cached_property
    def penalties(self) -> NDArray[np.bool_]:
        """Which costs are so far above the others that they mean: only if it must be; shape (machines, tasks)."""
        fits = self.fits()
        more = self.costs - np.where(fits, self.costs, np.inf).min(axis=0)
        above = more[fits & (more > 0.0)]
        least = np.abs(self.costs[fits & (more <= 0.0)]).max(initial=0.0)
        ordinary = [size for size in (float(np.median(above)) if len(above) else 0.0, float(least)) if size > 0.0]
        return np.asarray(fits & (more > _PENALTY * min(ordinary, default=math.inf)))

    @cached_property
    def scale(self) -> float | None:
        """What differences of costs are relative to where costs cancel out, or have much in common.

        None: the answers themselves tell.
        """
        return self.scale_among(self.fits() & ~self.penalties)

    def scale_among(self, ordinary: NDArray[np.bool_]) -> float | None:
        """The same where only some of the costs count, shape (machines, tasks)."""
        costs = self.costs[ordinary]
        more = (self.costs - np.where(ordinary, self.costs, np.inf).min(axis=0))[ordinary]
        cancel = (costs < 0.0).any() and (costs > 0.0).any()
        if not cancel and not 0.0 < _COMMON * more.max(initial=0.0) < np.abs(costs).max(initial=0.0):
            return None
        if not more.any():
            return power_of_two(costs)
        return power_of_two(max(float(more.max()), COMMON * float(np.abs(costs).max())))  # rounding is not told apart

    def fits(self) -> NDArray[np.bool_]:
        """Which machine has room for which task by itself, shape (machines, tasks)."""
        return np.asarray(self.sizes <= self.capacities[:, None])

    def objective(self, answer: Sequence[int]) -> float:
        """What an answer costs, the machine of each task."""
        return math.fsum(self.costs[list(answer), range(self.num_tasks)].tolist())

    def check(self, answer: Sequence[int]) -> float:
        """What an answer costs, after checking it from the data alone.

        Parameters
        ----------
        answer
            The machine of each task.

        Raises
        ------
        ValueError
            If it is not an answer; the message says why.
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
"""Files of the OR-Library whose numbers are profits; they look like those of costs."""


def read(path: Path | str, *, problem: int | None = None, sense: str | None = None) -> AssignmentInstance:
    """Read the format of the OR-Library: machines, tasks; costs and sizes, machine by machine; capacities.

    Numbers stand in this order, with any spaces and line breaks between them.  A file may begin with the number of
    problems that it holds, as those of the OR-Library do.  Profits, which are maximised, become negative costs.

    Parameters
    ----------
    problem
        Which of a file's problems, from 1; None: the first.
    sense
        ``"min"``: the file holds costs; ``"max"``: profits; None: profits in the OR-Library's gap1 to gap12, by the
        name of the file, costs in all others.

    Raises
    ------
    InputError
        With the file, where it is something else.
    """
    path = Path(path)
    if sense not in (None, "min", "max"):
        raise InputError(f"sense: expected 'min' or 'max', not {sense[:20]!r}")
    words = read_text(path).split()
    starts = _problems(words)
    alone = len(words) >= 2 and _length(words, 0) == len(words)
    if starts and alone:
        raise InputError(
            f"{path}: these numbers are one problem, and {len(starts)} problems as well: begin a file of one problem "
            "with a line 1"
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
        raise InputError(f"{path}: expected problem 1, the file holds no other, not {problem}")
    counts = [_number(path, what, word) for what, word in zip(("machines", "tasks"), words[at:], strict=False)]
    if len(counts) < 2 or any(count < 1 or count != int(count) for count in counts):
        raise InputError(f"{path}: expected the numbers of machines and tasks first, not {' '.join(words[:2])[:40]!r}")
    machines, tasks = (int(count) for count in counts)
    expected = 2 + 2 * machines * tasks + machines
    if not starts and not alone:
        raise InputError(
            f"{path}: expected {expected:,} numbers for {machines} machines and {tasks} tasks (costs, sizes, "
            f"capacities), or several problems behind their number, not {len(words):,}"
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
    """How many numbers a problem has that begins at a place; 0 where none can."""
    pair = words[at : at + 2]
    if len(pair) < 2 or not all(re.fullmatch("0*[1-9][0-9]{0,8}", word) for word in pair):
        return 0
    machines, tasks = map(int, pair)
    return 2 + 2 * machines * tasks + machines


def _problems(words: Sequence[str]) -> list[int]:
    """Where each problem of a file begins whose first number is how many there are; none if it is no such file."""
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
        lines += [" ".join(_written(number) for number in row) for row in rows.tolist()]
    write_text(path, "\n".join(lines) + "\n")


def _written(number: Any) -> str:
    return str(int(number)) if number == int(number) and abs(number) < EXACT else repr(number)


# --- generators ------------------------------------------------------------------------------------------------------


def random(num_machines: int, num_tasks: int, seed: int, *, kind: str = "D") -> AssignmentInstance:
    """Random numbers as in the literature (Chu and Beasley, 1997).

    Parameters
    ----------
    kind
        ``"C"``: costs have nothing to do with sizes; ``"D"``: large tasks are cheap, which is hard.
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
