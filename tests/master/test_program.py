"""The linear program of a master: built at the first solve, and then kept in step with the table."""

import pytest

from tests.master.programs import col, covering


def test_the_program_is_built_at_the_first_solve():
    master = covering()
    master.add([col((1, 1)), col((1, 0))])
    assert not master.is_built
    master.solve()
    assert master.is_built


@pytest.mark.parametrize("early", [False, True])
def test_when_it_is_built_makes_no_difference(early):
    master = covering(demands=(3.0, 2.0))
    if early:
        master.add([col((1, 1), 50.0)])
        master.solve()
    master.add([col((2, 1), 2.0), col((0, 1), 1.0), col((1, 1), 50.0)])
    solved = master.solve()
    assert master.is_built
    assert solved.objective == pytest.approx(covering_optimum())


def covering_optimum():
    """min 2x + y + 1 with 2x ≥ 3, x + y ≥ 2: x = 2 and y = 0, or x = 1.5 and y = 0.5."""
    return 2 * 1.5 + 0.5 + 1.0


def test_values_are_those_of_all_columns_in_the_order_of_the_table():
    master = covering(demands=(3.0, 2.0))
    columns = [col((2, 1), 2.0), col((0, 1), 1.0)]
    master.add(columns)
    solved = master.solve()
    assert len(solved.values) == len(master.table)
    used = {column.structure: value for column, value in master.solution(solved).columns}
    assert used == pytest.approx({columns[0].structure: 1.5, columns[1].structure: 0.5})
