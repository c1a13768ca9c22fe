"""Identical blocks are merged, whatever the order of their variables and rows, and no others."""

import dataclasses

import networkx as nx
import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from colgen import CompactModel, Record, decompose, solve
from colgen.certificate.checker import check
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.reading import identical_blocks
from colgen.decomposition.reading.compact_model import MASTER, Partition
from colgen.decomposition.reading.identical_blocks import group_identical, subproblems
from colgen.decomposition.reading.subproblems import permuted, split
from colgen.decomposition.splitting import Splitting
from colgen.solvers.linear.named import NamedProgram
from colgen.solvers.linear.program import Program
from tests.decomposition import models


@dataclasses.dataclass
class Part:
    """A block: rows ``matrix·x ≤ sides``, and its coefficients in the linking rows."""

    matrix: np.ndarray
    sides: np.ndarray
    linking: np.ndarray
    costs: np.ndarray
    upper: np.ndarray
    integer: np.ndarray

    def shuffled(self, rng):
        rows, columns = rng.permutation(len(self.sides)), rng.permutation(len(self.costs))
        return Part(
            self.matrix[rows][:, columns],
            self.sides[rows],
            self.linking[:, columns],
            self.costs[columns],
            self.upper[columns],
            self.integer[columns],
        )


def part_of(graph):
    """Return the stable sets of a graph; its variables have equal costs and one linking row."""
    edges = list(graph.edges)
    size = len(graph)
    matrix = np.zeros((len(edges), size))
    for k, ends in enumerate(edges):
        matrix[k, list(ends)] = 1.0
    return Part(
        matrix, np.ones(len(edges)), np.ones((1, size)), np.ones(size), np.ones(size), np.ones(size, dtype=bool)
    )


def drawn_part(rng, size):
    """Return a block with few different numbers, so that many variables are tied."""
    height = int(rng.integers(1, 5))
    integer = rng.random(size) < 0.8
    integer[0] = True
    return Part(
        rng.integers(0, 3, (height, size)).astype(float),
        rng.integers(2, 4, height).astype(float),
        rng.integers(0, 2, (2, size)).astype(float),
        rng.integers(1, 3, size).astype(float),
        rng.integers(1, 3, size).astype(float),
        integer,
    )


def join(parts, demand=1.0):
    """Return a covering model over blocks, and its partition."""
    sizes, heights = [len(part.costs) for part in parts], [len(part.sides) for part in parts]
    links = len(parts[0].linking)
    matrix = sparse.vstack(
        [
            sparse.csr_array(np.hstack([part.linking for part in parts])),
            sparse.block_diag([part.matrix for part in parts]),
        ]
    )
    width, height = sum(sizes), sum(heights)
    program = Program(
        False,
        sparse.csc_array(matrix),
        np.concatenate([part.costs for part in parts]),
        np.zeros(width),
        np.concatenate([part.upper for part in parts]),
        np.concatenate([np.full(links, demand), np.full(height, -np.inf)]),
        np.concatenate([np.full(links, np.inf), *(part.sides for part in parts)]),
        0.0,
    )
    names = tuple(f"x{k}" for k in range(width)), tuple(f"c{k}" for k in range(links + height))
    integer = np.concatenate([part.integer for part in parts])
    compact = CompactModel.of_program(NamedProgram(program, integer, *names), "joined")
    numbers = np.arange(len(parts))
    of_row = np.concatenate([np.full(links, MASTER), np.repeat(numbers, heights)])
    return compact, Partition(tuple(numbers.tolist()), np.repeat(numbers, sizes), of_row)


def counts(parts):
    return [sub.count for sub in subproblems(*join(parts))]


@given(st.integers(0, 2**32), st.integers(1, 8), st.booleans())
def test_shuffled_blocks_are_merged_and_their_variables_correspond(seed, size, connected):
    rng = np.random.default_rng(seed)
    part = drawn_part(rng, size)
    if connected:
        part.linking[:] = 1.0
    compact, partition = join([part, part.shuffled(rng), part.shuffled(rng)])
    (group,) = group_identical(split(compact, partition))
    dense = [(block.matrix.toarray(), block.linking.toarray(), block.costs, block.upper) for block in group]
    for other in dense[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(dense[0], other, strict=True))
    for block in group:
        assert sorted(block.columns[0]) == np.flatnonzero(partition.of_column == block.number).tolist()
        assert np.array_equal(compact.formulation.costs[block.columns[0]], block.costs)


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_near_copies_are_not_merged(seed, size):
    rng = np.random.default_rng(seed)
    part = drawn_part(rng, size)
    other = part.shuffled(rng)
    array = getattr(other, str(rng.choice(["matrix", "sides", "linking", "costs", "upper"])))
    array[tuple(rng.integers(array.shape))] += 7.0
    assert counts([part, other]) == [1, 1]


