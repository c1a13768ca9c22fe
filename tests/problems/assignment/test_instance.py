import re

import numpy as np
import pytest

from colgen import InputError, solve
from colgen.problems.assignment import Assignment, AssignmentInstance, random, read, write


@pytest.mark.parametrize("kind", ["C", "D"])
def test_written_files_are_read_back(kind, tmp_path):
    instance = random(3, 7, 1, kind=kind)
    write(instance, tmp_path / "c.txt")
    again = read(tmp_path / "c.txt")
    for name in ("costs", "sizes", "capacities"):
        assert (getattr(again, name) == getattr(instance, name)).all()
    assert again.name == "c"


def test_lines_may_break_anywhere(tmp_path):
    (tmp_path / "d").write_text(" 2\n2 1 2 3\n 4.5 5 6 7 8 9\n\n10 ")
    instance = read(tmp_path / "d")
    assert instance.costs.tolist() == [[1.0, 2.0], [3.0, 4.5]]
    assert instance.sizes.tolist() == [[5, 6], [7, 8]]
    assert instance.capacities.tolist() == [9, 10]
    assert instance.step == 0.5


def test_steps_are_those_of_any_units():
    costs, sizes = np.array([[6.0, 9.0], [12.0, 0.0]]), np.ones((2, 2))
    for unit in (2.0**-1000, 0.5, 1.0, 2.0**900):
        assert AssignmentInstance(unit * costs, sizes, [1, 1]).step == 3.0 * unit
    assert AssignmentInstance(0.0 * costs, sizes, [1, 1]).step == 1.0
    assert AssignmentInstance(0.1 * costs + 0.3, sizes, [1, 1]).step is None
    assert AssignmentInstance(np.tile([1.0, 0.1, 1e300], (50, 1)), np.ones((50, 3)), np.ones(50)).step is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the numbers of machines and tasks first, not ''"),
        ("2 x", "expected tasks, not 'x'"),
        ("0 2", "expected the numbers of machines and tasks first, not '0 2'"),
        (
            "1 2 1 1 1 1",
            "expected 7 numbers for 1 machines and 2 tasks (costs, sizes, capacities), or the number of problems",
        ),
        ("1 1 nan 1 1", "expected numbers, not 'nan'"),
        ("1 1 1 1.5 1", "sizes"),
        ("1 1 1 1 -1", "capacities"),
    ],
)
def test_malformed_files_raise(text, message, tmp_path):
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        read(tmp_path / "bad.txt")
    assert str(raised.value).startswith(str(tmp_path / "bad.txt"))


def test_capacities_with_tables_that_exhaust_memory_raise():
    sizes = np.array([[10**9, 10**9 + 1, 10**9 - 1]])
    with pytest.raises(InputError, match="expected capacities of at most"):
        AssignmentInstance(np.ones((1, 3)), sizes, np.array([2 * 10**9]))
    # Only the units of sizes and the usable capacity count.
    assert (
        AssignmentInstance(np.ones((1, 3)), sizes // 10**9 * 10**9 + 10**9, np.array([10**15])).in_units[1].max() < 10
    )


def test_answers_are_checked():
    instance = AssignmentInstance(np.ones((2, 2)), [[2, 2], [2, 2]], [3, 3])
    assert instance.check([0, 1]) == 2.0
    for answer, message in (
        ([0, 0], "machine 0 has room for 3, its tasks need 4"),
        ([0], "1 tasks have a machine, there are 2"),
        ([0, 2], "task 1 is given to machine 2, expected 0 to 1"),
        ([0, 0.5], "expected a machine for each task"),
    ):
        with pytest.raises(ValueError, match=message):
            instance.check(answer)


SEVERAL = "2\n2 3\n1 9 9\n9 1 1\n1 1 1\n1 1 1\n2 2\n1 1\n5\n1\n1\n"


@pytest.mark.parametrize(
    ("name", "asked", "costs", "reading"),
    [
        ("gap.txt", {}, [[1, 9, 9], [9, 1, 1]], "problem 1 of 2 (--option problem=K for another); costs are minimised"),
        ("gap.txt", {"problem": 2}, [[5]], "problem 2 of 2 (--option problem=K for another); costs are minimised"),
        ("gap.txt", {"problem": 2, "sense": "max"}, [[-5]], "profits are maximised, as negative costs"),
        ("gap3.txt", {"problem": 2}, [[-5]], "profits are maximised, as negative costs: gap1 to gap12 hold profits"),
        ("gap3.txt", {"problem": 2, "sense": "min"}, [[5]], "costs are minimised"),
        ("gapa.txt", {"problem": 2}, [[5]], "costs are minimised"),
    ],
)
def test_a_problem_of_a_file_of_several(name, asked, costs, reading, tmp_path):
    (tmp_path / name).write_text(SEVERAL)
    instance = read(tmp_path / name, **asked)
    assert instance.costs.tolist() == costs
    assert instance.reading.endswith(reading)


@pytest.mark.parametrize(
    ("text", "asked", "message"),
    [
        (SEVERAL, {"problem": 3}, "expected a problem from 1 to 2, not 3"),
        (SEVERAL, {"sense": "most"}, "sense: expected 'min' or 'max'"),
        (SEVERAL + "1", {}, "number of problems.*not 23"),
        (SEVERAL[:-2], {}, "number of problems.*not 21"),
        ("1 1 3 1 1", {"problem": 2}, "expected problem 1.*not 2"),
    ],
)
def test_problems_missing_from_a_file_raise(text, asked, message, tmp_path):
    (tmp_path / "gap.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "gap.txt", **asked)


def test_profits_are_maximised(tmp_path):
    (tmp_path / "gap1.txt").write_text(SEVERAL)
    result = solve(Assignment(read(tmp_path / "gap1.txt")))
    assert result.is_optimal
    assert result.objective == -27.0
