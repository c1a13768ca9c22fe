"""Decompositions in GCG's formats ``.dec``, ``.blk`` and ``.jdec``: which constraints and variables form which block.

Sources: the documentation of GCG's file formats, and SCIP's dialect of ``.dec``, whose blocks count from 0.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse

from colgen.core.errors import InputError
from colgen.core.files import check_destination, parse_json, read_text, write_text
from colgen.core.text import meant
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Partition
from colgen.decomposition.reading.copies import copy_linking
from colgen.decomposition.reading.identical_blocks import group_identical
from colgen.decomposition.reading.subproblems import split

LINKING = -2
"""Block number of a variable that a file calls linking."""

_OPEN = -3
"""Block number of a constraint that is not assigned yet."""

_SECTIONS = {
    "CONSDEFAULTMASTER": "CONSDEFAULTMASTER",
    "INCOMPLETE": "INCOMPLETE",
    "PRESOLVED": "PRESOLVED",
    "NBLOCKS": "NBLOCKS",
    "BLOCK": "BLOCKCONSS",
    "BLOCKCONS": "BLOCKCONSS",
    "BLOCKCONSS": "BLOCKCONSS",
    "MASTERCONS": "MASTERCONSS",
    "MASTERCONSS": "MASTERCONSS",
    "BLOCKVAR": "BLOCKVARS",
    "BLOCKVARS": "BLOCKVARS",
    "MASTERVAR": "MASTERVARS",
    "MASTERVARS": "MASTERVARS",
    "STATICVAR": "MASTERVARS",
    "STATICVARS": "MASTERVARS",
    "LINKINGVAR": "LINKINGVARS",
    "LINKINGVARS": "LINKINGVARS",
}
"""Keywords of ``.dec``, in any case, and the section that each begins."""


@dataclass
class Statement:
    """What a file states about blocks; block numbers count from 0, :data:`MASTER` is the master.

    Attributes
    ----------
    of_row
        Block of each constraint that the file names.
    of_variable
        Blocks of each variable that the file names; several for a linking variable.
    rest_in_master
        Whether constraints that the file does not name stay in the master; otherwise they follow their variables.
    copies
        For each block that the file calls a copy of another, that block.
    parts
        For each block that the file decomposes without master constraints, the part of each of its constraints.
    """

    path: Path
    count: int = 0
    of_row: dict[str, int] = field(default_factory=dict)
    of_variable: dict[str, set[int]] = field(default_factory=dict)
    rest_in_master: bool = True
    copies: dict[int, int] = field(default_factory=dict)
    parts: dict[int, dict[str, tuple[int, ...]]] = field(default_factory=dict)


def read_blocks(path: Path, compact: CompactModel) -> Partition:
    """Return the blocks that a file states for a model; what it leaves open is completed.

    Constraints follow their variables if the file does not name them and does not send them to the master.  A variable
    of no constraint of a block stays in the master, unless the file names its block.  A variable of several blocks is
    linking: each block gets a copy.

    Raises
    ------
    InputError
        If the file names unknown constraints or variables, contradicts the model or itself, or calls blocks copies
        that differ.
    """
    readers = {".dec": _read_dec, ".blk": _read_blk, ".jdec": _read_jdec}
    if path.suffix.lower() not in readers:
        raise InputError(f"{path}: expected a decomposition with the ending {', '.join(readers)}, not {path.suffix!r}")
    reader = readers[path.suffix.lower()]
    found = reader(path, read_text(path), _Names(compact))
    blocks = _complete(found, compact)
    _check_copies(found, compact, blocks)
    return _divide(found, compact, blocks)


def write_dec(path: Path | str, compact: CompactModel, blocks: Partition) -> None:
    r"""Write blocks of a model to a ``.dec`` file that GCG reads.

    Raises
    ------
    InputError
        If GCG would split a name: one that begins with a digit, is a keyword, or has a space or one of ``-+:<>=\\``.
    """
    check_destination(path, "path")
    lines = ["PRESOLVED", "0", "NBLOCKS", str(len(blocks.names))]
    rows, columns = compact.source.constraint_names, compact.source.variable_names
    implied = np.full(len(columns), MASTER)
    entries = sparse.coo_array(compact.rows)
    own = blocks.of_row[entries.row] != MASTER
    implied[entries.col[own]] = blocks.of_row[entries.row[own]]
    sections = [(f"BLOCK {k + 1}", rows, blocks.of_row == k) for k in range(len(blocks.names))]
    sections.append(("MASTERCONSS", rows, blocks.of_row == MASTER))
    for k in range(len(blocks.names)):
        alone = (blocks.of_column == k) & (implied == MASTER)
        sections += [(f"BLOCKVARS {k + 1}", columns, alone)] if alone.any() else []
    for title, names, mine in sections:
        chosen = [names[k] for k in np.flatnonzero(mine).tolist()]
        for name in chosen:
            if _SPLITS.search(name) or name.upper() in _SECTIONS:
                raise InputError(
                    f"{path}: GCG cannot read the name {name!r}; expected names that begin with no digit, are no "
                    "keyword and have neither spaces nor any of -+:<>=\\"
                )
        lines += [title, *chosen]
    write_text(path, "\n".join(lines) + "\n")


_SPLITS = re.compile(r"^$|^\d|[-+:<>=\\\s]")
"""Names that GCG's reader splits."""


