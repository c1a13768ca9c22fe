"""The rooms of the house: drawn as they import each other, told in CONTRIBUTING, and mirrored by tests."""

import re
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))  # where mkdocs finds it as well

import house  # noqa: E402

sys.path.pop(0)


WITHOUT_MIRROR = {
    "colgen.certificate.certifier": "what it says is written by tests/certificate/test_writing.py",
    "colgen.certificate.witness": "data alone: tests/certificate/test_writing.py",
    "colgen.certificate.checker_bounds": "tests/certificate/test_checker.py and test_theorems.py",
    "colgen.certificate.checker_program": "tests/certificate/test_checker.py and test_theorems.py",
    "colgen.core.type_variables": "names for the type checker, which reads tests/typed_programs.py",
    "colgen.core.decision_data": "read back by whole runs, and refused: tests/checkpoint/test_persistence.py",
    "colgen.core.column_files": "read back by whole runs: tests/checkpoint/test_persistence.py",
    "colgen.core.serialization": "every byte flipped: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.file": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.writer": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.resume": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.tree.node_data": "whole runs: tests/checkpoint/test_persistence.py, tests/parallel/test_subtrees.py",
    "colgen.parallel.clusters": "a protocol: mypy holds Processes and DaskCluster against it",
    "colgen.master.tabular": "a protocol without a line that runs: mypy holds LinearMaster against it",
}
"""Modules of the engine that have no test of their own, and why."""


@pytest.fixture(scope="module")
def rooms():
    return house.rooms()


@pytest.fixture(scope="module")
def contributing():
    """What CONTRIBUTING says of each room of the engine: what it may know."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `(colgen[\w.]*)` \| (.*?) \|", text, re.MULTILINE)
    return {room: {full(name) for name in re.findall(r"`([\w.]+)`", knows)} for room, knows in told}


def full(name):
    """A room's name with that of its floor, which is left out for rooms of the engine."""
    return name if name.split(".")[0] in house.FLOORS else f"colgen.{name}"


def test_the_picture_has_the_imports_of_another_program(rooms):
    graph = grimp.build_graph(*house.FLOORS, cache_dir=None)
    pairs = {
        (house.room_of(module), house.room_of(asked))
        for module in graph.modules
        for asked in graph.find_modules_directly_imported_by(module)
    }
    assert {(room.name, asked) for room in rooms.values() for asked in room.asks} == {p for p in pairs if p[0] != p[1]}


def test_every_module_is_in_the_picture(rooms):
    drawn = house.drawn()
    words = set(re.findall(r"\w+", drawn))
    assert set(re.findall(r'data-room="([\w.]+)"', drawn)) == rooms.keys()
    for module in house.modules():
        inside = module.removeprefix(house.room_of(module)).strip(".")
        if inside and "." not in inside and not inside.startswith("_"):
            assert inside in words, module


def test_who_imports_stands_above_what_is_imported(rooms):
    places = {name: float(y) for y, name in re.findall(r'y="([\d.]+)"[^>]*data-room="([\w.]+)"', house.drawn())}
    for room in rooms.values():
        for asked in room.asks:
            assert places[room.name] < places[asked], f"{room.name} imports {asked}"


def test_a_circle_is_named():
    with pytest.raises(ValueError, match=r"circle: \['a', 'b'\]"):
        house.levels({"a": {"b"}, "b": {"a"}, "c": set()})


def test_the_page_asks_for_the_picture_and_the_table(rooms):
    page = house.on_page_markdown((ROOT / "docs" / "house.md").read_text(encoding="utf-8"))
    assert "<svg" in page
    for room in rooms:
        if room.startswith("colgen"):
            assert f"| `{room}` |" in page


def test_contributing_says_of_each_room_what_it_may_know(rooms, contributing):
    engine = {name: room for name, room in rooms.items() if name.startswith("colgen")}
    assert contributing.keys() == engine.keys()
    for name, room in engine.items():
        assert room.asks <= contributing[name], f"{name} imports what CONTRIBUTING.md does not let it know"


def test_what_a_room_may_know_runs_downwards(contributing):
    house.levels(contributing)  # raises where two rooms might come to know each other


def mirror(module: str) -> Path:
    """Where the tests of a module of the engine are."""
    *packages, name = module.split(".")[1:]
    return ROOT.joinpath("tests", *packages, f"test_{name}.py")


def test_every_module_of_the_engine_is_mirrored_by_tests():
    modules = [m for m, path in house.modules().items() if m.startswith("colgen.") and "__" not in path.name]
    missing = [module for module in modules if not mirror(module).is_file()]
    assert [module for module in missing if not WITHOUT_MIRROR.get(module)] == []
    assert sorted(WITHOUT_MIRROR.keys() - set(missing)) == [], "these have tests by now"
