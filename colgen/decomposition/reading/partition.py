"""The blocks of a model, defined by pyo.Block components, an index set, a suffix or a function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import pyomo.environ as pyo

from colgen.core.columns import Key
from colgen.core.errors import InputError
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Ints, Partition, PyomoSource

SUFFIX = "colgen_block"
"""The suffix that names the block of a constraint, a variable or a ``pyo.Block``."""

By = str | Callable[[Any], Hashable | None] | Any


def partition(compact: CompactModel, by: By = None) -> Partition:
    """Return the blocks defined by ``by`` (see :func:`colgen.decompose`), the suffix ``colgen_block`` or pyo.Block.

    Nothing is detected.  Raise InputError if ``by`` matches nothing, or defines no block.
    """
    source = compact.source
    if isinstance(by, Partition):
        if (len(by.of_row), len(by.of_column)) != compact.rows.shape:
            raise InputError("by: the blocks belong to a model with other constraints or variables")
        return by
    if not isinstance(source, PyomoSource):
        if not callable(by):
            raise InputError(f"by: expected a function of constraint names, as the model is not from Pyomo, not {by!r}")
        return _by_rows(compact, list(map(by, source.constraint_names)), {}, "by")
    if by is None:
        suffix = source.model.component(SUFFIX)
        if suffix is not None:
            return _by_suffix(compact, source, suffix)
        return _by_columns(
            compact, list(map(_outermost, source.variables)), "the model has no pyo.Block with variables of its own"
        )
    if isinstance(by, str) or hasattr(by, "is_indexed"):
        return _by_columns(
            compact,
            _index_labels(source, compact.formulation.column_keys, by),
            f"no variable of the model has the index {_name_of(by)}",
        )
    if callable(by):
        return _by_rows(compact, list(map(by, source.constraints)), {}, "by")
    raise InputError(f"by: expected the name of an index, a function of constraints, or None, not {by!r}")


def defines_blocks(compact: CompactModel) -> bool:
    """Return whether a model defines its blocks, by a suffix or by blocks with variables."""
    source = compact.source
    if not isinstance(source, PyomoSource):
        return False
    return source.model.component(SUFFIX) is not None or any(map(_outermost, source.variables))


def _name_of(by: Any) -> str:
    return repr(by if isinstance(by, str) else by.name)


def _by_columns(compact: CompactModel, labels: Sequence[Hashable | None], nothing: str) -> Partition:
    """Return the partition of columns by label; a row belongs to a block if all its variables do."""
    names = tuple(dict.fromkeys(label for label in labels if label is not None))
    if not names:
        raise InputError(f"the model has no blocks to decompose into: {nothing}")
    number = {name: k for k, name in enumerate(names)}
    columns = np.array([MASTER if label is None else number[label] for label in labels], dtype=np.int64)
    return _check_variables(Partition(names, columns, _rows_of(compact, columns)))


def _rows_of(compact: CompactModel, columns: Ints) -> Ints:
    """Return the block of each row, :data:`MASTER` if its variables are of several or none."""
    matrix = compact.rows
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
    compact: CompactModel, labels: Sequence[Hashable | None], of_variables: dict[int, Hashable], what: str
) -> Partition:
    """Return the partition of rows by label; a variable belongs to the block of its rows."""
    given = [*labels, *of_variables.values()]
    for label in given:
        try:
            hash(label)
        except TypeError:
            raise InputError(
                f"{what}: expected blocks named by numbers, strings or tuples of them, not {repr(label)[:40]}"
            ) from None
    names = tuple(dict.fromkeys(label for label in given if label is not None))
    if not names:
        raise InputError(f"the model has no blocks to decompose into: {what} names none")
    number = {name: k for k, name in enumerate(names)}
    columns = np.full(len(compact.names), MASTER)
    for k, label in of_variables.items():
        columns[k] = number[label]
    matrix = compact.rows
    rows = np.array([MASTER if label is None else number[label] for label in labels], dtype=np.int64)
    for row in np.flatnonzero(rows != MASTER).tolist():
        mine = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
        other = mine[(columns[mine] != MASTER) & (columns[mine] != rows[row])]
        if len(other):
            raise InputError(
                f"variable {compact.names[other[0]]!r} is in block {names[columns[other[0]]]!r} and, by constraint "
                f"{compact.constraint_name(row)!r}, in block {names[rows[row]]!r}; expected one block"
            )
        columns[mine] = rows[row]
    if of_variables:  # rows without a label follow their variables
        follow = _rows_of(compact, columns)
        rows = np.where(rows == MASTER, follow, rows)
    return _check_variables(Partition(names, columns, rows))


def _check_variables(found: Partition) -> Partition:
    counts = np.bincount(found.of_column[found.of_column != MASTER], minlength=len(found.names))
    if not counts.all():
        empty = found.names[int(np.argmin(counts))]
        raise InputError(f"block {empty!r} has no variables that are not fixed, expected at least one")
    return found


# --- an index --------------------------------------------------------------------------------------------------------


def _index_labels(source: PyomoSource, keys: Sequence[Key], by: Any) -> list[Hashable | None]:
    """Return the member of an index set in the index of each variable, or of a block that holds it."""
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
        return None if holder is None or holder is source.model else of(holder, holder.index())

    return [of(variable, index) for variable, (_, index) in zip(source.variables, keys, strict=True)]


def _part(index: Any, place: slice) -> Hashable:
    part = (index if isinstance(index, tuple) else (index,))[place]
    return part[0] if len(part) == 1 else part


def _place(component: Any, by: Any) -> slice | None:
    """Return the place of an index set in the indices of a component, if any."""
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
            f"by: {component.name!r} has the index {_name_of(by)} twice, expected once; pass a function of "
            "constraints instead"
        )
    return found[0] if found else None


# --- the model's blocks and annotations ------------------------------------------------------------------------------


def _outermost(variable: Any) -> str | None:
    """Return the outermost block that holds a variable; None if the model holds it directly."""
    holder, block = variable.parent_block(), None
    while holder.parent_block() is not None:
        holder, block = holder.parent_block(), holder
    return None if block is None else str(block.name)


def _by_suffix(compact: CompactModel, source: PyomoSource, suffix: Any) -> Partition:
    """Return the partition by a suffix with labels of constraints, variables and blocks."""
    labels: dict[int, Hashable] = {}
    for component, label in suffix.items():
        if component is None:
            raise InputError(
                f"the suffix {SUFFIX!r} has a default, {SUFFIX}[None]; expected labels of single constraints, "
                "variables or blocks"
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
        if component.model() is not source.model or not named:
            raise InputError(
                f"the suffix {SUFFIX!r} labels {component.name!r}, expected constraints or variables of this model, "
                "or blocks that contain some"
            )
    rows = [labels.get(id(constraint)) for constraint in source.constraints]
    columns = {k: labels[id(v)] for k, v in enumerate(source.variables) if id(v) in labels}
    return _by_rows(compact, rows, columns, f"the suffix {SUFFIX!r}")
