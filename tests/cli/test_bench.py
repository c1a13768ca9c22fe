"""`colgen bench` and `colgen train`: figures."""

import json
from types import SimpleNamespace

import pytest

from benchmarks.harness import BenchOptions, spread
from colgen.cli import bench
from tests.cli.stub import engine, run


def test_train(capsys, learning, tmp_path):
    model, figures = tmp_path / "model", tmp_path / "figures.json"
    code, out, err = run(
        capsys, "train", "stub", "--data", tmp_path, "--model", model, "--seed", "7", "--quick", "--json", figures
    )
    assert (code, err) == (0, f"learning\nwrote {model}\n")
    assert "accuracy" in out
    assert "of four" in out
    assert model.read_text(encoding="utf-8") == f"{tmp_path.name} 7 True"
    accuracy, seconds = json.loads(figures.read_text(encoding="utf-8"))
    assert accuracy == {"name": "accuracy", "value": 0.75, "unit": "", "n": 4}
    assert (seconds["name"], seconds["unit"]) == ("seconds", "s")


def test_train_json_is_the_only_standard_output(capsys, learning, tmp_path):
    code, out, _ = run(capsys, "train", "stub", "--data", tmp_path, "--model", tmp_path / "model", "--json", "-")
    assert code == 0
    assert json.loads(out)[0]["name"] == "accuracy"


@pytest.fixture
def registry(monkeypatch):
    """Replace all benchmarks by one."""
    found = SimpleNamespace(
        BENCHMARKS={"engine": "engine"}, SEEDED=(), BenchOptions=BenchOptions, load=lambda name: engine
    )
    monkeypatch.setattr(bench, "load_benchmarks", lambda: found)
    return found


def test_bench(capsys, registry, tmp_path):
    path = tmp_path / "figures.json"
    code, out, err = run(capsys, "bench", "engine", "--quick", "--json", path)
    assert code == 0
    assert err == "measuring\n"
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[1].split() == ["name", "value", "unit", "n"]
    assert lines[2].split() == ["rounds", "1,234,567", "1/s", "3"]
    assert lines[3] == "  more is better"
    assert lines[4].split() == ["time", "0.01235", "s", "5"]
    figures = json.loads(path.read_text(encoding="utf-8"))
    assert figures[1] == {"name": "time", "value": 0.0123456, "unit": "s", "n": 5}
    assert figures[2]["value"] == 1.0
    assert figures[3]["value"] is None


def test_bench_json_is_the_only_standard_output(capsys, registry):
    code, out, _ = run(capsys, "bench", "engine", "--json", "-")
    assert code == 0
    assert [figure["name"] for figure in json.loads(out)] == ["rounds", "time", "quick", "none"]


def test_bench_list(capsys, registry):
    assert run(capsys, "bench", "--list") == (0, "engine\n", "")


def test_without_a_checkout_there_are_no_benchmarks(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "CHECKOUT", tmp_path)
    code, out, err = run(capsys, "bench", "engine")
    assert (code, out) == (2, "")
    assert "clone the repository" in err


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        ([], "expected the name of a benchmark: `colgen bench --list` lists them"),
        (["motor"], "there is no benchmark 'motor': `colgen bench --list` lists them"),
        (["enginee"], "there is no benchmark 'enginee'; did you mean 'engine'?"),
    ],
)
def test_unknown_benchmarks_are_refused(capsys, registry, argv, hint):
    assert run(capsys, "bench", *argv) == (2, "", f"colgen: {hint}\n")


def test_bench_data_must_be_a_folder(capsys, registry, file):
    code, _, err = run(capsys, "bench", "engine", "--data", file)
    assert code == 2
    assert "expected an existing folder" in err


@pytest.mark.parametrize(("seeded", "said"), [((), True), (("engine",), False)])
def test_a_seed_without_effect_is_reported(capsys, registry, seeded, said):
    registry.SEEDED = seeded
    code, _, err = run(capsys, "bench", "engine", "--quick", "--seed", "3")
    assert code == 0
    assert ("no effect on the benchmark 'engine'" in err) is said
    assert ("--seed" in err) is said


@pytest.mark.parametrize(("minutes", "share"), [(None, 1.0), (20.0, 1.0), (3.0, 0.3), (0.0, 0.01)])
def test_minutes_limit_the_share_of_instances(minutes, share):
    said = []
    assert BenchOptions(minutes=minutes, say=said.append).share(10.0) == share
    assert (["% of the instances" in line for line in said] == [True]) is (share < 1.0)


def test_a_share_of_instances_is_spread_over_all():
    assert spread(range(10), 0.3) == [0, 3, 6]
    assert spread(range(10), 0.001) == [0]
    assert spread(range(3), 1.0) == [0, 1, 2]
    assert spread((), 0.5) == []


def test_a_random_benchmark_gets_seed_and_minutes(capsys, registry):
    asked = []

    def drawing(options):
        asked.append((options.minutes, options.seed))
        return []

    registry.SEEDED, registry.load = ("engine",), lambda name: drawing
    run(capsys, "bench", "engine", "--minutes", "0.5", "--seed", "3")
    run(capsys, "bench", "engine")
    assert asked == [(0.5, 3), (None, 0)]
