"""A linear mixed-integer model as arrays, with the names of its variables and constraints, and its blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray
from scipy import sparse

from colgen.core.columns import Key
from colgen.core.errors import FormulationError, InputError
from colgen.core.sense import Sense
from colgen.core.tolerances import ROUNDING
from colgen.decomposition.reading.layers import gurobi_program, linopy_program
from colgen.decomposition.reading.presolve import reduced
from colgen.model.rows import Rows, compile_model, free_variables
from colgen.networks.filling import set_aside
from colgen.networks.statement import Paths
from colgen.solvers.linear.named import ModelError, NamedProgram, named_program
from colgen.solvers.linear.scaling import column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MASTER = -1
"""Block number of rows and variables that stay in the master."""

REMOVED = -2
"""Block number of rows that presolve has removed."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The block of each variable and row: a number, or :data:`MASTER` for those that stay in the master.

    A variable in a row of another block links both.
    """

    names: tuple[Hashable, ...]
    of_column: Ints
    of_row: Ints

    @property
    def linking(self) -> Ints:
        """The rows of the master."""
        return np.flatnonzero(self.of_row == MASTER)

    def without_removed(self, f: Rows) -> Partition:
        """Return the blocks of a model after presolve; the master has fixed variables, and no block is empty."""
        matrix = sparse.csc_array(f.matrix)
        entries, free = (
            np.bincount(matrix.indices, minlength=matrix.shape[0]),
            np.isinf(f.row_lower) & np.isinf(f.row_upper),
        )
        fixed = (np.diff(matrix.indptr) == 0) & (f.lower == f.upper)
        of_row = np.where((entries == 0) & free, REMOVED, self.of_row)
        of_column = np.where(fixed, MASTER, self.of_column)
        used = np.unique(of_column[of_column >= 0])
        place = np.full(len(self.names) + 2, MASTER)  # the last two are those of REMOVED and MASTER
        place[used], place[REMOVED] = np.arange(len(used)), REMOVED
        return Partition(tuple(self.names[k] for k in used.tolist()), place[of_column], place[of_row])


class Source(Protocol):
    """The name of a compact model, and the names of its variables and constraints in the order of the arrays."""

    @property
    def name(self) -> str: ...
    @property
    def variable_names(self) -> tuple[str, ...]: ...
    @property
    def constraint_names(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class Names:
    """A source that has only names, such as a file."""

    name: str
    variable_names: tuple[str, ...]
    constraint_names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PyomoSource:
    """A Pyomo model, and the variable of each column; fixed variables are constants."""

    model: pyo.ConcreteModel
    variables: tuple[Any, ...]
    row_keys: tuple[Any, ...]

    @property
    def name(self) -> str:
        return str(self.model.name)

    @cached_property
    def variable_names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        return tuple(constraint.name for constraint in self.constraints)

    @cached_property
    def constraints(self) -> tuple[Any, ...]:
        """The constraint of each row."""
        known: dict[str, Any] = {}
        found = []
        for name, index in self.row_keys:
            if name not in known:
                known[name] = self.model.find_component(name)
            component = known[name]
            found.append(component[index] if component.is_indexed() else component)
        return tuple(found)


@dataclass(frozen=True, eq=False)
class CompactModel:
    """A linear mixed-integer model as arrays, with names, and its blocks if it defines them.

    Attributes
    ----------
    formulation
        The arrays: ``sense``, ``costs``, ``offset``, ``lower``, ``upper``, ``integer``, ``matrix``, ``row_lower`` and
        ``row_upper``.
    source
        The names, or the Pyomo model into which answers are loaded.
    blocks
        The blocks that the source defines; None: they are given to :func:`colgen.decompose`, or detected.
    units
        Unit of each column, by which its values are multiplied for the user; None: all are 1.
    copied
        Columns of which the last columns are copies; a user's model has none.
    paths
        Path blocks of a Pyomo model, whose flow conservation the arrays lack.

    Examples
    --------
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var([1, 2], domain=pyo.Binary)
    >>> m.room = pyo.Constraint(expr=2 * m.x[1] + 3 * m.x[2] <= 4)
    >>> m.profit = pyo.Objective(expr=3 * m.x[1] + 2 * m.x[2], sense=pyo.maximize)
    >>> CompactModel.from_pyomo(m).names
    ('x[1]', 'x[2]')
    """

    formulation: Rows
    source: Source
    blocks: Partition | None = None
    units: Floats | None = None
    copied: Ints = dataclasses.field(default_factory=lambda: np.empty(0, dtype=np.int64))
    paths: tuple[Paths, ...] = ()

    @classmethod
    def from_pyomo(cls, model: pyo.ConcreteModel) -> CompactModel:
        """Return a Pyomo model as arrays; answers are loaded into it.

        Raises
        ------
        InputError
            If the model is not concrete, not linear, or has no variables that are not fixed.
        """
        if not isinstance(model, pyo.ConcreteModel):
            raise InputError(f"expected a pyomo ConcreteModel or a CompactModel, not {type(model).__name__}")
        try:
            with set_aside(model) as paths:
                formulation = compile_model(model)
        except FormulationError as error:
            raise InputError(f"to decompose a model it must be linear with one objective: {error}") from None
        variables = tuple(free_variables(model)[2])
        if not variables:
            raise InputError("the model has no variables that are not fixed, expected at least one to decompose")
        for k in np.flatnonzero(formulation.lower > formulation.upper).tolist():
            # With integers, bounds may only exclude all integers: the model is infeasible.
            low, high = variables[k].bounds
            if low > high:
                raise InputError(f"variable {variables[k].name!r} has lower bound {low:g} above upper bound {high:g}")
        return cls(formulation, PyomoSource(model, variables, formulation.row_keys), paths=paths)

    @classmethod
    def from_rows(cls, rows: Rows, name: str = "model") -> CompactModel:
        """Return rows and variables that are given as arrays as a model; names are those of Pyomo, ``block[index]``."""
        variables, constraints = (tuple(map(_name_of, keys)) for keys in (rows.column_keys, rows.row_keys))
        return cls(rows, Names(name, variables, constraints))

    @classmethod
    def from_highspy(cls, model: Any, name: str = "model") -> CompactModel:
        """Return a model of HiGHS, a ``highspy.Highs`` or a ``highspy.HighsLp``, as arrays.

        Raises
        ------
        InputError
            If it has semicontinuous variables, or two variables or two constraints of one name.
        """
        return cls._of(named_program, model, name)

    @classmethod
    def from_linopy(cls, model: Any, name: str = "model") -> CompactModel:
        """Return a ``linopy.Model`` as arrays; its variables have names such as ``x[a,3]``.

        Raises
        ------
        InputError
            If it has quadratic terms, semicontinuous variables, special ordered sets or indicator constraints.
        """
        return cls._of(linopy_program, model, name)

    @classmethod
    def from_gurobipy(cls, model: Any, name: str = "model") -> CompactModel:
        """Return a ``gurobipy.Model`` as arrays, after its pending changes are processed.

        Raises
        ------
        InputError
            If it is not linear, has several objectives or scenarios, semicontinuous variables, special ordered sets or
            general constraints, or two variables or two constraints of one name.
        """
        return cls._of(gurobi_program, model, name)

    @classmethod
    def _of(cls, arrays: Callable[[Any], NamedProgram], model: Any, name: str) -> CompactModel:
        try:
            return cls.of_program(arrays(model), name)
        except ModelError as error:
            raise InputError(str(error)) from None

    @classmethod
    def of_program(cls, named: NamedProgram, name: str) -> CompactModel:
        """Return a program with names as a model."""
        program, integer, columns, rows = named
        formulation = Rows.of_arrays(
            Sense.MAXIMIZE if program.maximize else Sense.MINIMIZE,
            program.matrix,
            columns=([("variable", each) for each in columns], program.costs, program.lower, program.upper),
            rows=([("constraint", each) for each in rows], program.row_lower, program.row_upper),
            integer=integer,
            artificial=np.zeros(len(columns), dtype=np.bool_),
            offset=program.offset,
        )
        return cls(formulation, Names(name, columns, rows))

    def __post_init__(self) -> None:
        f = self.formulation
        for array, what in ((f.matrix.data, "coefficient"), (f.costs, "cost")):
            if not np.isfinite(array).all():
                raise InputError(f"the model has a {what} that is not finite, expected finite numbers to decompose it")

    def scaled(self) -> CompactModel:
        """Return the model with columns in units of similar size; itself if they have these already."""
        f = self.formulation
        units = column_units(f.matrix, f.lower, f.upper, f.row_lower, f.row_upper, f.integer)
        if (units == 1.0).all():
            return self
        matrix = sparse.csc_array(f.matrix)
        entries = (matrix.data * np.repeat(units, np.diff(matrix.indptr)), matrix.indices, matrix.indptr)
        scaled = sparse.csc_array(entries, shape=matrix.shape)
        counted = Rows.of_arrays(
            f.sense,
            scaled,
            columns=(f.column_keys, f.costs * units, f.lower / units, f.upper / units),
            rows=(f.row_keys, f.row_lower, f.row_upper),
            integer=f.integer,
            artificial=f.artificial,
            exchange=f.exchange,
            offset=f.offset,
        )
        return dataclasses.replace(self, formulation=counted, units=units)

    def to_user(self, values: Floats) -> Floats:
        """Return column values in the units of the user's model, without copies."""
        scaled = values if self.units is None else values * self.units
        return scaled[: len(scaled) - len(self.copied)]

    def from_user(self, values: Floats) -> Floats:
        """Return values of the user's model in the units of the columns, with copies."""
        columns = np.concatenate([values, values[self.copied]])
        return columns if self.units is None else columns / self.units

    @cached_property
    def presolved(self) -> CompactModel:
        """The model without redundant rows and fixed variables; a Pyomo model as it is, since its rows have duals."""
        f = self.formulation if isinstance(self.source, PyomoSource) else reduced(self.formulation)
        return self if f is self.formulation else dataclasses.replace(self, formulation=f)

    @cached_property
    def rows(self) -> sparse.csr_array:
        """The matrix in row format."""
        return sparse.csr_array(self.formulation.matrix)

    @property
    def origin(self) -> Any:
        """The Pyomo model, or else the source: two readings of one model have the same origin."""
        return self.source.model if isinstance(self.source, PyomoSource) else self.source

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.source.variable_names

    @cached_property
    def place_of_name(self) -> dict[str, int]:
        """Column of each variable, by name."""
        return {name: k for k, name in enumerate(self.names)}

    def constraint_name(self, row: int) -> str:
        """Return the name of a row."""
        return self.source.constraint_names[row]


