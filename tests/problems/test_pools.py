"""Column pools that are passed from one instance of a template to another."""

import numpy as np
import pytest

from colgen import ColumnGeneration, Method, solve
from colgen.problems import assignment, colouring, coreference, cutting_stock, vehicle_routing
from colgen.problems.assignment.decisions import AssignmentsForbidden


def rolls(seed):
    rng = np.random.default_rng(seed)
    widths = np.unique(rng.integers(20, 70, 5 + seed % 2))
    demands = rng.integers(1, 20, len(widths))
    return cutting_stock.CuttingStock(cutting_stock.CuttingStockInstance(100 + seed % 3, tuple(widths), tuple(demands)))


TEMPLATES = {
    "assignment": lambda seed: assignment.Assignment(assignment.random(3, 8 + seed % 2, seed)),
    "colouring": lambda seed: colouring.Colouring(colouring.random(11 + seed % 3, seed, density=0.4)),
    "coreference": lambda seed: coreference.Coreference(
        coreference.random_signs(10 + seed % 3, seed), contracted=False, settled=False
    ),
    "cutting_stock": rolls,
    "vehicle_routing": lambda seed: vehicle_routing.VehicleRouting(
        vehicle_routing.random(seed, customers=6 + seed % 2)
    ),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_pool_of_another_instance_preserves_the_optimum(name):
    pools = [solve(TEMPLATES[name](seed)).pool for seed in range(3)]
    for seed in range(3, 6):
        cold = solve(TEMPLATES[name](seed))
        for pool in pools:
            warm = solve(TEMPLATES[name](seed), start=pool)
            assert (warm.termination, warm.objective) == (cold.termination, pytest.approx(cold.objective))


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_pool_of_the_same_instance_is_used_completely(name):
    for seed in range(3):
        problem = TEMPLATES[name](seed)
        for column in solve(problem).pool:
            codec = TEMPLATES[name](seed).codec()
            again = codec.read(column.structure if codec.write is None else codec.write(column.structure))
            assert (again.cost, again.coefficients) == (column.cost, column.coefficients)


@pytest.mark.parametrize(
    ("name", "structures"),
    [
        ("assignment", [(9, (0,)), (0, (99,)), (0, (1, 1)), (0, tuple(range(8)))]),
        ("colouring", [(), (-1,), (99,), tuple(range(11))]),
        ("coreference", [(), (99,)]),
        ("cutting_stock", [(0, ()), (0, ((0, 99),) * 2), (0, ((99, 1),)), (1, ((0, 1),))]),
        ("vehicle_routing", [(), (1, 1), (99,), (1, 2, 3, 4, 5, 6)]),
    ],
)
def test_invalid_structures_are_rejected(name, structures):
    problem = TEMPLATES[name](0)
    assert [problem.codec().read(structure) for structure in structures] == [None] * len(structures)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_the_answer_of_a_pool_is_used(name, tmp_path, monkeypatch):
    """The run starts from the final answer of the other run, without a warm start of its own."""
    first = solve(TEMPLATES[name](4))
    if not first.certificate or not any(first.certificate.duals.values()):
        pytest.skip("closed without dual values")
    first.pool.save(tmp_path / "pool")
    for pool in (first.pool, tmp_path / "pool"):
        problem = TEMPLATES[name](4)
        monkeypatch.setattr(problem, "warm_start", lambda budget: pytest.fail("there is an answer already"))
        warm = solve(problem, start=pool)
        assert warm.is_optimal
        assert warm.objective == first.objective
        assert len(warm.iterations) <= len(first.iterations)


def test_an_infeasible_answer_is_skipped():
    """With a larger demand, yesterday's rolls lack one piece."""

    def day(demand):
        return cutting_stock.CuttingStock(
            cutting_stock.CuttingStockInstance(100, (45, 36, 31, 14), (demand, 610, 395, 211))
        )

    first = solve(day(97))
    more = solve(day(131), start=first.pool)
    assert more.is_optimal
    assert more.objective == solve(day(131)).objective


def test_inactive_cuts_are_dropped():
    """Each cut slows down pricing, and over many runs their number would grow without limit."""
    drawn = vehicle_routing.random(3, customers=14)
    first = solve(vehicle_routing.VehicleRouting(drawn))
    rows = first.pool.origin.rows
    worth = [key for key in rows if first.pool.origin.duals.get(key, 0.0)]
    warm = solve(vehicle_routing.VehicleRouting(drawn), start=first.pool)
    assert len(worth) < len(rows), "the instance shows nothing"
    assert any(f"{len(worth)} of {len(rows)} cuts of the pool" in note for note in warm.notes)


@pytest.mark.parametrize("seed", range(8))
def test_forbidden_columns_in_batches_and_one_by_one(seed):
    """Columns from a master, with coefficients in branching rows, and new columns."""
    problem = assignment.Assignment(assignment.random(4, 12, seed))
    pool = solve(problem, method=Method(bounding=ColumnGeneration(), heuristics=())).pool
    rng = np.random.default_rng(seed)
    for share in (0.0, 0.05, 0.3, 1.0):
        decision = AssignmentsForbidden("takes", rng.random((4, 12)) < share)
        expected = [decision.allows(column) for column in pool]
        assert decision.allows_each(pool._columns).tolist() == expected
