"""What a run returns, and its tables."""

import builtins
import csv
import dataclasses
import json
import math
import pickle
import time

import pytest

from colgen import Iteration, Method, Parallel, Record, Termination, solve
from colgen.core.result import write_csv
from tests.bounding.test_column_generation import PointlessPatterns
from tests.toys import CuttingStock


@pytest.fixture(scope="module")
def result():
    return solve(CuttingStock(), record=Record(duals=True))


def test_words(result):
    text = str(result)
    assert text.startswith("Proved optimal.")
    assert "objective 453" in text
    assert "gap 0%" in text
    assert str(len(result.iterations)) in text


def test_words_without_an_answer():
    text = str(solve(CuttingStock(oracle=PointlessPatterns)))
    assert "infeasible" in text
    assert "objective none" in text
    assert "nan" not in text


def test_every_termination_has_a_sentence():
    for termination in Termination:
        assert termination.value.endswith(".")
    assert len({t.value for t in Termination}) == len(Termination)
    assert [t for t in Termination if t.is_proof] == [
        Termination.OPTIMAL,
        Termination.INFEASIBLE,
        Termination.UNBOUNDED,
    ]


def test_as_json(result):
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["termination"] == "OPTIMAL"
    assert data["objective"] == pytest.approx(453)
    assert data["gap"] == 0
    assert data["rounds"] == len(result.iterations)
    infeasible = solve(CuttingStock(oracle=PointlessPatterns)).to_dict()
    assert infeasible["objective"] is None
    json.dumps(infeasible, allow_nan=False)


def test_counts_and_seconds(result):
    assert result.columns_generated == sum(i.new_columns for i in result.iterations)
    assert [i.number for i in result.iterations] == list(range(len(result.iterations)))
    assert result.seconds["total"] >= result.seconds["pricing"] > 0
    assert result.iterations[0].duals is not None
    assert solve(CuttingStock()).iterations[0].duals is None


def test_processor_seconds_are_those_of_this_process():
    began = time.process_time()
    result = solve(CuttingStock())
    assert 0.0 < result.processor_seconds <= time.process_time() - began
    data = result.to_dict()
    assert data["processor_seconds"] == result.processor_seconds
    assert f"{result.processor_seconds:.3g} s of processor time" in str(result)
    unknown = dataclasses.replace(result, processor_seconds=math.nan)
    assert unknown.to_dict()["processor_seconds"] is None
    assert "processor" not in str(unknown)


def test_settings_are_words_that_can_be_pickled():
    method = Method(rounding=lambda bound, duals, context: bound, heuristics=())
    result = solve(CuttingStock(), time_limit=60, method=method, parallel=Parallel(node_batch=2))
    assert result.settings["problem"] == "CuttingStock"
    assert result.settings["stop_rules"] == "TimeLimit(seconds=60)"
    assert (result.settings["rounding"], result.settings["heuristics"]) == ("<lambda>", "none")
    assert result.settings["parallel"] == "Parallel(node_batch=2)"
    assert "relaxation" not in result.settings
    again = pickle.loads(pickle.dumps(dataclasses.replace(result, pool=None, answer=None)))
    assert again.settings == dict(result.settings) == result.to_dict()["settings"]
    assert again.processor_seconds == result.processor_seconds
    relaxed = solve(CuttingStock(), relaxation=True).settings
    assert relaxed["stop_rules"] == "none"
    assert relaxed["heuristics"].startswith("Exchanging(seconds=10.0), Diving(")
    assert "relaxation" in relaxed


def test_a_proved_optimum_has_no_gap(result):
    nearly = dataclasses.replace(result, dual_bound=result.objective * (1.0 - 3e-9))
    assert nearly.gap == 0.0
    assert dataclasses.replace(nearly, termination=Termination.TIME_LIMIT).gap == pytest.approx(3e-9)


def test_csv_needs_no_pandas(result, tmp_path, monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    path = tmp_path / "rounds.csv"
    result.to_csv(path)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result.iterations)
    assert [int(row["number"]) for row in rows] == [i.number for i in result.iterations]
    assert [float(row["objective"]) for row in rows] == [i.objective for i in result.iterations]
    assert "duals" not in rows[0]
    with pytest.raises(ImportError, match="to_csv"):
        result.to_frame()


def test_csv_without_rounds(tmp_path):
    path = tmp_path / "empty.csv"
    write_csv([], path)
    (header,) = path.read_text().splitlines()
    assert header.split(",") == [f.name for f in dataclasses.fields(Iteration) if f.name not in ("duals", "values")]


def test_frame(result):
    pandas = pytest.importorskip("pandas")
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["objective"].tolist() == [i.objective for i in result.iterations]
    assert list(frame.columns) == list(result.rows()[0])


def test_gap_without_answer_or_bound(result):
    assert dataclasses.replace(result, objective=math.inf).gap == math.inf
    assert dataclasses.replace(result, dual_bound=-math.inf).gap == math.inf
    assert dataclasses.replace(result, objective=100.0, dual_bound=90.0).gap == pytest.approx(0.1)