def _name_of(key: Key) -> str:
    block, index = key
    if index is None:
        return block
    return f"{block}[{','.join(map(str, index))}]" if isinstance(index, tuple) else f"{block}[{index}]"


def as_compact(model: Any) -> CompactModel:
    """Return a compact model, or a Pyomo model as one."""
    return model if isinstance(model, CompactModel) else CompactModel.from_pyomo(model)


def without_paths(model: Any) -> CompactModel:
    """Return a compact model; raise InputError if it has path blocks, whose flow conservation is not written."""
    compact = as_compact(model)
    if compact.paths:
        name = compact.paths[0].name
        raise InputError(
            f"the model has the path block {name!r} without flow conservation: pass it to colgen.decompose without "
            f"other arguments, or call {name}.compact() first"
        )
    return compact


def unused_name(name: str, keys: Sequence[Key]) -> str:
    """Return a name for a block of rows or columns, with underscores appended until no key has it."""
    taken = {key[0] for key in keys}
    while name in taken:
        name += "_"
    return name


def cost_rounding(
    costs: Floats, matrix: sparse.sparray, lower: Floats, upper: Floats, row_lower: Floats, row_upper: Floats
) -> float:
    """Return the rounding error of the cost of a point, as far as bounds and rows limit its values."""
    entries = sparse.coo_array(matrix)
    sides = np.where(np.isfinite(row_lower), np.abs(row_lower), 0.0)
    sides = np.maximum(sides, np.where(np.isfinite(row_upper), np.abs(row_upper), 0.0))
    there = entries.data != 0.0
    rows, columns, data = entries.coords[0][there], entries.coords[1][there], entries.data[there]
    by_rows = np.ones(len(costs))
    np.maximum.at(by_rows, columns, sides[rows] / np.abs(data))
    by_bounds = np.maximum(np.abs(lower), np.abs(upper))
    values = np.where(np.isfinite(by_bounds), by_bounds, by_rows)
    return _TERMS * ROUNDING * float(np.abs(costs) @ values)


def without_rounding(total: float, size: float) -> float:
    """Return a sum, or zero if it is within the rounding error of terms of this size; 1e-18 would set a wrong scale."""
    return 0.0 if abs(total) <= rounding_of(size) else total


def rounding_of(size: Any) -> Any:
    """Return the rounding error of a sum of terms of this size, a number or an array."""
    return _TERMS * ROUNDING * size


_TERMS = 16
"""Factor on the rounding error of a sum, as several places compute such sums in different orders."""
