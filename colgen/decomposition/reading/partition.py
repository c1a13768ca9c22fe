"""Which variables and rows make a block: said by the model's own blocks, by an index, by a suffix, by a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo

from colgen.core.errors import InputError
from colgen.decomposition.reading.arrays import Ints, Reading

SUFFIX = "colgen_block"
"""The suffix of a model that names the block of a constraint, a variable or a ``pyo.Block``."""

MASTER = -1
"""In place of a block: stays in the master."""

By = str | Callable[[Any], Hashable | None] | Any


@dataclass(frozen=True, eq=False)
class Partition:
    """The block of each variable and of each row.

    Attributes
    ----------
    names
        Of the blocks.
    of_column, of_row
        Their numbers; :data:`MASTER` for what stays in the master.
    """

    names: tuple[Hashable, ...]
    of_column: Ints
    of_row: Ints

    @property
    def linking(self) -> Ints:
        """The rows of the master."""
        return np.flatnonzero(self.of_row == MASTER)


def partition(reading: Reading, by: By = None) -> Partition:
    """The blocks of a model.

    Parameters
    ----------
    by
        None: the model's suffix ``colgen_block``, or else its ``pyo.Block`` components.  A name of an index set, or the
        set: every variable that carries it belongs to the block of its index.  A function from constraints to the name
        of a block, or None for a linking constraint.

    Raises
    ------
    InputError
        If that names nothing, or does not leave a block.
    """
    if by is None:
        suffix = reading.model.component(SUFFIX)
        if suffix is not None:
            return _by_suffix(reading, suffix)
        return _by_columns(reading, _model_blocks(reading), "the model has no pyo.Block with variables of its own")
    if isinstance(by, str) or hasattr(by, "is_indexed"):
        return _by_columns(reading, _carried(reading, by), f"no variable of the model carries the index {_named(by)}")
    if callable(by):
        return _by_rows(reading, [by(constraint) for constraint in reading.constraints], {}, "by")
    raise InputError(f"by: expected the name of an index, a function of constraints, or None, not {by!r}")


def says_blocks(reading: Reading) -> bool:
    """Whether a model says its blocks itself: by a suffix, or by blocks with variables."""
    return reading.model.component(SUFFIX) is not None or any(map(_outermost, reading.variables))


def _named(by: Any) -> str:
    return repr(by if isinstance(by, str) else by.name)


def _by_columns(reading: Reading, labels: Sequence[Hashable | None], nothing: str) -> Partition:
    """Rows follow their variables: a row is of a block if all of its variables are."""
    names = tuple(dict.fromkeys(label for label in labels if label is not None))
    if not names:
        raise InputError(f"expected blocks to decompose into: {nothing}")
    number = {name: k for k, name in enumerate(names)}
    columns = np.array([MASTER if label is None else number[label] for label in labels], dtype=np.int64)
    return _leaving_blocks(Partition(names, columns, _rows_of(reading, columns)))


def _rows_of(reading: Reading, columns: Ints) -> Ints:
    """The one block of all variables of each row."""
    matrix = reading.rows
    counts = np.diff(matrix.indptr)
    rows = np.full(matrix.shape[0], MASTER)
    some = np.flatnonzero(counts)
    if len(some):
        blocks = columns[matrix.indices]
        least = np.minimum.reduceat(blocks, matrix.indptr[some])
        most = np.maximum.reduceat(blocks, matrix.indptr[some])
        rows[some] = np.where(least == most, least, MASTER)
    return rows


def _by_rows(
    reading: Reading, labels: Sequence[Hashable | None], of_variables: dict[int, Hashable], what: str
) -> Partition:
    """Variables follow their rows: one is of the block whose rows it is in."""
    given = [*labels, *of_variables.values()]
    for label in given:
        try:
            hash(label)
        except TypeError:
            raise InputError(
                f"{what}: expected blocks named by numbers, words or tuples of them, not {repr(label)[:40]}"
            ) from None
    names = tuple(dict.fromkeys(label for label in given if label is not None))
    if not names:
        raise InputError(f"expected blocks to decompose into: {what} names none")
    number = {name: k for k, name in enumerate(names)}
    columns = np.full(len(reading.variables), MASTER)
    for k, label in of_variables.items():
        columns[k] = number[label]
    matrix = reading.rows
    rows = np.array([MASTER if label is None else number[label] for label in labels], dtype=np.int64)
    for row in np.flatnonzero(rows != MASTER).tolist():
        mine = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        other = mine[(columns[mine] != MASTER) & (columns[mine] != rows[row])]
        if len(other):
            raise InputError(
                f"expected a variable in one block at most: {reading.names[other[0]]!r} is in "
                f"{names[columns[other[0]]]!r} and in {names[rows[row]]!r}, by constraint "
                f"{reading.constraints[row].name!r}"
            )
        columns[mine] = rows[row]
    if of_variables:  # rows that nothing is said of follow their variables
        follow = _rows_of(reading, columns)
        rows = np.where(rows == MASTER, follow, rows)
    return _leaving_blocks(Partition(names, columns, rows))


def _leaving_blocks(found: Partition) -> Partition:
    counts = np.bincount(found.of_column[found.of_column != MASTER], minlength=len(found.names))
    if not counts.all():
        empty = found.names[int(np.argmin(counts))]
        raise InputError(f"expected variables in every block: {empty!r} has none that is not fixed")
    return found


# --- an index --------------------------------------------------------------------------------------------------------


def _carried(reading: Reading, by: Any) -> list[Hashable | None]:
    """What each variable carries of an index set."""
    places: dict[int, slice | None] = {}

    def place_in(component: Any) -> slice | None:
        if id(component) not in places:
            places[id(component)] = _place(component, by)
        return places[id(component)]

    def of(member: Any, index: Hashable) -> Hashable | None:
        place = place_in(member.parent_component())
        if place is not None:
            return _part(index, place)
        holder = member.parent_block()
        return None if holder is None or holder is reading.model else of(holder, holder.index())

    keys = reading.formulation.column_keys
    return [of(variable, index) for variable, (_, index) in zip(reading.variables, keys, strict=True)]


def _part(index: Any, place: slice) -> Hashable:
    """What stands at a place of an index."""
    part = (index if isinstance(index, tuple) else (index,))[place]
    return part[0] if len(part) == 1 else part


def _place(component: Any, by: Any) -> slice | None:
    """Where an index set stands in the indices of a component."""
    if not component.is_indexed():
        return None
    found, start = [], 0
    for part in component.index_set().subsets():
        if part.dimen is None:
            return None
        if part is by or (isinstance(by, str) and by in (part.name, part.local_name)):
            found.append(slice(start, start + part.dimen))
        start += part.dimen
    if len(found) > 1:
        raise InputError(
            f"by: expected an index that a variable carries once, {component.name!r} carries {_named(by)} twice: say "
            "by=function of constraints"
        )
    return found[0] if found else None


# --- the model's blocks and annotations ------------------------------------------------------------------------------


def _model_blocks(reading: Reading) -> list[Hashable | None]:
    """The outermost ``pyo.Block`` of each variable."""
    return [_outermost(variable) for variable in reading.variables]


def _outermost(variable: Any) -> str | None:
    """The block of the model that holds a variable; None if that is the model itself."""
    holder, block = variable.parent_block(), None
    while holder.parent_block() is not None:
        holder, block = holder.parent_block(), holder
    return None if block is None else str(block.name)


def _by_suffix(reading: Reading, suffix: Any) -> Partition:
    """Labels of constraints and variables, and of the blocks that hold them."""
    labels: dict[int, Hashable] = {}
    for component, label in suffix.items():
        if component is None:
            raise InputError(
                f"expected the suffix {SUFFIX!r} to name the block of each constraint or variable: a default for all "
                f"others, {SUFFIX}[None], is none"
            )
        members = list(component.values()) if component.is_indexed() else [component]
        labels.update({id(member): label for member in members})
        held = []
        for member in members:
            if member.ctype is pyo.Block:
                for kind in (pyo.Var, pyo.Constraint):
                    held += member.component_data_objects(kind, active=True)
        labels.update({id(each): label for each in held})
        named = [each for each in (*members, *held) if each.ctype in (pyo.Var, pyo.Constraint)]
        if component.model() is not reading.model or not named:
            raise InputError(
                f"expected the suffix {SUFFIX!r} to name constraints, variables, or blocks that hold some, of this "
                f"model: {component.name!r} is none of them"
            )
    rows = [labels.get(id(constraint)) for constraint in reading.constraints]
    columns = {k: labels[id(v)] for k, v in enumerate(reading.variables) if id(v) in labels}
    return _by_rows(reading, rows, columns, f"the suffix {SUFFIX!r}")
