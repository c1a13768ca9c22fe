"""Presolve keeps the optimum, the blocks of the model without redundant rows, and the certificate of the file."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from colgen import CompactModel, Record, decompose, solve
from colgen.certificate.checker import check
from colgen.decomposition.detection import find_blocks
from colgen.decomposition.reading.compact_model import Names
from colgen.decomposition.reading.presolve import reduced
from colgen.model.rows import Rows
from colgen.solvers.linear.named import NamedProgram
from colgen.solvers.linear.program import Program
from tests.decomposition import models

INF = np.inf


def arrays(matrix, low, high, lower, upper, integer=None, costs=None, offset=0.0):
    """Return a model from arrays."""
    matrix = sparse.csc_array(np.array(matrix, dtype=float))
    height, width = matrix.shape
    costs = np.ones(width) if costs is None else np.array(costs, dtype=float)
    ends = (np.array(each, dtype=float) for each in (lower, upper, low, high))
    program = Program(False, matrix, costs, *ends, offset)
    integer = np.ones(width, dtype=bool) if integer is None else np.array(integer)
    names = tuple(f"x{k}" for k in range(width)), tuple(f"c{k}" for k in range(height))
    return CompactModel.of_program(NamedProgram(program, integer, *names), "drawn")


def test_a_row_of_one_variable_is_a_bound_and_fixed_variables_join_the_sides():
    """2 x0 = 4 fixes x0, then 3 x0 + 2 x1 <= 9 bounds x1, and the last row is one of x2 alone."""
    rows = [[2, 0, 0], [3, 2, 0], [1, 0, 3], [1, 1, 1]]
    f = reduced(arrays(rows, [4, -INF, 1, -INF], [4, 9, INF, 8], [0, 0, 0], [9, 9, 9]).formulation)
    assert f.lower.tolist() == [2, 0, 0]
    assert f.upper.tolist() == [2, 1, 9]
    assert f.matrix.toarray().tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 1]]
    assert f.row_upper.tolist() == [INF, INF, INF, 6]


def test_the_tightest_of_parallel_rows_stays():
    rows = [[1, 2], [2, 4], [-1, -2], [1, 2], [1, 3]]
    f = reduced(arrays(rows, [-INF, 1, -4, 2, -INF], [5, 8, INF, INF, 5], [0, 0], [9, 9]).formulation)
    # 1/2 <= r <= 4 and r <= 5 and r <= 4 are implied by the second and fourth rows, r >= 2 is not.
    assert [bool(row.any()) for row in f.matrix.toarray()] == [False, True, False, True, True]


def test_bounds_that_exclude_all_points_are_left_to_the_solver():
    for row, low, high in (([2, 0], 5, INF), ([2, 0], 1, 1), ([0, 0], 1, 2)):
        model = arrays([row, [1, 1]], [low, -INF], [high, 3], [0, 0], [2, 2])
        assert reduced(model.formulation) is model.formulation


def test_a_model_without_redundant_rows_is_returned_as_it_is():
    f = CompactModel.from_pyomo(models.assignment(0)).formulation
    assert reduced(f) is f


def written(model, rng):
    """Return a model as an algebraic layer may write it: with repeated, scaled, empty rows, and bounds as rows."""
    f, (height, width) = model.formulation, model.rows.shape
    again, twice = (rng.choice(height, max(1, height // 3), replace=False) for _ in range(2))
    finite = np.flatnonzero(np.isfinite(f.upper))
    of_bounds = sparse.csr_array((np.ones(len(finite)), (np.arange(len(finite)), finite)), shape=(len(finite), width))
    fixed = rng.integers(0, 3, (height, 2)).astype(float)  # two fixed variables in many rows, one of them by a row
    moved = fixed @ [2.0, 1.0]
    matrix = sparse.block_array([[model.rows, sparse.csr_array(fixed)], [sparse.csr_array((1, width)), [[0.0, 3.0]]]])
    low, high = np.append(f.row_lower + moved, 3.0), np.append(f.row_upper + moved, 3.0)
    wide = sparse.csr_array(matrix)
    more = sparse.csr_array(sparse.hstack([of_bounds, sparse.csr_array((len(finite), 2))]))
    matrix = sparse.vstack([wide, wide[again, :], 2.0 * wide[twice, :], more, sparse.csr_array((3, width + 2))])
    low = np.concatenate([low, low[again], 2.0 * low[twice], np.full(len(finite), -INF), [-INF, 0, -1]])
    high = np.concatenate([high, high[again], 2.0 * high[twice], f.upper[finite], [1, INF, 1]])
    order = rng.permutation(len(low))
    return arrays(
        matrix.toarray()[order],
        low[order],
        high[order],
        [*f.lower, 2, 0],
        [*np.where(np.isfinite(f.upper), INF, f.upper), 2, 5],
        [*f.integer, True, True],
        [*f.costs, 0, 0],
        f.offset,
    )


@pytest.mark.parametrize("name", ["assignment", "packing", "cutting", "lots"])
def test_blocks_and_proofs_are_those_of_the_clean_model(tmp_path, name):
    build = {"assignment": models.assignment, "packing": models.packing, "cutting": models.cutting, "lots": models.lots}
    clean = CompactModel.from_pyomo(build[name](0))
    height, width = clean.rows.shape
    names = tuple(f"x{k}" for k in range(width)), tuple(f"c{k}" for k in range(height))
    clean = dataclasses.replace(clean, source=Names("nameless", *names))
    dirty = written(clean, np.random.default_rng(0))
    if clean.formulation.sense.name == "MAXIMIZE":
        dirty = dataclasses.replace(dirty, formulation=negated(dirty.formulation))
    found, wanted = find_blocks(dirty), find_blocks(clean)
    assert (len(found.partition.names), found.recognized) == (len(wanted.partition.names), wanted.recognized)
    path = tmp_path / "proof.jsonl"
    result = solve(decompose(dirty, found), record=Record(certificate=path))
    sign = -1.0 if clean.formulation.sense.name == "MAXIMIZE" else 1.0
    assert result.objective == pytest.approx(sign * solve(decompose(clean, wanted)).objective)
    verdict = check(path.read_text().splitlines())
    assert verdict.checked
    assert float(verdict.bound) == pytest.approx(result.objective)


def negated(f):
    """Return a minimisation of the negative of the costs."""
    return Rows.of_arrays(
        f.sense,
        f.matrix,
        columns=(f.column_keys, -f.costs, f.lower, f.upper),
        rows=(f.row_keys, f.row_lower, f.row_upper),
        integer=f.integer,
        artificial=f.artificial,
        offset=-f.offset,
    )