class _Names:
    """The names of a model's constraints and variables, for checks with the place in a file."""

    def __init__(self, compact: CompactModel) -> None:
        self.constraints = {name: k for k, name in enumerate(compact.source.constraint_names)}
        self.variables = compact.place_of_name
        self.skips_unknown = False
        self.skipped: list[str] = []

    def knows(self, name: str, kind: str, where: str) -> bool:
        """Return whether a name exists; raise InputError if not, unless the file is about the presolved model."""
        known: Mapping[str, int] = self.constraints if kind == "constraint" else self.variables
        if name in known:
            return True
        if self.skips_unknown:
            self.skipped.append(name)
            return False
        raise InputError(f"{where}: the model has no {kind} {name!r}{meant(name, list(known))}")

    def warn(self, path: Path) -> None:
        """Warn about the names of a presolved model that this model does not have."""
        if self.skipped:
            warnings.warn(
                f"{path}: the decomposition is of a presolved model; {len(self.skipped)} of its names are not in this "
                f"model and were skipped, first {self.skipped[0]!r}",
                stacklevel=2,
            )


def _fail(path: Path, line: int, message: str) -> NoReturn:
    raise InputError(f"{path}, line {line}: {message}")


# --- .dec and .blk ---------------------------------------------------------------------------------------------------


def _sections(path: Path, text: str, keywords: Mapping[str, str]) -> Iterator[tuple[int, str, list[tuple[int, str]]]]:
    r"""Yield the line, keyword and entries of each section; text before the first and after ``\`` is a comment."""
    section: tuple[int, str, list[tuple[int, str]]] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        for token in line.split("\\")[0].split():
            keyword = keywords.get(token.upper())
            if keyword is not None:
                if section is not None:
                    yield section
                section = number, keyword, []
            elif section is not None:
                section[2].append((number, token))
    if section is None:
        raise InputError(f"{path}: expected a section such as NBLOCKS, found none of {', '.join(keywords)}")
    yield section


def _integer(path: Path, line: int, keyword: str, entries: list[tuple[int, str]]) -> int:
    """Return the first entry of a section, a number, and remove it."""
    if not entries:
        _fail(path, line, f"expected a number after {keyword}, not the end of the section")
    place, token = entries.pop(0)
    if not token.isascii() or not token.isdigit():
        _fail(path, place, f"expected a number after {keyword}, not {token!r}")
    return int(token)


def _flag(path: Path, line: int, keyword: str, entries: list[tuple[int, str]]) -> bool:
    value = _integer(path, line, keyword, entries)
    if value > 1:
        _fail(path, line, f"expected 0 or 1 after {keyword}, not {value}")
    return value == 1


def _read_dec(path: Path, text: str, names: _Names) -> Statement:
    return _read_sections(path, text, names, _SECTIONS)


def _read_blk(path: Path, text: str, names: _Names) -> Statement:
    """Read the older format that lists variables: those listed twice link blocks, others stay in the master."""
    keywords = {key: _SECTIONS[key] for key in ("PRESOLVED", "NBLOCKS", "MASTERCONSS")}
    found = _read_sections(path, text, names, {**keywords, "BLOCK": "BLOCKVARS", "END": "END"})
    found.rest_in_master = False
    for name in names.variables:
        found.of_variable.setdefault(name, {MASTER})
    return found


def _read_sections(path: Path, text: str, names: _Names, keywords: Mapping[str, str]) -> Statement:
    found, listed = Statement(path), list(_sections(path, text, keywords))
    # SCIP counts blocks from 0, GCG from 1.
    starts = [entries[0][1] for _, keyword, entries in listed if keyword in ("BLOCKCONSS", "BLOCKVARS") and entries]
    first = 0 if "0" in starts else 1
    for line, keyword, entries in listed:
        if keyword == "PRESOLVED":
            names.skips_unknown = _flag(path, line, keyword, entries)
        elif keyword == "CONSDEFAULTMASTER":
            found.rest_in_master = _flag(path, line, keyword, entries)
        elif keyword == "INCOMPLETE":
            found.rest_in_master = not _flag(path, line, keyword, entries)
        elif keyword == "NBLOCKS":
            if found.count:
                _fail(path, line, "NBLOCKS is stated twice, expected once")
            found.count = _integer(path, line, keyword, entries)
        elif keyword == "END":
            break
        else:
            block = MASTER if keyword.startswith("MASTER") else LINKING
            if keyword in ("BLOCKCONSS", "BLOCKVARS"):
                block = _integer(path, line, keyword, entries) - first
                if not 0 <= block < found.count:
                    _fail(path, line, f"block {block + first} is not among the {found.count} blocks of NBLOCKS")
            _assign(found, names, block, keyword, entries)
            continue
        if entries:
            _fail(path, entries[0][0], f"expected a keyword after the number of {keyword}, not {entries[0][1]!r}")
    names.warn(path)
    return found


