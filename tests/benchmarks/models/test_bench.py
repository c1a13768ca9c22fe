"""The benchmark of models from files, on two small ones."""

from dataclasses import replace

import pytest

from benchmarks.harness import BenchOptions, say_nothing
from benchmarks.models import bench
from colgen import InputError

MODEL = """max
 gain: 4 x00 + 3 x01 + 3 x10 + 5 x11
subject to
 once_0: x00 + x10 <= 1
 once_1: x01 + x11 <= 1
 cap_0: 2 x00 + 3 x01 <= 4
 cap_1: 2 x10 + 3 x11 <= 4
binary
 x00 x01 x10 x11
end
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("COLGEN_GCG", raising=False)
    (tmp_path / "one.txt.lp").write_text(MODEL)
    (tmp_path / "one.txt.dec").write_text("NBLOCKS\n2\nBLOCK 1\ncap_0\nBLOCK 2\ncap_1\nMASTERCONSS\nonce_0\nonce_1\n")
    (tmp_path / "two.lp").write_text(MODEL.replace("5 x11", "6 x11"))
    (tmp_path / "optima.csv").write_text("file,optimum,sense\none.txt.lp,9,max\ntwo.lp,10,max\n")
    return tmp_path


def figures(data):
    found = bench.bench_models(BenchOptions(data=data, quick=True, say=say_nothing))
    return {figure.name: figure for figure in found}


def test_runs_count_with_given_and_with_detected_blocks(data):
    found = figures(data)
    assert (found["proved_given"].value, found["proved_given"].n) == (1, 1)
    assert (found["proved_detected"].value, found["proved_detected"].n) == (2, 2)
    assert found["wrong_answers"].value == 0
    assert {"vs_highs_one", "vs_highs_two", "seconds_given_one", "setup_detected_two"} <= found.keys()
    assert "vs_gcg" not in found


def test_the_folder_of_all_data_will_do(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("all")
    (folder / "mip").symlink_to(data)
    assert figures(folder)["proved_detected"].n == 2


def test_wrong_answers_and_foreign_bounds_are_counted(data, monkeypatch):
    engine = bench.run_built

    def wrong(*arguments, **named):
        run, result = engine(*arguments, **named)
        return replace(run, objective=run.objective + 1.0), replace(result, bound_source="HiGHS")

    monkeypatch.setattr(bench, "run_built", wrong)
    found = figures(data)
    assert (found["wrong_answers"].value, found["wrong_answers"].n) == (3, 3)
    assert found["proved_given"].value == found["proved_detected"].value == 0


def test_a_wrong_table_of_optima_is_an_error(data):
    (data / "optima.csv").write_text("file,optimum,sense\none.txt.lp,8,max\n")
    with pytest.raises(AssertionError, match="HiGHS has a solution of 9"):
        figures(data)


def test_the_benchmark_needs_data():
    with pytest.raises(InputError, match="--data DIR"):
        bench.bench_models(BenchOptions(say=say_nothing))
