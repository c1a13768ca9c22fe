"""The examples in docstrings run, and every public name has one."""

import doctest
import importlib
import inspect
import math
import re
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

import colgen

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "colgen").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def names():
    """Return what the examples use: the names of colgen, and the program on the home page with its problem."""
    text = re.search(
        r"start:example\] -->\n```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )[1]
    found = {name: getattr(colgen, name) for name in colgen.__all__} | {"math": math, "np": np, "pyo": pyo}
    exec(text[: text.index("result = solve(")], found)
    return found | {"problem": found["CuttingStock"](100, [45, 36, 31, 14], [97, 610, 395, 211])}


def test_every_public_name_has_an_example():
    values = {name: getattr(colgen, name) for name in colgen.__all__}
    documented = {name: inspect.getdoc(value) or "" for name, value in values.items() if not inspect.ismodule(value)}
    assert [name for name, text in documented.items() if "\n>>> " not in text] == []


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(module, extraglobs=names(), optionflags=flags)
    assert tried > 0
    assert failed == 0