def _assign(found: Statement, names: _Names, block: int, keyword: str, entries: Iterable[tuple[int, str]]) -> None:
    """Add the names of a section to a block."""
    kind = "constraint" if keyword.endswith("CONSS") else "variable"
    for line, name in entries:
        where = f"{found.path}, line {line}"
        if not names.knows(name, kind, where):
            continue
        if kind == "constraint":
            before = found.of_row.setdefault(name, block)
            if before != block:
                raise InputError(f"{where}: constraint {name!r} is in two blocks, expected one")
        else:
            found.of_variable.setdefault(name, set()).add(block)


# --- .jdec -----------------------------------------------------------------------------------------------------------


def _read_jdec(path: Path, text: str, names: _Names) -> Statement:
    """Read the JSON format; a decomposition of a block into independent parts makes a block of each part.

    Other decompositions of a block only affect how GCG prices it, not the bound; they are not used, with a warning.
    """
    data = parse_json(text, str(path))
    decomposition = _member(path, data, "decomposition", dict, "the file")
    found = Statement(path, rest_in_master=False)
    names.skips_unknown = bool(decomposition.get("presolved", False))
    _read_level(found, names, decomposition, "decomposition")
    names.warn(path)
    return found


def _member(path: Path, data: Any, key: str, kind: type, where: str) -> Any:
    value = data.get(key) if isinstance(data, dict) else None
    if not isinstance(value, kind):
        raise InputError(f"{path}: expected {where} to have {key!r}, a {kind.__name__}, not {value!r:.40}")
    return value


def _read_level(found: Statement, names: _Names, data: dict[str, Any], where: str) -> None:
    """Read one level of a decomposition into a statement."""
    path, blocks = found.path, _member(found.path, data, "blocks", list, where)
    found.count = len(blocks)
    for name in _member(path, data, "master_constraints", list, where):
        _add(found, names, name, MASTER, where)
    for place, block in enumerate(blocks):
        of_block = f"{where}.blocks[{place}]"
        constraints = _member(path, block, "constraints", list, of_block)
        number = block.get("index", place)
        if not isinstance(number, int) or not 0 <= number < len(blocks):
            raise InputError(f"{path}: {of_block}: expected an index from 0 to {len(blocks) - 1}, not {number!r}")
        for name in constraints:
            _add(found, names, name, number, of_block)
        like = block.get("symmetry_representative_block", number)
        if not isinstance(like, int) or not 0 <= like < len(blocks):
            raise InputError(
                f"{path}: {of_block}: expected a representative block from 0 to {len(blocks) - 1}, not {like!r}"
            )
        if like != number:
            found.copies[number] = like
        if "decomposition" in block:
            inner = Statement(path)
            _read_level(inner, names, block["decomposition"], f"{of_block}.decomposition")
            other = [name for name in inner.of_row if found.of_row.get(name) != number]
            if other:
                raise InputError(f"{path}: {of_block}: its decomposition has {other[0]!r}, which is not in the block")
            mine = {name for name, block_of in found.of_row.items() if block_of == number}
            if mine == set(inner.of_row) and MASTER not in inner.of_row.values():
                found.parts[number] = {
                    name: (part, *inner.parts.get(part, {}).get(name, ())) for name, part in inner.of_row.items()
                }
            else:
                _warn_of_parts(path, of_block, "master constraints")


def _warn_of_parts(path: Path, of_block: str, reason: str) -> None:
    warnings.warn(
        f"{path}: {of_block} has a decomposition with {reason}, which is not used: the block is priced as one, with "
        "the same bound",
        stacklevel=2,
    )


def _add(found: Statement, names: _Names, name: Any, block: int, where: str) -> None:
    if names.knows(str(name), "constraint", f"{found.path}: {where}"):
        before = found.of_row.setdefault(str(name), block)
        if before != block:
            raise InputError(f"{found.path}: {where}: constraint {name!r} is in two blocks, expected one")


# --- completion ------------------------------------------------------------------------------------------------------


