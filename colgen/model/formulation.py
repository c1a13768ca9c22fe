"""Pyomo models as sparse arrays with names: compiled once per shape, given new data after."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.errors import FormulationError
from colgen.core.lazy_imports import Late
from colgen.core.sense import Sense
from colgen.core.text import FORGOTTEN
from colgen.solvers.arrays import integral_bounds

if TYPE_CHECKING:
    import pyomo.environ as pyo

    from colgen.model.model_rows import ModelRows
else:
    pyo = Late("pyomo.environ")

Floats = NDArray[np.float64]

_ARTIFICIAL, _EXCHANGE = "_colgen_artificial", "_colgen_exchange"


def artificial(*index: Any) -> pyo.Var:
    """A nonnegative Pyomo variable that makes rows feasible before columns do, and must be zero in any answer.

    ``artificial(m.item)`` is used like ``pyo.Var(m.item)``.  The engine first minimises the sum of all artificial
    variables (phase 1), then fixes them at zero: no big-M is needed, and a minimum above zero proves that the problem
    is infeasible.
    """
    variable = pyo.Var(*index, domain=pyo.NonNegativeReals)
    setattr(variable, _ARTIFICIAL, True)
    return variable


def exchange(*index: Any) -> pyo.Var:
    """A nonnegative Pyomo variable that trades one row's activity for others', and must be zero in any answer.

    Its column a with cost c says ``πᵀa ≤ c`` (``≥`` when maximising) of the dual values: a *dual-optimal inequality*,
    if some optimal dual solution of the relaxation satisfies it.  It stabilises column generation from the first round
    on.  ``exchange(m.pair)`` is used like ``pyo.Var(m.pair)``.

    An inequality that is none costs rounds, and no proof: bounds are those of a master in which these variables are
    zero, and where no column improves while one of them is not, all are fixed at zero and column generation goes on.
    They are zero below the root, in dives, and in whatever is looked at as an answer.

    References
    ----------
    H. Ben Amor, J. Desrosiers, J. M. Valério de Carvalho, *Dual-optimal inequalities for stabilized column generation*,
    Operations Research 54 (2006).
    """
    variable = artificial(*index)
    setattr(variable, _EXCHANGE, True)
    return variable


@dataclass(frozen=True)
class Block:
    """Where the members of a Pyomo component sit among the rows or columns: ``indices[k]`` at ``positions[k]``."""

    name: str
    indices: tuple[Hashable, ...]
    positions: NDArray[np.int64]


@dataclass(frozen=True)
class Formulation:
    """A linear model as arrays, with the names of its rows and columns.

    Attributes
    ----------
    sense
        Direction of the objective.
    matrix
        Shape (rows, columns).
    costs, lower, upper, integer, artificial
        One entry a column.  Bounds of integer columns are rounded inward as a formulation is made.
    exchange
        Which of the artificial variables are exchanges, free for the time being; None: none of them.
    row_lower, row_upper
        One entry a row.
    offset
        Constant term of the objective.
    column_keys, row_keys
        ``(block, index)`` of each column and row, in order.
    cost_rounding
        What rounding may leave of the cost of a generated column, where costs are sums whose terms cancel out.
    """

    sense: Sense
    matrix: sparse.csc_array
    costs: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    artificial: NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    offset: float
    column_keys: tuple[Key, ...]
    row_keys: tuple[Key, ...]
    row_blocks: Mapping[str, Block]
    column_blocks: Mapping[str, Block]
    exchange: NDArray[np.bool_] | None = None
    cost_rounding: float = 0.0

    def __post_init__(self) -> None:
        lower, upper = integral_bounds(self.lower, self.upper, self.integer)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def with_data(
        self,
        costs: Mapping[str, ArrayLike] | None = None,
        lower: Mapping[str, ArrayLike] | None = None,
        upper: Mapping[str, ArrayLike] | None = None,
        row_lower: Mapping[str, ArrayLike] | None = None,
        row_upper: Mapping[str, ArrayLike] | None = None,
    ) -> Formulation:
        """The same shape with other numbers.

        Each argument maps the name of a Pyomo component to its new numbers, one for each index in the component's order
        (or one for all).  The matrix stays: models whose matrix differs have another shape.
        """
        changes: dict[str, Any] = {}
        for name, blocks, data in (
            ("costs", self.column_blocks, costs),
            ("lower", self.column_blocks, lower),
            ("upper", self.column_blocks, upper),
            ("row_lower", self.row_blocks, row_lower),
            ("row_upper", self.row_blocks, row_upper),
        ):
            if data:
                changes[name] = _replaced(getattr(self, name), blocks, data)
        return dataclasses.replace(self, **changes)

    def subset(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Formulation:
        """The rows and columns of two masks alone: what is left out may come later, under the names it has here."""
        row_keys = tuple(key for key, kept in zip(self.row_keys, rows.tolist(), strict=True) if kept)
        column_keys = tuple(key for key, kept in zip(self.column_keys, columns.tolist(), strict=True) if kept)
        arrays = {name: getattr(self, name)[columns] for name in ("costs", "lower", "upper", "integer", "artificial")}
        return dataclasses.replace(
            self,
            matrix=sparse.csc_array(sparse.csr_array(self.matrix[:, np.flatnonzero(columns)])[np.flatnonzero(rows), :]),
            row_lower=self.row_lower[rows],
            row_upper=self.row_upper[rows],
            row_keys=row_keys,
            column_keys=column_keys,
            row_blocks=named_blocks(row_keys, self.row_blocks),
            column_blocks=named_blocks(column_keys, self.column_blocks),
            exchange=None if self.exchange is None else self.exchange[columns],
            **arrays,
        )


def _replaced(array: Floats, blocks: Mapping[str, Block], data: Mapping[str, ArrayLike]) -> Floats:
    array = array.copy()
    for name, values in data.items():
        if name not in blocks:
            raise FormulationError(f"the model has no component {name!r}; it has {', '.join(sorted(blocks))}")
        array[blocks[name].positions] = values
    if np.isnan(array).any():
        raise FormulationError("new data for a formulation must be numbers, not NaN")
    return array


def compile_model(model: pyo.ConcreteModel) -> Formulation:
    """Turn a linear Pyomo model into arrays; fixed variables count as numbers.

    Raises
    ------
    FormulationError
        If it is no Pyomo model, has no active objective or more than one, or is not linear.
    """
    return _compiled(model)


def compile_master(model: pyo.ConcreteModel) -> Formulation:
    """Turn the Pyomo model of a master into arrays; fixed variables are columns, with their value as both bounds.

    Guesses, separations and answers may name them, and the rows that have no other variables are those of generated
    columns.

    Raises
    ------
    FormulationError
        As :func:`compile_model` does, and if a variable is fixed without a value.
    """
    return _compiled(model, keeps_fixed=True)


def _compiled(model: pyo.ConcreteModel, *, keeps_fixed: bool = False) -> Formulation:
    from colgen.model.model_rows import rows_of  # imports Pyomo

    if not hasattr(model, "component_data_objects"):
        got = f"None: {FORGOTTEN}" if model is None else f"a {type(model).__name__}"
        raise FormulationError(f"expected master() to return a Pyomo model, pyo.ConcreteModel(), not {got}")
    objectives = list(model.component_data_objects(pyo.Objective, active=True))
    if len(objectives) != 1:
        raise FormulationError(f"a master needs exactly one active Objective, this model has {len(objectives)}")
    # In the order of declaration.  Pyomo drops variables that occur nowhere, but rows that come later may name them.
    components, column_keys, variables = free_variables(model, keeps_fixed=keeps_fixed)
    read = rows_of(model, objectives[0], {id(v): k for k, v in enumerate(variables)})
    costs = np.zeros(len(variables))
    costs[list(read.costs)] = list(read.costs.values())
    row_keys = _keys(read.constraints)
    for v in variables:
        if v.fixed and v.value is None:
            raise FormulationError(f"the variable {v.name!r} is fixed without a value: give fix() a number")
    bounds = [(v.value, v.value) if v.fixed else v.bounds for v in variables]
    integer = [not v.is_continuous() and not (v.fixed and v.value != round(v.value)) for v in variables]
    exchanges = _marked(components, _EXCHANGE)
    return Formulation(
        sense=Sense.MINIMIZE if objectives[0].sense == pyo.minimize else Sense.MAXIMIZE,
        matrix=_matrix(read, len(variables)),
        costs=costs,
        lower=np.array([-math.inf if low is None else low for low, _ in bounds], dtype=float),
        upper=np.array([math.inf if high is None else high for _, high in bounds], dtype=float),
        integer=np.array(integer, dtype=bool),
        artificial=_marked(components, _ARTIFICIAL),
        row_lower=np.array(read.lower),
        row_upper=np.array(read.upper),
        offset=read.offset,
        column_keys=column_keys,
        row_keys=row_keys,
        row_blocks=named_blocks(row_keys, (c.name for c in model.component_objects(pyo.Constraint, active=True))),
        column_blocks=named_blocks(column_keys, (c.name for c in model.component_objects(pyo.Var, active=True))),
        exchange=exchanges if exchanges.any() else None,
    )


def free_variables(
    model: pyo.ConcreteModel, *, keeps_fixed: bool = False
) -> tuple[list[Any], tuple[Key, ...], list[Any]]:
    """The component, the key and the object of each variable that is not fixed, in the order of declaration.

    ``keeps_fixed``: of those that are fixed, too.
    """
    declared = list(model.component_objects(pyo.Var, active=True))
    if any(component.is_reference() for component in declared):  # members of other components, which count once
        variables = [v for v in model.component_data_objects(pyo.Var, active=True) if keeps_fixed or not v.fixed]
        return [v.parent_component() for v in variables], _keys(variables), variables
    # Asking each variable for its component and its index would take as long as reading all rows.
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
    """Which variables belong to components that have a mark."""
    marked = {id(component) for component in {id(c): c for c in components}.values() if hasattr(component, mark)}
    return np.array([id(component) in marked for component in components], dtype=bool)


def _matrix(read: ModelRows, width: int) -> sparse.csc_array:
    """The rows' coefficients, column by column."""
    rows, columns = np.array(read.rows, dtype=np.int32), np.array(read.columns, dtype=np.int64)
    values = np.array(read.values, dtype=np.float64)
    order = np.lexsort((rows, columns))
    starts = np.zeros(width + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=width), out=starts[1:])
    return sparse.csc_array((values[order], rows[order], starts), shape=(len(read.constraints), width))


