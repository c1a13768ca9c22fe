"""The benchmark of objectives after a few seconds."""

import pytest

from benchmarks.harness import BenchOptions
from benchmarks.runs import first_gaps
from colgen import InputError
from colgen.problems import assignment


def test_gaps_are_relative_to_the_best_known(tmp_path):
    (tmp_path / "assignment").mkdir()
    assignment.write(assignment.random(3, 12, 0), tmp_path / "assignment" / "one.txt")
    (tmp_path / "assignment" / "optima.csv").write_text("instance,cost\none,100\nabsent,7\n")
    said = []
    (gap,) = first_gaps._gaps(first_gaps._SETS[0], tmp_path, 1.0, said.append)
    best = first_gaps.solve(assignment.Assignment(assignment.random(3, 12, 0))).objective
    assert gap == pytest.approx(best / 100)
    assert len(said) == 1


def test_a_folder_without_instances_is_refused(tmp_path):
    (tmp_path / "assignment").mkdir()
    (tmp_path / "assignment" / "optima.csv").write_text("instance,cost\nabsent,7\n")
    with pytest.raises(InputError, match="found none"):
        first_gaps.bench_first_gaps(BenchOptions(data=tmp_path))