@pytest.mark.parametrize(
    "graph",
    [
        nx.cycle_graph(9),
        nx.petersen_graph(),
        nx.disjoint_union_all([nx.cycle_graph(4)] * 5),
        nx.hypercube_graph(4),
        nx.empty_graph(12),
        nx.complete_graph(8),
        *(nx.random_regular_graph(3, 14, seed=seed) for seed in range(4)),
        nx.line_graph(nx.complete_bipartite_graph(4, 4)),
    ],
)
def test_stable_sets_on_symmetric_graphs_are_merged(graph):
    part = part_of(nx.convert_node_labels_to_integers(graph))
    part.matrix = np.vstack([part.matrix, np.ones(len(part.costs))])
    part.sides = np.append(part.sides, 4.0)
    rng = np.random.default_rng(len(graph))
    assert counts([part, *(part.shuffled(rng) for _ in range(4))]) == [5]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))),
        (nx.circular_ladder_graph(3), nx.complete_bipartite_graph(3, 3)),
        # The rook's graph and Shrikhande's: strongly regular with equal parameters.
        (
            nx.line_graph(nx.complete_bipartite_graph(4, 4)),
            nx.from_edgelist(
                ((i, j), ((i + a) % 4, (j + b) % 4))
                for i in range(4)
                for j in range(4)
                for a, b in ((0, 1), (1, 0), (1, 1))
            ),
        ),
    ],
)
def test_different_graphs_with_equal_colours_are_not_merged(one, other):
    parts = [part_of(nx.convert_node_labels_to_integers(graph)) for graph in (one, other)]
    rng = np.random.default_rng(0)
    assert counts([*parts, parts[1].shuffled(rng), parts[0].shuffled(rng)]) == [2, 2]


def test_blocks_that_take_too_long_to_pair_stay_separate(monkeypatch):
    monkeypatch.setattr(identical_blocks, "_MOST_WORK", 1)
    part = part_of(nx.cycle_graph(9))
    assert counts([part, part, part.shuffled(np.random.default_rng(0))]) == [2, 1]


def test_proofs_hold_for_merged_shuffled_blocks(tmp_path):
    rng = np.random.default_rng(1)
    part = part_of(nx.cycle_graph(5))
    compact, partition = join([part, *(part.shuffled(rng) for _ in range(3))], demand=7.0)
    (merged,) = subproblems(compact, partition)
    problem = Decomposed(Splitting(compact, partition, (merged,)), compact)
    result = solve(problem, record=Record(certificate=tmp_path / "proof.jsonl"))
    verdict = check((tmp_path / "proof.jsonl").read_text().splitlines())
    assert (verdict.proves, verdict.claims.trusted, result.objective) == ("optimal", 0, 7.0)


def test_tied_variables_do_not_change_the_optimum():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        part, single = drawn_part(rng, 4), drawn_part(rng, 3)
        compact, partition = join([part, part.shuffled(rng), single, part.shuffled(rng)], demand=2.0)
        found = [
            solve(Decomposed(Splitting(compact, partition, subproblems(compact, partition, aggregate=which)), compact))
            for which in (True, False)
        ]
        assert found[0].termination is found[1].termination
        if found[0].answer is not None:
            assert found[0].objective == pytest.approx(found[1].objective)
            values = np.array([found[0].answer[name] for name in compact.names])
            f = compact.formulation
            assert (compact.rows @ values >= f.row_lower - 1e-6).all()
            assert (compact.rows @ values <= f.row_upper + 1e-6).all()


