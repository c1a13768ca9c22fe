"""Doors to rooms above: what is behind one exists, and is imported only when somebody asks."""

import re
import subprocess
import sys
from pathlib import Path

from colgen.core.doors import behind

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
