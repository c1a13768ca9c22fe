"""Models with linking variables equal those without: copies in blocks, one value for the user."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import CompactModel, Termination, decompose, solve
from colgen.decomposition.reading.compact_model import MASTER, Partition
from colgen.decomposition.reading.copies import copy_linking, linking_variables
from colgen.solvers.linear.mip import solve_mip
from colgen.solvers.linear.program import Program
from tests.amounts import examples


def random_model(seed):
    """Return a model of three blocks over shared integer or continuous variables, and the block of each row."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel(name="linked")
    m.b, m.j = pyo.RangeSet(0, 2), pyo.RangeSet(0, 2)
    m.x = pyo.Var(m.b, m.j, domain=pyo.Integers, bounds=(0, 3))
    m.shared = pyo.Var(m.j, domain=pyo.Integers if seed % 2 else pyo.Reals, bounds=(-1, 4))
    a, c = rng.integers(1, 6, (3, 3)), rng.integers(-9, 10, (3, 4))
    m.own = pyo.Constraint(
        m.b,
        rule=lambda m, b: (
            sum(int(a[b, j]) * m.x[b, j] for j in m.j) + m.shared[b] + m.shared[(b + 1) % 3] <= 9 + int(a[b, 0])
        ),
    )
    m.first = pyo.Constraint(expr=m.shared[0] + 2 * m.shared[2] <= 5)
    m.link = pyo.Constraint(expr=sum(m.x[b, 0] for b in m.b) + m.shared[0] <= 5)
    m.cost = pyo.Objective(
        expr=sum(int(c[b, j]) * m.x[b, j] for b in m.b for j in m.j)
        + sum(int(c[b, 3]) / 2 * m.shared[b] for b in m.b)
        + seed,
        sense=pyo.maximize if seed % 3 else pyo.minimize,
    )
    return CompactModel.from_pyomo(m)


def partition(model, in_master=False):
    """Return one block per row ``own``, with linking variables in their first block or in the master."""
    of_row = np.array([index if name == "own" else MASTER for name, index in model.formulation.row_keys])
    of_column = np.full(len(model.names), MASTER)
    for row in np.flatnonzero(of_row != MASTER).tolist():
        for column in model.rows.indices[model.rows.indptr[row] : model.rows.indptr[row + 1]].tolist():
            if of_column[column] == MASTER and not (in_master and model.names[column].startswith("shared")):
                of_column[column] = of_row[row]
    return Partition((1, 2, 3), of_column, of_row)


@pytest.mark.parametrize("in_master", [False, True])
@pytest.mark.parametrize("seed", range(examples(8, 60)))
def test_optimum_equals_that_of_highs(seed, in_master):
    model = random_model(seed)
    model = dataclasses.replace(model, blocks=partition(model, in_master))
    assert len(linking_variables(model, model.blocks)) == 3
    problem = decompose(model)
    result = solve(problem)
    f = model.formulation
    program = Program(f.sense.sign < 0, f.matrix, f.costs, f.lower, f.upper, f.row_lower, f.row_upper, f.offset)
    assert result.termination is Termination.OPTIMAL
    assert result.objective == pytest.approx(solve_mip(program, f.integer).objective)
    assert problem.check(result.answer) == pytest.approx(result.objective)
    assert tuple(result.answer) == model.names


def test_rows_of_the_master_alone_are_repeated_in_blocks():
    model = random_model(1)
    split, blocks = copy_linking(model, partition(model, in_master=True))
    rows = [name for name in split.source.constraint_names if name.startswith("first in block")]
    assert rows == ["first in block 1", "first in block 2", "first in block 3"]  # each has one of the variables
    assert len(split.names) == len(model.names) + 8
    first = split.source.constraint_names.index("first in block 2")
    used = split.rows.indices[split.rows.indptr[first] : split.rows.indptr[first + 1]]
    assert sorted(split.names[k] for k in used) == ["shared[0] in block 2", "shared[2] in block 2"]
    assert (blocks.of_column[used] == 1).all()
    assert blocks.of_row[first] == 1


def test_values_of_the_user_are_copied_and_removed_again():
    model = random_model(1)
    split, blocks = copy_linking(model, partition(model))
    values = np.arange(len(model.names), dtype=float)
    assert np.array_equal(split.to_user(split.from_user(values)), values)
    assert len(split.from_user(values)) == len(blocks.of_column) == len(values) + 3
    assert split.names[len(values) :] == ("shared[0] in block 3", "shared[1] in block 2", "shared[2] in block 3")


def test_a_model_without_linking_variables_is_itself():
    model = random_model(0)
    blocks = Partition(("a",), np.zeros(len(model.names), dtype=int), np.zeros(5, dtype=int))
    assert copy_linking(model, blocks) == (model, blocks)
