"""The house drawn from its imports: which rooms there are, and who asks whom.  `python docs/house.py` writes house.svg.

Nothing is imported that is drawn: the modules are read as text, so that the picture needs none of their libraries.
"""

from __future__ import annotations

import ast
import html
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FLOORS = {
    "problems": "know a domain",
    "colgen": "knows master, pricing, separation, branching",
    "solvers": "know arrays",
}
DOOR = "colgen"
"""The room whose name is that of its floor: the public names, which `from colgen import ...` finds."""

WIDTH, MARGIN, LINE, LETTER = 1060, 10, 14, 6.1
"""Of the picture in pixels; a letter's width is that of the small type, on average."""

ROLE = re.compile(r":\w+:`~?([\w.]+)`")


@dataclass
class Room:
    """A package of a floor, or a module that stands alone on it.

    Attributes
    ----------
    modules
        Names of what is inside, without those that are private.
    asks
        The rooms that are imported here.
    """

    name: str
    says: str
    modules: list[str] = field(default_factory=list)
    asks: set[str] = field(default_factory=set)

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]


def room_of(module: str) -> str:
    """The room that a module is in: two parts of its name, or the floor's own; its program is the command line's."""
    return ".".join(module.replace(".__main__", ".cli").split(".")[:2])


def modules() -> dict[str, Path]:
    """The files of all modules, by the modules' full names."""
    found = {}
    for floor in FLOORS:
        for path in sorted((ROOT / floor).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(module: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the house that a module imports, wherever in its text."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in _read(path, path.stat().st_mtime_ns)[1]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        else:
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{origin}.{alias.name}"
                if name in known or origin in known:
                    yield name if name in known else origin


@cache
def _read(path: Path, changed: int) -> tuple[str, list[ast.Import | ast.ImportFrom]]:
    """A module's docstring and its imports: read once, as long as it does not change."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    asks = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return ast.get_docstring(tree) or "", asks


def first_line(path: Path) -> str:
    """The first sentence of a module's docstring, without marks."""
    docstring, _ = _read(path, path.stat().st_mtime_ns)
    return ROLE.sub(r"\1", " ".join(docstring.split("\n\n")[0].split())).replace("`", "")


def rooms() -> dict[str, Room]:
    """The rooms of all floors, by name."""
    known = modules()
    found: dict[str, Room] = {}
    for module, path in known.items():
        name = room_of(module)
        if module == name and (name not in FLOORS or name == DOOR):
            found[name] = Room(name, first_line(path))
    for module, path in known.items():
        room = found.get(room_of(module))
        if room is None:
            continue  # the empty __init__ of a floor
        inside = module.removeprefix(room.name).strip(".")
        if inside and "." not in inside and not inside.startswith("_"):
            room.modules.append(inside)
        asked = {room_of(name) for name in imported(module, path, known)}
        room.asks |= {name for name in asked if name in found or name.count(".")} - {room.name}
    return found


def levels(asks: dict[str, set[str]]) -> dict[str, int]:
    """How many rooms stand below each, counted along the longest chain of imports.

    Raises
    ------
    ValueError
        If rooms import each other in a circle.
    """
    level: dict[str, int] = {}
    while len(level) < len(asks):
        ready = [name for name in asks if name not in level and (asks[name] & asks.keys()) <= level.keys()]
        if not ready:
            raise ValueError(f"these rooms import each other in a circle: {sorted(asks.keys() - level.keys())}")
        level |= {name: max((level[below] + 1 for below in asks[name] & asks.keys()), default=0) for name in ready}
    return level


# --- the picture -----------------------------------------------------------------------------------------------------


def drawn() -> str:
    """The house as SVG: floor above floor, and in each floor whoever imports above what is imported."""
    house = rooms()
    shapes: list[str] = []
    y = MARGIN
    for floor, knows in FLOORS.items():
        inside = {name: room for name, room in house.items() if name.split(".")[0] == floor}
        level = levels({name: room.asks for name, room in inside.items()})
        top = y
        y += 30
        for height in sorted(set(level.values()), reverse=True):
            y += _row([inside[name] for name in sorted(level) if level[name] == height], y, shapes)
        title = f'<text x="{2 * MARGIN}" y="{top + 20}" class="floor">{floor}/ &#160; {knows}</text>'
        outline = f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{y - top}" class="floor"/>'
        shapes += [outline, title]
        y += MARGIN
    style = (
        "rect.floor{fill:none;stroke:#333;stroke-width:1.5}text.floor{font-size:14px;font-weight:bold}"
        "rect.room{fill:#f6f6f3;stroke:#999}text{font:11px sans-serif;fill:#222}"
        "text.name{font-size:13px;font-weight:bold}text.asks{fill:#225a8c}text.inside{fill:#666}"
    )
    picture = [
        f'<svg class="house" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img" '
        'aria-label="The house">',
        f"<style>{style}</style>",
        *shapes,
        "</svg>",
    ]
    return "\n".join(picture)


def _row(row: list[Room], y: int, shapes: list[str]) -> int:
    """Draw rooms side by side, four at most in a line; the height that they take."""
    if len(row) > 4:
        return _row(row[:4], y, shapes) + _row(row[4:], y + _height(row[:4]), shapes)
    width = (WIDTH - 3 * MARGIN) / len(row)
    height = _height(row)
    for k, room in enumerate(row):
        x = 2 * MARGIN + k * width
        size = f'width="{width - MARGIN:.0f}" height="{height - MARGIN}"'
        shapes.append(f'<rect x="{x:.0f}" y="{y}" {size} class="room" data-room="{room.name}"/>')
        at = y + 4
        for style, line in _lines(room, width - 3 * MARGIN):
            at += LINE
            shapes.append(f'<text x="{x + MARGIN:.0f}" y="{at}" class="{style}">{html.escape(line)}</text>')
    return height


def _height(row: list[Room]) -> int:
    width = (WIDTH - 3 * MARGIN) / len(row) - 3 * MARGIN
    return max(len(_lines(room, width)) for room in row) * LINE + 12 + MARGIN


def _lines(room: Room, width: float) -> list[tuple[str, str]]:
    """What stands in a room's box: (style, line)."""
    floor = room.name.split(".")[0]
    near = sorted(name.partition(".")[2] or name for name in room.asks if name.split(".")[0] == floor)
    far = sorted(name for name in room.asks if name.split(".")[0] != floor)
    asks = ", ".join([*near, *(far if floor == "colgen" else ())])
    texts = [
        ("says", room.says),
        ("inside", "\u00a0· ".join(room.modules)),
        ("asks", f"asks {asks}" if asks else ""),
    ]
    wrapped = [(style, line) for style, text in texts for line in textwrap.wrap(text, int(width / LETTER))]
    return [("name", "from colgen import ..." if room.name == DOOR else room.short), *wrapped]


def table() -> str:
    """The rooms of the engine: whom each asks, and who asks it."""
    house = {name: room for name, room in rooms().items() if name.split(".")[0] == DOOR}
    level = levels({name: room.asks for name, room in house.items()})
    lines = ["| room | asks | is asked by |", "| --- | --- | --- |"]
    for name in sorted(house, key=lambda name: (-level[name], name)):
        asks = sorted(house[name].asks)
        asked = sorted(other for other, room in house.items() if name in room.asks)
        lines.append(f"| `{name}` | {_quoted(asks)} | {_quoted(asked)} |")
    return "\n".join(lines)


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name.removeprefix('colgen.')}`" for name in names)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the picture and the table where a page asks for them: called by mkdocs for every page."""
    if "<!-- house -->" in markdown:
        markdown = markdown.replace("<!-- house -->", f"<div>\n{drawn()}\n</div>")
    return markdown.replace("<!-- rooms -->", table()) if "<!-- rooms -->" in markdown else markdown


if __name__ == "__main__":
    Path("house.svg").write_text(drawn(), encoding="utf-8")