def _complete(found: Statement, compact: CompactModel) -> Partition:
    """Return the block of each row and column; of a linking column, its first block."""
    matrix = compact.rows
    rows = np.full(matrix.shape[0], _OPEN)
    blocks: list[set[int]] = [set() for _ in compact.names]
    for name, number in found.of_variable.items():
        blocks[compact.place_of_name[name]] |= {each for each in number if each >= 0}
    for row, name in enumerate(compact.source.constraint_names):
        rows[row] = found.of_row.get(name, MASTER if found.rest_in_master else _OPEN)
    columns = [matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]].tolist() for r in range(len(rows))]
    stated = {compact.place_of_name[name]: number for name, number in found.of_variable.items()}
    for row in np.flatnonzero(rows >= 0).tolist():
        for column in columns[row]:
            _check(found, compact, stated.get(column), row, column, int(rows[row]))
            blocks[column].add(int(rows[row]))
    _follow_variables(rows, columns, blocks, stated)
    used = np.unique([*rows[rows >= 0].tolist(), *(block for own in blocks for block in own)]).tolist()
    if not used:
        raise InputError(f"{found.path}: no block has a constraint or a variable, expected at least one block")
    place = {block: k for k, block in enumerate(used)}
    first = [place[min(own)] if own else MASTER for own in blocks]
    of_row = np.array([place.get(block, MASTER) for block in rows.tolist()], dtype=np.int64)
    return Partition(tuple(block + 1 for block in used), np.array(first, dtype=np.int64), of_row)


def _check(found: Statement, compact: CompactModel, stated: set[int] | None, row: int, column: int, block: int) -> None:
    if stated is not None and not stated & {block, LINKING}:
        where = "the master" if stated == {MASTER} else f"block {min(stated) + 1}"
        raise InputError(
            f"{found.path}: variable {compact.names[column]!r} is in {where} and, by constraint "
            f"{compact.constraint_name(row)!r}, in block {block + 1}; expected one block"
        )


def _divide(found: Statement, compact: CompactModel, blocks: Partition) -> Partition:
    """Return blocks with a block for each part of a decomposed block, if these parts share no variable."""
    names, of_column, of_row = list(blocks.names), blocks.of_column.copy(), blocks.of_row.copy()
    row_of_name = {name: row for row, name in enumerate(compact.source.constraint_names)}
    for number, part_of_name in found.parts.items():
        rows: dict[tuple[int, ...], list[int]] = {}
        for name, part in part_of_name.items():
            rows.setdefault(part, []).append(row_of_name[name])
        columns = {part: np.unique(compact.rows[own, :].indices) for part, own in rows.items()}
        if len(np.unique(np.concatenate([*columns.values()]))) < sum(map(len, columns.values())):
            _warn_of_parts(found.path, f"block {number}", "variables of several parts")
            continue
        block = names.index(number + 1)
        names[block] = f"{number + 1}.1"
        for k, part in enumerate(list(rows)[1:], 2):
            mine = columns[part][of_column[columns[part]] == block]
            of_row[rows[part]] = of_column[mine] = len(names)
            names.append(f"{number + 1}.{k}")
    return Partition(tuple(names), of_column, of_row)


def _check_copies(found: Statement, compact: CompactModel, blocks: Partition) -> None:
    """Raise InputError if a file calls a block a copy of another, and they differ."""
    if not found.copies:
        return
    place = {name: k for k, name in enumerate(blocks.names)}
    copied, blocks = copy_linking(compact, blocks)
    groups = group_identical(split(copied, blocks, (copied.formulation.lower, copied.formulation.upper)))
    form = {block.number: k for k, group in enumerate(groups) for block in group}
    for one, other in found.copies.items():
        if form[place[one + 1]] != form[place[other + 1]]:
            raise InputError(
                f"{found.path}: block {one} is called a copy of block {other}, but their coefficients, bounds or costs "
                "differ; remove its symmetry_representative_block"
            )


def _follow_variables(
    rows: np.ndarray[Any, Any], columns: list[list[int]], blocks: list[set[int]], stated: Mapping[int, set[int]]
) -> None:
    """Assign each open row to the only block of its variables, until nothing changes; others stay in the master."""
    open_rows = [row for row in np.flatnonzero(rows == _OPEN).tolist() if columns[row]]
    while True:
        rest = []
        for row in open_rows:
            own = [blocks[column] for column in columns[row] if blocks[column]]
            shared = set.intersection(*own) if own else set()
            free = [column for column in columns[row] if not blocks[column]]
            if len(shared) == 1 and not any(MASTER in stated.get(column, ()) for column in free):
                rows[row] = shared.pop()
                for column in free:
                    blocks[column].add(int(rows[row]))
            else:
                rest.append(row)
        if len(rest) == len(open_rows):
            break
        open_rows = rest
    rows[rows == _OPEN] = MASTER
