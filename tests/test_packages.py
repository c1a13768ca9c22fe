"""Packages: importable modules, checked files, and tests that mirror modules."""

import os
import subprocess
import sys
from pathlib import Path

import grimp
import pytest
from mypy.find_sources import create_source_list
from mypy.options import Options

ROOT = Path(__file__).parents[1]

WITHOUT_MIRROR = {
    "colgen.certificate.certifier": "what it says is written by tests/certificate/test_writing.py",
    "colgen.certificate.witness": "data alone: tests/certificate/test_writing.py",
    "colgen.certificate.checker_bounds": "tests/certificate/test_checker.py and test_theorems.py",
    "colgen.certificate.checker_program": "tests/certificate/test_checker.py and test_theorems.py",
    "colgen.core.renamed": "tests/test_options.py asks for each old name",
    "colgen.method": "tests/test_options.py",
    "colgen.learning.constraints": "data alone: tests/learning/test_constrained.py",
    "colgen.networks.rules": "data alone: tests/networks/test_statement.py and test_expanded.py",
    "colgen.core.type_variables": "names for the type checker, which reads tests/typed_programs.py",
    "colgen.checkpoint.pools": "tests/checkpoint/test_persistence.py and tests/problems/test_pools.py",
    "colgen.core.decision_data": "read back by whole runs, and refused: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.file": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.writer": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.checkpoint.resume": "whole runs: tests/checkpoint/test_persistence.py",
    "colgen.tree.node_data": "whole runs: tests/checkpoint/test_persistence.py, tests/parallel/test_subtrees.py",
}
"""Modules of the engine without a test of their own, and the reason."""


def modules():
    """Return the files of all modules by name; rglob skips the links colgen/problems and colgen/solvers."""
    found = {}
    for folder, prefix in (("colgen", ""), ("problems", "colgen."), ("solvers", "colgen."), ("benchmarks", "")):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[prefix + ".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def mirror(module: str) -> Path:
    """Return the path of the tests of a module of the engine."""
    *packages, name = module.split(".")[1:]
    return ROOT.joinpath("tests", *packages, f"test_{name}.py")


def test_every_module_of_the_engine_is_mirrored_by_tests():
    engine = [
        module
        for module, path in modules().items()
        if module.startswith("colgen.") and path.is_relative_to(ROOT / "colgen") and "__" not in path.name
    ]
    missing = [module for module in engine if not mirror(module).is_file()]
    assert [module for module in missing if not WITHOUT_MIRROR.get(module)] == []
    assert sorted(WITHOUT_MIRROR.keys() - set(missing)) == [], "these have tests by now"


def test_types_and_contracts_are_checked_in_every_file():
    every = modules()
    assert len(every) > 600
    sources = create_source_list([str(ROOT / "colgen"), str(ROOT / "benchmarks")], Options())
    assert {source.module for source in sources} == every.keys()
    graph = grimp.build_graph("colgen", "benchmarks", cache_dir=None)
    assert graph.modules == every.keys()


def test_importing_the_package_and_its_templates_has_no_side_effects(tmp_path):
    """Promise 11: no log handler, no seeded generator, no connection."""
    code = (
        "import logging, random, socket\n"
        "import numpy\n"
        "def refuse(*arguments, **options): raise AssertionError('a side effect')\n"
        "socket.socket.connect = random.seed = numpy.random.seed = refuse\n"
        "handlers = list(logging.root.handlers)\n"
        "import colgen\n"
        "from colgen.cli.templates import load_all\n"
        "[getattr(colgen, name) for name in colgen.__all__]\n"
        "loaded, broken = load_all()\n"
        "assert logging.root.handlers == handlers and not logging.getLogger('colgen').handlers\n"
        "assert (broken, len(loaded) > 8) == (0, True)"
    )
    assert python(tmp_path, code) == ""


@pytest.mark.parametrize("name", ["problems", "solvers", "benchmarks", "tests"])
def test_only_colgen_is_importable(name, tmp_path):
    assert python(tmp_path, f"import colgen.problems.cutting_stock, {name}").endswith(f"No module named {name!r}\n")


def test_a_script_beside_folders_of_the_same_names_works(tmp_path):
    for name in ("problems", "solvers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("MINE = 1\n", encoding="utf-8")
    code = (
        "import problems, solvers\n"
        "from colgen import solve\n"
        "from colgen.problems.cutting_stock import CuttingStock, CuttingStockInstance\n"
        "assert problems.MINE == solvers.MINE == 1\n"
        "assert solve(CuttingStock(CuttingStockInstance(10, (4, 3), (2, 3)))).objective == 2\n"
    )
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    assert python(tmp_path, script="script.py") == ""


def python(folder, code="", script=None):
    """Run a program in a folder and return its standard error."""
    arguments = ["-c", code] if script is None else [script]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, *arguments]
    run = subprocess.run(command, cwd=folder, env=alone, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) is (run.stderr == "")
    return run.stderr
