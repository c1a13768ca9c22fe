"""Let mypy read the code of README.md and of the pages: what they show is what editors complete and check.

Each page's blocks are one module, in order.  Pages of `docs/how` go on from the README's classes, as `rolls`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)

OPTIONS = [
    "--config-file=",  # that of the packages asks for annotations, which teach nothing here
    "--check-untyped-defs",
    "--ignore-missing-imports",
    "--follow-imports=silent",
    "--no-strict-optional",  # that a limit may have ended a run before its first answer teaches nothing either
    "--disable-error-code=var-annotated",
    "--disable-error-code=union-attr",  # axes could be those of a part of a figure
]


def modules(directory: Path) -> list[Path]:
    """Write the code of each page to a file of its own."""
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        blocks = FENCE.findall(page.read_text(encoding="utf-8"))
        if blocks:
            found.append(directory / ("_".join(page.relative_to(ROOT).with_suffix("").parts) + ".py"))
            found[-1].write_text("\n".join(blocks), encoding="utf-8")
    example = (directory / "README.py").read_text(encoding="utf-8")
    (directory / "rolls.py").write_text(example[: example.index("result = solve(")], encoding="utf-8")
    return found


def main() -> int:
    """0: nothing is wrong."""
    with tempfile.TemporaryDirectory() as name:
        paths = modules(Path(name))
        environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), name])}
        command = [sys.executable, "-m", "mypy", *OPTIONS, *sys.argv[1:], *map(str, paths)]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