def test_blocks_of_scaled_columns_are_merged():
    rng = np.random.default_rng(5)
    part = drawn_part(rng, 6)
    part.integer[:] = [True, True, False, False, False, True]
    for name in ("matrix", "linking"):
        getattr(part, name)[:, 2:5] *= 1e-8
    part.costs[2:5] *= 1e-8
    part.upper[2:5] *= 1e8
    compact, partition = join([part, part.shuffled(rng), part.shuffled(rng)])
    scaled = compact.scaled()
    assert scaled is not compact
    assert [sub.count for sub in subproblems(scaled, partition)] == [3]


def test_permuted_moves_variables_and_rows():
    part = drawn_part(np.random.default_rng(3), 5)
    (block,) = split(*join([part]))
    rows = np.arange(len(block.row_upper))[::-1]
    moved = permuted(block, np.array([4, 2, 0, 1, 3]), rows)
    assert np.array_equal(moved.matrix.toarray(), block.matrix.toarray()[::-1][:, [4, 2, 0, 1, 3]])
    assert np.array_equal(moved.row_upper, block.row_upper[::-1])


def test_blocks_that_differ_in_one_number_are_not_merged():
    model = models.packing(0)
    model.used[3].setub(0)
    subs = decompose(model, "bin").splitting.subproblems
    assert sorted(sub.count for sub in subs) == [1, 4]


def test_blocks_with_variables_in_another_order_are_merged():
    m = pyo.ConcreteModel()
    m.a, m.b = pyo.Var(range(3), domain=pyo.Binary), pyo.Var(range(2, -1, -1), domain=pyo.Binary)
    m.ra = pyo.Constraint(expr=sum((k + 2) * m.a[k] for k in range(3)) <= 5)
    m.rb = pyo.Constraint(expr=sum((k + 2) * m.b[k] for k in range(3)) <= 5)
    m.link = pyo.Constraint(range(3), rule=lambda m, k: m.a[k] + m.b[k] <= 1)
    m.o = pyo.Objective(expr=sum((k + 1) * (m.a[k] + m.b[k]) for k in range(3)), sense=pyo.maximize)
    blocks = {"ra": 0, "rb": 1}
    problem = decompose(m, lambda c: blocks.get(c.name))
    (sub,) = problem.splitting.subproblems
    names = problem.compact.names
    assert [[names[k] for k in row] for row in sub.columns] == [[f"{v}[{k}]" for k in range(3)] for v in "ab"]


def test_unbounded_blocks_are_not_merged():
    m = models.lots(0)
    assert not any(sub.unbounded for sub in decompose(m, "item").splitting.subproblems)
    m.empty.deactivate()
    m.setup.deactivate()
    assert all(sub.unbounded for sub in decompose(m, "item").splitting.subproblems)
    twins = pyo.ConcreteModel()
    twins.k = pyo.RangeSet(2)
    twins.x, twins.y = pyo.Var(twins.k, domain=pyo.NonNegativeReals), pyo.Var(twins.k, domain=pyo.Binary)
    twins.own = pyo.Constraint(twins.k, rule=lambda m, k: m.x[k] >= m.y[k])
    twins.link = pyo.Constraint(expr=twins.x[1] + twins.x[2] >= 3)
    twins.o = pyo.Objective(expr=twins.x[1] + twins.x[2])
    assert [sub.count for sub in decompose(twins, "k").splitting.subproblems] == [1, 1]


@pytest.mark.parametrize("graph", [nx.petersen_graph(), nx.hypercube_graph(3), nx.random_regular_graph(3, 14, seed=0)])
def test_any_number_of_equal_symmetric_blocks_is_merged(graph, monkeypatch):
    """Pairs that are identical do not use up the limit on the work of the search."""
    monkeypatch.setattr(identical_blocks, "_MOST_WORK", 12_000)
    rng, part = np.random.default_rng(0), part_of(nx.convert_node_labels_to_integers(graph))
    assert counts([part.shuffled(rng) for _ in range(40)]) == [40]


def test_variables_of_a_regular_graph_are_distinguished_in_one_step():
    part = part_of(nx.random_regular_graph(3, 30, seed=0))
    (alike,) = identical_blocks._classes(split(*join([part, part.shuffled(np.random.default_rng(0))])))
    assert [len(block.tied) for block in alike] == [30, 30]
    assert [len(block.distinguished.tied) for block in alike] == [0, 0]
    assert alike[0].distinguished.is_like(alike[1].distinguished)
