"""Doors to rooms above: what is behind one exists, and is imported only when somebody asks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from colgen.core.lazy_imports import Late, behind

ROOT = Path(__file__).parents[2]


def test_something_is_behind_every_door():
    doors = [
        door
        for path in (ROOT / "colgen").rglob("*.py")
        for door in re.findall(r'behind\("([\w.]+)", "(\w+)"\)', path.read_text(encoding="utf-8"))
    ]
    assert doors
    for module, name in doors:
        assert callable(behind(module, name)), (module, name)


def test_a_door_that_nobody_opens_costs_nothing():
    program = "import sys, colgen.core.result; sys.exit('colgen.reporting.report' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_a_late_module_comes_when_it_is_asked():
    module = Late("colgen.core.text")
    assert vars(module) == {"_name": "colgen.core.text"}
    assert module.counted(2, "row") == "2 rows"
    assert "counted" in vars(module)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_structures_are_decoded_without_pyomo():
    """Half of what a first answer would wait for; models are built by those who ask for them."""
    program = """
import sys
import numpy as np
from colgen.problems import chain_map, coreference, grandparent_parsing, nonlocal_parsing, title_path
assert chain_map.decode(np.eye(3), np.zeros((3, 3))).values == 3
assert coreference.cluster(np.zeros((3, 3))).score == 0
sys.exit("pyomo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
