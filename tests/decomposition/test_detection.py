"""Detected blocks are those of the model's construction."""

import dataclasses

import numpy as np
import pyomo.environ as pyo
import pytest

from colgen import CompactModel, InputError, decompose, solve
from colgen.decomposition import detection
from colgen.decomposition.detection import find_blocks
from colgen.decomposition.reading.compact_model import Names
from tests.decomposition import models


@pytest.mark.parametrize(
    ("make", "blocks", "linking"),
    [
        (lambda: models.assignment(0, 4, 12), 4, ("assign",)),
        (lambda: models.packing(0), 5, ("packed",)),
        (lambda: models.cutting(0), 5, ("wanted",)),
        (lambda: models.lots(0, 4, 5), 4, ("room",)),
        (lambda: models.anything(0, blocks=6), 6, ("equal", "range", "least")),
    ],
)
def test_linking_rows_are_found(make, blocks, linking):
    found = find_blocks(make())
    assert len(found.partition.names) == blocks
    assert found.linking == linking
    assert found.score > 0.1
    assert found.remarks == ()
    assert str(found).startswith(f"{blocks} blocks of ")


@pytest.mark.parametrize(
    ("make", "blocks"),
    [
        (lambda: models.assignment(0, 4, 12), 4),
        (lambda: models.packing(0), 5),
        (lambda: models.cutting(0), 5),
        (lambda: models.lots(0, 4, 5), 4),
    ],
)
def test_blocks_are_found_without_names(make, blocks):
    model = CompactModel.from_pyomo(make())
    height, width = model.rows.shape
    names = Names("nameless", tuple(f"x{k}" for k in range(width)), tuple(f"c{k}" for k in range(height)))
    found = find_blocks(dataclasses.replace(model, source=names))
    assert len(found.partition.names) == blocks
    assert found.score > 0.1


def test_a_variable_that_alone_links_large_parts_is_found():
    m = models.assignment(0, 4, 12)
    m.overtime = pyo.Var(bounds=(0, 3))
    m.own = pyo.Constraint(m.machine, m.task, rule=lambda m, j, t: m.x[j, t] + m.x[j, (t + 1) % 12] <= 1)
    m.late = pyo.Constraint(m.machine, rule=lambda m, j: sum(m.x[j, t] for t in m.task) <= 12 * m.overtime)
    m.room.deactivate()
    m.assign.deactivate()
    compact = CompactModel.from_pyomo(m)
    (linking,) = detection._with_linking_variables(compact, np.zeros(52, dtype=bool))
    assert [name for name, _ in np.array(compact.formulation.row_keys, dtype=object)[linking]] == ["late"] * 4
    assert find_blocks(m).linking == ("late",)


def test_blocks_are_written_for_gcg(tmp_path):
    model = models.packing(0)
    find_blocks(CompactModel.from_pyomo(model)).write_dec(tmp_path / "blocks.dec")
    assert (tmp_path / "blocks.dec").read_text().split()[:4] == ["PRESOLVED", "0", "NBLOCKS", "5"]


def test_found_blocks_can_be_decomposed():
    model = models.assignment(0)
    message = solve(decompose(models.assignment(0), "machine"))
    found = solve(decompose(model, find_blocks(model)))
    assert solve(decompose(models.assignment(0))).root_bound == pytest.approx(message.root_bound)
    assert found.root_bound == pytest.approx(message.root_bound)
    with pytest.raises(InputError, match="belong to another model"):
        decompose(models.assignment(0), find_blocks(model))


def test_a_decomposition_that_cannot_pay_has_remarks():
    m = models.assignment(0)
    by_task = decompose(m, "task")  # one machine for each task: the hull already
    assert "hull" in by_task.remarks[0]
    assert "hull" in solve(by_task, relaxation=True).notes[-1]
    one = decompose(m, lambda c: "all" if c.parent_component().name == "room" else None)
    assert "one block" in one.remarks[0]
    m.room.deactivate()
    assert find_blocks(m).score == 0.0
    assert "hull" in str(find_blocks(m))