def _keys(members: Sequence[Any]) -> tuple[Key, ...]:
    """``(block, index)`` of variables or constraints; Pyomo makes a component's name anew each time."""
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
    """Positions by component; a component of this instance that has no members is an empty one."""
    members: dict[str, list[int]] = {}
    for position, (name, _) in enumerate(keys):
        members.setdefault(name, []).append(position)
    for name in names:
        members.setdefault(name, [])
    return {
        name: Block(name, tuple(keys[p][1] for p in positions), np.array(positions, dtype=np.int64))
        for name, positions in members.items()
    }


class FormulationCache:
    """Compiled formulations by shape and by what builds them, the most recently used ones kept.

    Building and compiling a Pyomo model often costs more than solving it; a model whose matrix depends only on a
    *shape* (the length of a sentence, the number of items) is compiled once and given new numbers with
    :meth:`Formulation.with_data`.  A problem says so by :meth:`Problem.shape` and :meth:`Problem.data`; the engine
    keeps the cache.
    """

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._formulations: dict[Hashable, Formulation] = {}

    def get(self, shape: Hashable, build: Callable[[], pyo.ConcreteModel]) -> Formulation:
        """The formulation of ``shape``, built and compiled on first use.

        ``build`` is part of the key: a method with the class of its object, any other function by itself, so that one
        method's rows never serve for another's.
        """
        key = (shape, getattr(build, "__func__", build), type(getattr(build, "__self__", None)))
        formulation = self._formulations.pop(key, None) or compile_master(build())
        self._formulations[key] = formulation  # last in the dict: most recently used
        if len(self._formulations) > self._size:
            self._formulations.pop(next(iter(self._formulations)), None)  # another thread may have been here
        return formulation
