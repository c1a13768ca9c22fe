"""File formats of cutting stock: BPPLIB and OR-Library text for one roll width, JSON for all instances."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from colgen import InputError
from colgen.core.files import parse_json, read_text, write_text
from colgen.problems.cutting_stock.instance import LARGEST_ROLL, CuttingStockInstance, Stock

_FIELDS = ("name", "roll", "items", "stock", "patterns", "conflicts")

Records: TypeAlias = Sequence[tuple[int, list[str]]]
"""Line numbers and words of the lines that are not empty."""


def read(path: Path | str, *, problem: int | None = None) -> CuttingStockInstance:
    """Read an instance from BPPLIB text, OR-Library text or JSON.

    BPPLIB: the number of items n and the roll width, then n lines with a width, or a width and a demand.  Any white
    space may separate the numbers of a line.

    OR-Library (bin packing): the number of problems, and for each problem a name, ``CAPACITY ITEMS BEST``, and the
    sizes.  Decimal sizes are scaled to integers.

    JSON: ``{"roll": 100, "items": [{"width": 45, "demand": 97}, ...]}``; the default demand is 1.  The optional field
    ``"conflicts": [[0, 1], ...]`` has pairs of items, numbered from 0, that may not share a roll.  ``"patterns": 8`` is
    the maximum number of different patterns.  ``"stock": [{"width": 100, "cost": 12.5, "supply": 40}, ...]`` replaces
    the roll by rolls of several widths; without a supply, a width is unlimited.

    Parameters
    ----------
    problem
        Problem number in the file, from 1; None: the first.

    Raises
    ------
    InputError
        If the file is malformed; the message names the file and the line or field.
    """
    path = Path(path)
    text = read_text(path)
    records = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if _is_library(records):
        return _library(path, records, 1 if problem is None else problem)
    if problem not in (None, 1):
        raise InputError(f"{path}: the file holds one problem, expected problem 1, not {problem}")
    if text.lstrip()[:1] not in ("{", "["):
        return _bpplib(path, records)
    content = parse_json(text, str(path))
    try:
        return _from_json(content, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def write(instance: CuttingStockInstance, path: Path | str) -> None:
    """Write BPPLIB text, or JSON if the instance has a stock, conflicts or a limit on patterns."""
    if instance.is_plain:
        lines = [str(instance.num_items), str(instance.roll)]
        lines += [f"{w} {d}" for w, d in zip(instance.widths, instance.demands, strict=True)]
        write_text(path, "\n".join(lines) + "\n")
    else:
        write_text(path, json.dumps(_as_json(instance), indent=1) + "\n")


# --- BPPLIB ----------------------------------------------------------------------------------------------------------


def _bpplib(path: Path, records: Records) -> CuttingStockInstance:
    numbers = [(number, _numbers(path, number, words)) for number, words in records]
    if len(numbers) < 2 or len(numbers[0][1]) != 1 or len(numbers[1][1]) != 1:
        raise InputError(f"{path}: expected the number of items on the first line and the roll width on the second")
    count, roll = numbers[0][1][0], numbers[1][1][0]
    items = numbers[2:]
    if len(items) != count:
        raise InputError(f"{path}: the first line states {count} items, but {len(items)} follow")
    demands: Counter[int] = Counter()
    for number, record in items:
        if len(record) not in (1, 2):
            raise InputError(
                f"{path}, line {number}: expected a width, or a width and a demand, not {len(record)} numbers"
            )
        width, demand = record[0], record[1] if len(record) == 2 else 1
        if not 1 <= width <= roll:
            raise InputError(f"{path}, line {number}: the width is {width}, expected 1 to {roll} (the roll)")
        if demand < 1:
            raise InputError(f"{path}, line {number}: the demand is {demand}, expected at least 1")
        demands[width] += demand
    if not demands:
        raise InputError(f"{path}: the instance has no items")
    widths = tuple(sorted(demands, reverse=True))
    try:
        return CuttingStockInstance(roll, widths, tuple(demands[w] for w in widths), path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _numbers(path: Path, line: int, words: Sequence[str]) -> list[int]:
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        raise InputError(f"{path}, line {line}: expected integers, not {' '.join(words)[:40]!r}") from None
    for number in numbers:
        if abs(number) > LARGEST_ROLL:
            raise InputError(f"{path}, line {line}: expected numbers up to 2^53, not {str(number)[:40]}")
    return numbers


# --- the OR-Library ---------------------------------------------------------------------------------------------------


def _is_library(records: Records) -> bool:
    """Return whether a text is an OR-Library file: a number, a name, then capacity, items and bins."""
    return len(records) > 2 and [len(words) for _, words in records[:3]] == [1, 1, 3]


def _library(path: Path, records: Records, problem: int) -> CuttingStockInstance:
    """Return one problem of an OR-Library file, after checking all lines."""
    announced = _count(path, records[0][0], records[0][1][0])
    found: list[tuple[str, Decimal, list[Decimal]]] = []
    at = 1
    while at < len(records):
        if len(records) < at + 2 or len(records[at][1]) != 1 or len(records[at + 1][1]) != 3:
            line, words = records[at]
            raise InputError(
                f"{path}, line {line}: expected the name of a problem, and 'CAPACITY ITEMS BEST' below it, not "
                f"{' '.join(words)[:40]!r}"
            )
        line, (room, items, _) = records[at + 1]
        name, capacity, count = records[at][1][0], _size(path, line, room), _count(path, line, items)
        rows = records[at + 2 : at + 2 + count]
        if len(rows) < count:
            raise InputError(f"{path}, line {line}: the line states {count} items, but {len(rows)} follow")
        for number, words in rows:
            if len(words) != 1:
                raise InputError(f"{path}, line {number}: expected one size, not {' '.join(words)[:40]!r}")
        sizes = [_size(path, number, words[0]) for number, words in rows]
        for (number, _), size in zip(rows, sizes, strict=True):
            if size > capacity:
                raise InputError(f"{path}, line {number}: the size is {size}, expected at most {capacity}")
        found.append((name, capacity, sizes))
        at += 2 + count
    if len(found) != announced:
        raise InputError(f"{path}: the first line states {announced} problems, but {len(found)} follow")
    if problem > announced:
        raise InputError(f"{path}: expected a problem from 1 to {announced}, not {problem}")
    name, capacity, sizes = found[problem - 1]
    decimals = max(-int(size.normalize().as_tuple().exponent) for size in (capacity, *sizes))
    parts = 10 ** max(decimals, 0)
    demands = Counter(int(size * parts) for size in sizes)
    widths = tuple(sorted(demands, reverse=True))
    reading = f"problem {problem} of {announced}, {name}" + (
        " (--option problem=K for another)" if announced > 1 else ""
    )
    if parts > 1:
        reading += f"; sizes in parts of {1 / Decimal(parts)}"
    try:
        return CuttingStockInstance(
            int(capacity * parts), widths, tuple(demands[w] for w in widths), name, reading=reading
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _count(path: Path, line: int, word: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,8}", word):
        raise InputError(f"{path}, line {line}: expected an integer of at least 1, not {word[:20]!r}")
    return int(word)


def _size(path: Path, line: int, word: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{0,9})?", word) or not Decimal(word):
        raise InputError(f"{path}, line {line}: expected a positive number, not {word[:20]!r}")
    return Decimal(word)


# --- JSON -------------------------------------------------------------------------------------------------------------


def _as_json(instance: CuttingStockInstance) -> dict[str, Any]:
    content = dict[str, Any]()
    if instance.name:
        content["name"] = instance.name
    if instance.stock is None:
        content["roll"] = instance.roll
    else:
        kinds = zip(instance.stock.widths, instance.stock.costs, instance.stock.supplies or (), strict=True)
        content["stock"] = [
            {"width": width, "cost": cost} | ({} if supply is None else {"supply": supply})
            for width, cost, supply in kinds
        ]
    if instance.patterns is not None:
        content["patterns"] = instance.patterns
    items = zip(instance.widths, instance.demands, strict=True)
    content["items"] = [{"width": width, "demand": demand} for width, demand in items]
    if instance.conflicts:
        content["conflicts"] = [list(pair) for pair in instance.conflicts]
    return content


def _from_json(content: Any, name: str) -> CuttingStockInstance:
    fields = _object(content, "the file", _FIELDS)
    items = [_object(item, f"item {k}", ("width", "demand")) for k, item in enumerate(_list(fields, "items"))]
    for k, item in enumerate(items):
        _needs(item, f"item {k}", "width")
    if "stock" not in fields:
        _needs(fields, "the file", "roll")
    elif "roll" in fields:
        raise InputError("the file has fields 'roll' and 'stock', expected one of them")
    stock = _stock(_list(fields, "stock")) if "stock" in fields else None
    return CuttingStockInstance(
        fields["roll"] if stock is None else max(stock.widths),
        tuple(item["width"] for item in items),
        tuple(item.get("demand", 1) for item in items),
        fields.get("name", name),
        stock=stock,
        conflicts=tuple(_list(fields, "conflicts")) if "conflicts" in fields else (),
        patterns=fields.get("patterns"),
    )


def _stock(entries: Sequence[Any]) -> Stock:
    kinds = [_object(entry, f"roll {k}", ("width", "cost", "supply")) for k, entry in enumerate(entries)]
    for k, kind in enumerate(kinds):
        _needs(kind, f"roll {k}", "width", "cost")
    return Stock(
        tuple(kind["width"] for kind in kinds),
        tuple(kind["cost"] for kind in kinds),
        tuple(kind.get("supply") for kind in kinds),
    )


def _object(value: Any, what: str, known: Iterable[str]) -> Mapping[str, Any]:
    names = tuple(known)
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object with {', '.join(names)}, not {repr(value)[:40]}")
    for name in value:
        if name not in names:
            raise InputError(f"{what}: unknown field {name!r}, expected {', '.join(names)}")
    return value


def _needs(fields: Mapping[str, Any], what: str, *names: str) -> None:
    for name in names:
        if name not in fields:
            raise InputError(f"{what}: the field {name!r} is missing")


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    if not isinstance(value, list):
        raise InputError(f"{name}: expected a list, not {'nothing' if value is None else repr(value)[:40]}")
    return value
