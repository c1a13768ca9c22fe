"""Check the code of README.md and of the pages with mypy and pyright, since editors complete code by these types.

Each page's blocks are one module, in order.
Pyright is basedpyright in its standard mode: the same checks, in a package that needs no download at run time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.pages import blocks  # noqa: E402

OPTIONS = [
    "--config-file=",  # the packages' configuration requires annotations, which distract on pages
    "--check-untyped-defs",
    "--ignore-missing-imports",
    "--follow-imports=silent",
    "--no-strict-optional",  # an answer may be None after a limit; checks for that distract on pages
    "--disable-error-code=var-annotated",
    "--disable-error-code=union-attr",  # axes may belong to a subfigure
]


PYRIGHT = {
    "typeCheckingMode": "standard",
    "useLibraryCodeForTypes": False,  # ignore types inferred from untyped packages: Pyomo's are incomplete
    "reportMissingImports": False,
    "reportMissingModuleSource": False,
    # as above: an answer may be None after a limit
    "reportOptionalMemberAccess": False,
    "reportOptionalSubscript": False,
    "reportOptionalIterable": False,
    "reportOptionalCall": False,
    "reportOptionalOperand": False,
}
ALLOWED = ('"savefig" for class "SubFigure"', 'Method "pricing" overrides class "CuttingStock"')
"""Findings to ignore: axes may belong to a subfigure; pages replace the oracle of the README by several."""


def modules(directory: Path) -> list[Path]:
    """Write the code of each page to a separate file, and return the paths."""
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        code = [text for language, text in blocks(str(page.relative_to(ROOT))) if language == "python"]
        if code:
            found.append(directory / ("_".join(page.relative_to(ROOT).with_suffix("").parts) + ".py"))
            found[-1].write_text("\n".join(code), encoding="utf-8")
    return found


def mypy(directory: Path, paths: list[Path]) -> int:
    """Return the exit code of mypy on the pages."""
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), str(directory)])}
    command = [sys.executable, "-m", "mypy", *OPTIONS, *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def pyright(directory: Path) -> int:
    """Print the findings of pyright, one per line, and return their number."""
    settings = {**PYRIGHT, "include": ["."], "extraPaths": [str(ROOT)]}
    (directory / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "--outputjson",
        "--pythonpath",
        sys.executable,
        "-p",
        str(directory),
    ]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
        findings, count = report["generalDiagnostics"], report["summary"]["filesAnalyzed"]
    except (json.JSONDecodeError, KeyError):
        findings, count = [], 0
    if count < len(list(directory.glob("*.py"))):  # every page must have been read
        print(done.stdout, done.stderr, file=sys.stderr)
        return 1
    errors = (one for one in findings if one["severity"] == "error")
    found = [one for one in errors if not any(text in one["message"] for text in ALLOWED)]
    for one in found:
        line = one["range"]["start"]["line"] + 1
        print(f"{Path(one['file']).stem}, line {line} of its code: {one['message']}", file=sys.stderr)
    return len(found)


def main() -> int:
    """Return 0 if there are no findings, else 1."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        paths = modules(directory)
        wrong = mypy(directory, paths) + pyright(directory)
        print(f"mypy and pyright have read {len(paths)} pages")
        return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