def test_blocks_that_can_pay_are_preferred_to_a_higher_share_of_zeros():
    m = models.assignment(0, 4, 12)
    compact = CompactModel.from_pyomo(m)
    by_task = np.array([name == "room" for name, _ in compact.formulation.row_keys])
    cannot, found = detection._components(compact, by_task), find_blocks(m)
    assert detection._score(compact, cannot) > found.score > 0.0
    assert detection.score_blocks(compact, cannot).score == 0.0
    assert found.linking == ("assign",)
    assert np.array_equal(find_blocks(m).partition.of_row, found.partition.of_row)


def test_a_fixed_variable_links_no_blocks():
    m, plain = models.assignment(0), solve(decompose(models.assignment(0)))
    m.one = pyo.Var(bounds=(1, 1))
    bodies = {j: (m.room[j].body, m.room[j].upper) for j in m.machine}
    m.own = pyo.Constraint(m.machine, rule=lambda m, j: bodies[j][0] <= bodies[j][1] * m.one)
    m.room.deactivate()
    found = find_blocks(m)
    assert (len(found.partition.names), found.linking) == (3, ("assign",))
    assert solve(decompose(m, found)).objective == plain.objective
    assert m.one.value == 1.0


def test_a_fixed_variable_of_one_block_belongs_to_it():
    m = models.assignment(0)
    m.x[1, 2].setub(0)
    assert find_blocks(m).recognized == "3 knapsacks"
    assert np.bincount(find_blocks(m).partition.of_column).tolist() == [8, 8, 8]


def test_of_many_families_the_largest_are_tried():
    masks = detection._masks(["b", "a", "c", "a", "c", "c"], 2)
    assert [np.flatnonzero(mask).tolist() for mask in masks] == [[1, 3], [2, 4, 5]]
    assert len(detection._masks(["b", "a", "c"], 9)) == 3


def test_a_model_of_one_piece_has_no_blocks():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), domain=pyo.Binary)
    m.row = pyo.Constraint(expr=2 * m.x[0] + 3 * m.x[1] + 4 * m.x[2] <= 5)
    m.o = pyo.Objective(expr=-m.x[0] - m.x[1] - m.x[2])
    assert find_blocks(m) is None
    with pytest.raises(InputError, match="none were found"):
        decompose(m)


def test_the_arrowhead_has_a_mark_for_each_entry(tmp_path):
    pytest.importorskip("matplotlib")
    found = find_blocks(models.lots(0, 4, 5))
    figure = found.draw(tmp_path / "arrowhead.png")
    (axes,) = figure.axes
    assert len(axes.patches) == 4
    assert len(axes.lines[0].get_xdata()) == found.compact.rows.nnz
    assert (tmp_path / "arrowhead.png").stat().st_size > 0


def test_given_blocks_are_scored():
    m = models.lots(0, 4, 5)
    by_item, by_period = find_blocks(m, "item"), find_blocks(m, "period")
    assert str(by_item) == str(find_blocks(m))
    assert by_period.linking == ("balance",)
    assert len(by_period.partition.names) == 5
    by_task = find_blocks(models.assignment(0), "task")
    assert by_task.score == 0.0
    assert "cannot pay" in str(by_task)
    with pytest.raises(InputError, match="'machines'"):
        find_blocks(models.assignment(0), "machines")


def test_candidates_come_by_share_and_the_first_that_can_pay_is_the_best():
    compact = CompactModel.from_pyomo(models.assignment(0, 4, 12))
    found = list(detection.detected(compact))
    shares = [detection._score(compact, each.partition) for each in found]
    assert shares == sorted(shares, reverse=True)
    assert found[0].score == 0.0
    best = find_blocks(compact)
    assert best.score == max(each.score for each in found) > 0.0
    assert best.linking == ("assign",)


def test_blocks_of_a_file_are_scored_and_those_of_another_model_refused():
    compact = CompactModel.from_pyomo(models.assignment(0, 4, 12))
    best = find_blocks(compact)
    assert str(find_blocks(compact, best.partition)) == str(best)
    with pytest.raises(InputError, match="other constraints or variables"):
        decompose(models.assignment(0, 5, 12), best.partition)
