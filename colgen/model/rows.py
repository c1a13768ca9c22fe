"""Rows of a restricted master, given as arrays or compiled from a Pyomo model."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.errors import FormulationError
from colgen.core.lazy_imports import LazyModule, import_name
from colgen.core.sense import Sense
from colgen.core.text import FORGOTTEN, plural
from colgen.model.marks import ARTIFICIAL, EXCHANGE, SOLVED
from colgen.solvers.arrays import integral_bounds

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from colgen.model.model_rows import ModelRows
else:
    pyo = LazyModule("pyomo.environ")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Positions of the members of a Pyomo component among rows or columns: ``indices[k]`` at ``positions[k]``."""

    name: str
    indices: tuple[Any, ...]
    positions: NDArray[np.int64]


class Rows:
    """The rows and variables of a restricted master, as arrays with names; columns are generated later.

    A template adds them block by block, and a subclass may change the result of ``super().master()``::

        rows = Rows(Sense.MINIMIZE, objective="cost")
        undone = rows.add_variables("undone", tasks, artificial=True)
        assign = rows.add_rows("assign", tasks, lower=1.0, upper=1.0)
        rows.add_entries(assign, undone, 1.0)

    Attributes
    ----------
    sense
        Direction of the objective.
    costs, lower, upper, integer, artificial
        One per column. Bounds of integer columns are rounded inward.
    row_lower, row_upper
        One per row.
    offset
        Constant term of the objective.
    column_keys, row_keys
        ``(block, index)`` of each column and row, in order; the index is None in a block of one without an index.
    row_blocks, column_blocks
        The positions and indices of each block, by name.
    exchange
        Which of the artificial variables are exchanges (:func:`colgen.exchange`); None: none.
    cost_rounding
        Rounding error of the cost of a generated column, if costs are sums whose terms cancel out.
    objective
        Name of the objective in a Pyomo model.
    solved_by
        Makes a restricted master of these rows; None: :class:`colgen.LinearMaster`.

    Examples
    --------
    >>> rows = Rows(Sense.MINIMIZE, objective="rolls")
    >>> unmet = rows.add_variables("unmet", range(4), artificial=True)
    >>> demand = rows.add_rows("demand", range(4), lower=problem.demands)
    >>> rows.add_entries(demand, unmet, 1.0)
    """

    def __init__(
        self,
        sense: Sense,
        *,
        objective: str = "objective",
        offset: float = 0.0,
        cost_rounding: float = 0.0,
        solved_by: Callable[[Rows], Any] | None = None,
    ) -> None:
        self.sense = sense
        self.objective, self.offset = objective, offset
        self.cost_rounding, self.solved_by = cost_rounding, solved_by
        self.costs = self.lower = self.upper = self.row_lower = self.row_upper = np.empty(0)
        self.integer = self.artificial = np.empty(0, dtype=bool)
        self.exchange: NDArray[np.bool_] | None = None
        self.column_keys: tuple[Key, ...] = ()
        self.row_keys: tuple[Key, ...] = ()
        self.row_blocks: Mapping[str, Block] = {}
        self.column_blocks: Mapping[str, Block] = {}
        self._matrix: sparse.csc_array | None = None
        self._entries: tuple[tuple[Ints, Ints, Floats], ...] = ()

    @classmethod
    def of_arrays(
        cls,
        sense: Sense,
        matrix: sparse.csc_array,
        *,
        columns: tuple[Sequence[Key], ArrayLike, ArrayLike, ArrayLike],
        rows: tuple[Sequence[Key], ArrayLike, ArrayLike],
        integer: NDArray[np.bool_],
        artificial: NDArray[np.bool_],
        exchange: NDArray[np.bool_] | None = None,
        blocks: tuple[Iterable[str], Iterable[str]] = ((), ()),
        **named: Any,
    ) -> Rows:
        """Return rows and variables from arrays.

        Parameters
        ----------
        matrix
            Shape (rows, columns).
        columns
            Keys, costs, lower and upper bounds.
        rows
            Keys, lower and upper sides.
        integer, artificial, exchange
            One per column.
        blocks
            Names of blocks of rows and of variables, which may have no members.
        named
            Parameters of the class.
        """
        new = cls(sense, **named)
        new._matrix = matrix
        keys, costs, lower, upper = columns
        new.column_keys, new.costs = tuple(keys), np.asarray(costs, dtype=np.float64)
        new.lower, new.upper = integral_bounds(np.asarray(lower, float), np.asarray(upper, float), integer)
        new.integer, new.artificial, new.exchange = integer, artificial, exchange
        keys, lower, upper = rows
        new.row_keys = tuple(keys)
        new.row_lower, new.row_upper = np.asarray(lower, float), np.asarray(upper, float)
        new.row_blocks, new.column_blocks = map(named_blocks, (new.row_keys, new.column_keys), blocks)
        return new

    def __repr__(self) -> str:
        return f"<Rows: {plural(len(self.row_lower), 'row')}, {plural(len(self.costs), 'variable')}>"

    @property
    def matrix(self) -> sparse.csc_array:
        """Coefficients, shape (rows, columns)."""
        shape = len(self.row_keys), len(self.column_keys)
        if self._entries or self._matrix is None or self._matrix.shape != shape:
            a = self._matrix
            entries = list(self._entries)
            if a is not None:
                entries.append((a.indices, np.repeat(np.arange(a.shape[1]), np.diff(a.indptr)), a.data))
            nothing = np.empty(0, dtype=np.int64)
            parts = zip(*(entries or [(nothing, nothing, np.empty(0))]), strict=True)
            there, owners, values = map(np.concatenate, parts)
            self._matrix, self._entries = sparse.csc_array((values, (there, owners)), shape=shape), ()
        return self._matrix

    def copy(self) -> Rows:
        """Return a copy that methods can change independently; shared arrays become read-only."""
        a = self.matrix
        for array in (*vars(self).values(), a.data, a.indices, a.indptr):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        new = Rows(self.sense)
        vars(new).update(vars(self))  # methods replace arrays and never write to them
        return new

    def add_variables(
        self,
        block: str,
        indices: Sequence[Hashable] = (None,),
        *,
        cost: ArrayLike = 0.0,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = math.inf,
        integer: bool = False,
        artificial: bool = False,
        exchange: bool = False,
    ) -> Ints:
        """Add a block of variables without coefficients.

        Parameters
        ----------
        block
            Name of the block.
        indices
            Indices of its members; by default one member without an index.
        cost, lower, upper
            A number per member, or one for all.
        integer
            Whether they are integer.
        artificial, exchange
            See :func:`colgen.artificial` and :func:`colgen.exchange`.

        Returns
        -------
        array
            Positions of the members among all columns.
        """
        first, size = len(self.costs), len(indices)
        self.column_keys, self.column_blocks, positions = _extended(
            self.column_keys, self.column_blocks, block, indices, "variables"
        )
        self.costs = _appended(self.costs, cost, size, block)
        self.lower, self.upper = _appended(self.lower, lower, size, block), _appended(self.upper, upper, size, block)
        self.integer = _appended(self.integer, integer, size, block)
        self.artificial = _appended(self.artificial, artificial or exchange, size, block)
        if exchange or self.exchange is not None:
            before = np.zeros(first, dtype=bool) if self.exchange is None else self.exchange
            self.exchange = _appended(before, exchange, size, block)
        if integer:
            self.lower, self.upper = integral_bounds(self.lower, self.upper, self.integer)
        return positions

    def add_rows(
        self,
        block: str,
        indices: Sequence[Hashable] = (None,),
        *,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
        terms: Mapping[str | Key, float] | None = None,
    ) -> Ints:
        """Add a block of rows.

        Parameters
        ----------
        block
            Name of the block.
        indices
            Indices of its members; by default one member without an index.
        lower, upper
            Sides: a number per member, or one for all.
        terms
            Coefficients by key ``(block, index)`` of a variable, or by block of variables, equal in all these rows. Add
            others with :meth:`add_entries`.

        Returns
        -------
        array
            Positions of the members among all rows.
        """
        size = len(indices)
        self.row_keys, self.row_blocks, positions = _extended(self.row_keys, self.row_blocks, block, indices, "rows")
        self.row_lower = _appended(self.row_lower, lower, size, block)
        self.row_upper = _appended(self.row_upper, upper, size, block)
        if terms:
            each = [self._columns(key) for key in terms]
            columns, lengths = np.concatenate(each), list(map(len, each))
            values = np.repeat([_number(value, block) for value in terms.values()], lengths)
            self.add_entries(np.repeat(positions, len(columns)), np.tile(columns, size), np.tile(values, size))
        return positions

    def add_entries(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> None:
        """Add coefficients at positions that :meth:`add_rows` and :meth:`add_variables` return."""
        there, owners, numbers = np.broadcast_arrays(rows, columns, np.asarray(values, dtype=np.float64))
        if not np.isfinite(numbers).all():
            wrong = numbers[~np.isfinite(numbers)][0]
            raise FormulationError(f"expected finite coefficients of rows, not {wrong}")
        for places, count, kind in ((there, len(self.row_keys), "row"), (owners, len(self.column_keys), "variable")):
            if places.size and not (places.min() >= 0 and places.max() < count):
                wrong = places[(places < 0) | (places >= count)][0]
                raise FormulationError(f"there is no {kind} at position {wrong}: there are {count}")
        self._entries = (*self._entries, (there.ravel(), owners.ravel(), numbers.ravel()))

    def change_variables(
        self,
        which: str | Key,
        *,
        cost: ArrayLike | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
    ) -> None:
        """Change costs or bounds of variables.

        Parameters
        ----------
        which
            Name of a block, or key ``(block, index)`` of one variable.
        cost, lower, upper
            A number per variable in order, or one for all; None: unchanged.
        """
        columns = self._columns(which)
        self.costs = _replaced(self.costs, columns, cost, which)
        low, high = _replaced(self.lower, columns, lower, which), _replaced(self.upper, columns, upper, which)
        self.lower, self.upper = integral_bounds(low, high, self.integer)

    def change_rows(self, which: str | Key, *, lower: ArrayLike | None = None, upper: ArrayLike | None = None) -> None:
        """Change sides of rows; parameters as for :meth:`change_variables`."""
        rows = _positions(which, self.row_blocks, self.row_keys, "rows")
        self.row_lower = _replaced(self.row_lower, rows, lower, which)
        self.row_upper = _replaced(self.row_upper, rows, upper, which)

    def _columns(self, which: str | Key) -> Ints:
        return _positions(which, self.column_blocks, self.column_keys, "variables")

    def subset(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Rows:
        """Return the rows and columns selected by two masks; the others may be added later under the same names."""
        row_keys = tuple(key for key, kept in zip(self.row_keys, rows.tolist(), strict=True) if kept)
        column_keys = tuple(key for key, kept in zip(self.column_keys, columns.tolist(), strict=True) if kept)
        part = self.copy()
        matrix = sparse.csr_array(self.matrix[:, np.flatnonzero(columns)])[np.flatnonzero(rows), :]
        part._matrix, part._entries = sparse.csc_array(matrix), ()
        for name in ("costs", "lower", "upper", "integer", "artificial"):
            setattr(part, name, getattr(self, name)[columns])
        part.row_lower, part.row_upper = self.row_lower[rows], self.row_upper[rows]
        part.row_keys, part.column_keys = row_keys, column_keys
        part.row_blocks = named_blocks(row_keys, self.row_blocks)
        part.column_blocks = named_blocks(column_keys, self.column_blocks)
        part.exchange = None if self.exchange is None else self.exchange[columns]
        return part

    def contains(self, other: Rows) -> bool:
        """Return whether another model's rows are all here, with the same sides and over the same variables.

        Bounds of variables may be tighter here and costs may differ; then a solution of these rows satisfies the
        others.
        """
        rows, columns = _places(other.row_keys, self.row_keys), _places(other.column_keys, self.column_keys)
        if rows is None or columns is None or self.sense is not other.sense:
            return False
        others = np.ones(len(self.costs), dtype=bool)
        others[columns] = False
        inside = sparse.csr_array(self.matrix)[rows, :]
        return bool(
            np.array_equal(self.row_lower[rows], other.row_lower)
            and np.array_equal(self.row_upper[rows], other.row_upper)
            and (inside[:, columns] != other.matrix).nnz == 0
            and inside[:, np.flatnonzero(others)].nnz == 0
            and (self.lower[columns] >= other.lower).all()
            and (self.upper[columns] <= other.upper).all()
            and (self.integer[columns] >= other.integer).all()
        )

    def is_same(self, other: Rows) -> bool:
        """Return whether another model has the same rows, variables and objective, in any order."""
        if self._contents() == other._contents():
            return True
        if len(self.row_keys) != len(other.row_keys) or len(self.column_keys) != len(other.column_keys):
            return False
        if not (self.contains(other) and other.contains(self)) or self.offset != other.offset:
            return False
        columns = _places(other.column_keys, self.column_keys)
        exchanges = [np.zeros(len(f.costs), dtype=bool) if f.exchange is None else f.exchange for f in (self, other)]
        return bool(
            np.array_equal(self.costs[columns], other.costs)
            and np.array_equal(self.artificial[columns], other.artificial)
            and np.array_equal(exchanges[0][columns], exchanges[1])
        )

    def _contents(self) -> tuple[Any, ...]:
        """Return the data that is_same compares, in order."""
        a = self.matrix
        exchange = np.zeros(len(self.costs), dtype=bool) if self.exchange is None else self.exchange
        columns = self.costs, self.lower, self.upper, self.integer, self.artificial, exchange
        arrays = (*columns, self.row_lower, self.row_upper, a.data, a.indices, a.indptr)
        return self.sense, self.offset, self.row_keys, self.column_keys, [array.tolist() for array in arrays]

    def pyomo(self) -> pyo.ConcreteModel:
        """Return a Pyomo model with the same names, to print, or to change and return from ``master()``.

        Raises
        ------
        FormulationError
            If rows and variables share a name, which Pyomo does not allow.
        """
        return import_name("model.pyomo_model", "render")(self)


def _extended(
    keys: tuple[Key, ...], blocks: Mapping[str, Block], block: str, indices: Sequence[Hashable], kind: str
) -> tuple[tuple[Key, ...], Mapping[str, Block], Ints]:
    """Return keys and blocks extended by a new block, and its positions."""
    if block in blocks:
        raise FormulationError(f"there are {kind} named {block!r} already: choose another name")
    members = tuple(indices)
    if len(set(members)) < len(members):
        raise FormulationError(f"the {kind} {block!r} have a repeated index")
    positions = np.arange(len(keys), len(keys) + len(members))
    return (
        (*keys, *[(block, index) for index in members]),
        {**blocks, block: Block(block, members, positions)},
        positions,
    )


def _appended(array: NDArray[Any], values: ArrayLike, size: int, block: str) -> NDArray[Any]:
    """Return an array extended by the values of a new block."""
    if isinstance(values, (float, bool)) and values == values:
        new = np.full(size, values, dtype=array.dtype)
        return new if not len(array) else np.concatenate((array, new))
    given = np.asarray(values, dtype=array.dtype)
    if given.shape not in ((), (size,)):
        raise FormulationError(f"{block}: expected one number or {size}, not an array of shape {given.shape}")
    if array.dtype == np.float64 and np.isnan(given).any():
        raise FormulationError(f"{block}: expected numbers, not NaN")
    return np.concatenate((array, np.broadcast_to(given, size)))


def _replaced(array: Floats, positions: Ints, values: ArrayLike | None, which: str | Key) -> Floats:
    """Return an array with other values at some positions; ``values`` None: unchanged."""
    if values is None:
        return array
    given = np.asarray(values, dtype=np.float64)
    if given.shape not in ((), positions.shape):
        raise FormulationError(f"{which}: expected one number or {len(positions)}, not an array of shape {given.shape}")
    if np.isnan(given).any():
        raise FormulationError(f"{which}: expected numbers, not NaN")
    array = array.copy()
    array[positions] = given
    return array


def _positions(which: str | Key, blocks: Mapping[str, Block], keys: Sequence[Key], kind: str) -> Ints:
    """Return the positions of a block's members, or of one member."""
    name, *index = (which,) if isinstance(which, str) else which
    if name not in blocks:
        raise FormulationError(f"there are no {kind} named {name!r}; there are {', '.join(sorted(blocks)) or 'none'}")
    block = blocks[name]
    if not index:
        return block.positions
    if index[0] not in block.indices:
        raise FormulationError(f"the {kind} {name!r} have no index {index[0]!r}")
    return block.positions[[block.indices.index(index[0])]]


def _number(value: Any, block: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise FormulationError(f"{block}: expected a number for each term, not {value!r}") from None


def _places(keys: Sequence[Key], among: Sequence[Key]) -> list[int] | None:
    """Return the positions of keys among others; None if one is missing."""
    where = {key: position for position, key in enumerate(among)}
    return [where[key] for key in keys] if all(key in where for key in keys) else None


def compile_model(model: pyo.ConcreteModel) -> Rows:
    """Compile a linear Pyomo model to arrays; fixed variables become constants.

    Raises
    ------
    FormulationError
        If it is not a Pyomo model, does not have exactly one active objective, or is not linear.
    """
    return _compiled(model)


def compile_master(model: pyo.ConcreteModel) -> Rows:
    """Compile the Pyomo model of a master to arrays; fixed variables become columns with equal bounds.

    Guesses, separations and answers may refer to them, and rows may have no other variable before columns are
    generated.

    Raises
    ------
    FormulationError
        As for :func:`compile_model`, and if a variable is fixed without a value.
    """
    return _compiled(model, keeps_fixed=True)


def _compiled(model: pyo.ConcreteModel, *, keeps_fixed: bool = False) -> Rows:
    from colgen.model.model_rows import rows_of  # imports Pyomo

    if not hasattr(model, "component_data_objects"):
        got = f"None: {FORGOTTEN}" if model is None else f"a {type(model).__name__}"
        raise FormulationError(f"expected master() to return a Pyomo model, Rows or a RestrictedMaster, not {got}")
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise FormulationError(f"a master needs exactly one active Objective, this model has {len(objectives)}")
    # In order of declaration. Pyomo drops variables that occur nowhere, but later rows may refer to them.
    components, column_keys, variables = free_variables(model, keeps_fixed=keeps_fixed)
    read = rows_of(model, objectives[0], {id(v): k for k, v in enumerate(variables)})
    costs = np.zeros(len(variables))
    costs[list(read.costs)] = list(read.costs.values())
    row_keys = _keys(read.constraints)
    for v in variables:
        if v.fixed and v.value is None:
            raise FormulationError(f"the variable {v.name!r} is fixed without a value: pass fix() a number")
    bounds = [(v.value, v.value) if v.fixed else v.bounds for v in variables]
    integer = [not v.is_continuous() and not (v.fixed and v.value != round(v.value)) for v in variables]
    exchanges = _marked(components, EXCHANGE)
    return Rows.of_arrays(
        Sense.MINIMIZE if objectives[0].sense == pyo.minimize else Sense.MAXIMIZE,
        _matrix(read, len(variables)),
        columns=(
            column_keys,
            costs,
            [-math.inf if low is None else low for low, _ in bounds],
            [math.inf if high is None else high for _, high in bounds],
        ),
        rows=(row_keys, read.lower, read.upper),
        integer=np.array(integer, dtype=bool),
        artificial=_marked(components, ARTIFICIAL),
        exchange=exchanges if exchanges.any() else None,
        blocks=(_names(model, pyo.Constraint), _names(model, pyo.Var)),
        offset=read.offset,
        objective=objectives[0].name,
        **getattr(model, SOLVED, {}),
    )


def free_variables(
    model: pyo.ConcreteModel, *, keeps_fixed: bool = False
) -> tuple[list[Any], tuple[Key, ...], list[Any]]:
    """Return component, key and object of each variable in order of declaration; fixed ones if ``keeps_fixed``."""
    declared = list(model.component_objects(pyo.Var, active=True))
    if any(component.is_reference() for component in declared):  # members of other components, counted once
        variables = [v for v in model.component_data_objects(pyo.Var, active=True) if keeps_fixed or not v.fixed]
        return [v.parent_component() for v in variables], _keys(variables), variables
    # Calling each variable for its component and index would take as long as reading all rows.
    components, keys, variables = [], list[Key](), []
    for component in declared:
        name = component.name
        for index, variable in component.items():
            if keeps_fixed or not variable.fixed:
                components.append(component)
                keys.append((name, index))
                variables.append(variable)
    return components, tuple(keys), variables


def _marked(components: Sequence[Any], mark: str) -> NDArray[np.bool_]:
    """Return which variables belong to components with a mark."""
    marked = {id(component) for component in {id(c): c for c in components}.values() if hasattr(component, mark)}
    return np.array([id(component) in marked for component in components], dtype=bool)


def _names(model: pyo.ConcreteModel, kind: type) -> list[str]:
    """Return the names of all active components of a kind."""
    return [component.name for component in model.component_objects(kind, active=True)]


def _matrix(read: ModelRows, width: int) -> sparse.csc_array:
    """Return the coefficient matrix of the rows."""
    rows, columns = np.array(read.rows, dtype=np.int32), np.array(read.columns, dtype=np.int64)
    values = np.array(read.values, dtype=np.float64)
    order = np.lexsort((rows, columns))
    starts = np.zeros(width + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=width), out=starts[1:])
    return sparse.csc_array((values[order], rows[order], starts), shape=(len(read.constraints), width))


def _keys(members: Sequence[Any]) -> tuple[Key, ...]:
    """Return ``(block, index)`` of variables or constraints; names are cached because Pyomo recomputes them."""
    names: dict[int, str] = {}
    keys = []
    for member in members:
        component = member.parent_component()
        name = names.get(id(component))
        if name is None:
            name = names[id(component)] = component.name
        keys.append((name, member.index()))
    return tuple(keys)


def named_blocks(keys: Sequence[Key], names: Iterable[str] = ()) -> dict[str, Block]:
    """Return positions by component; ``names`` adds components without members."""
    members: dict[str, list[int]] = {}
    for position, (name, _) in enumerate(keys):
        members.setdefault(name, []).append(position)
    for name in names:
        members.setdefault(name, [])
    return {
        name: Block(name, tuple(keys[p][1] for p in positions), np.array(positions, dtype=np.int64))
        for name, positions in members.items()
    }
