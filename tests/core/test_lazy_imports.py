"""Lazy imports: targets exist, and are imported only on use."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from colgen.core.lazy_imports import LazyModule, import_name

ROOT = Path(__file__).parents[2]


def test_every_lazy_import_has_a_target():
    targets = [
        target
        for path in (ROOT / "colgen").rglob("*.py")
        for target in re.findall(r'import_name\("([\w.]+)", "(\w+)"\)', path.read_text(encoding="utf-8"))
    ]
    assert targets
    for module, name in targets:
        assert import_name(module, name) is not None, (module, name)  # import_name raises for a missing target


def test_unused_lazy_imports_import_nothing():
    program = "import sys, colgen.core.result; sys.exit('colgen.reporting.report' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_a_lazy_module_is_imported_on_first_use():
    module = LazyModule("colgen.core.text")
    assert vars(module) == {"_name": "colgen.core.text"}
    assert module.plural(2, "row") == "2 rows"
    assert "plural" in vars(module)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing


def test_structures_are_decoded_without_pyomo():
    """Importing Pyomo would double the time to a first answer; only models need it."""
    program = """
import sys
import numpy as np
from colgen.problems import chain_map, coreference, grandparent_parsing, nonlocal_parsing, title_path
assert chain_map.decode(np.eye(3), np.zeros((3, 3))).values == 3
assert coreference.cluster(np.zeros((3, 3))).score == 0
sys.exit("pyomo" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0
