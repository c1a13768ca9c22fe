"""Files of orders: BPPLIB's text for one roll width, JSON for whatever else is given."""

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
from colgen.problems.cutting_stock.instance import CuttingStockInstance, parse
from colgen.problems.cutting_stock.parts import AtMost, Conflicts, Order, Stock

_FIELDS = ("name", "roll", "items", "stock", "patterns", "conflicts")


def read_order(path: Path | str, *, problem: int | None = None) -> Order:
    """Read BPPLIB's text format, or JSON: ``{"roll": 100, "items": [{"width": 45, "demand": 97}, ...]}``.

    The JSON may have besides ``"conflicts": [[0, 1], ...]``, pairs of items that may not be cut from one roll, numbered
    from 0; ``"patterns": 8``, at most so many different patterns; and, instead of the roll, ``"stock": [{"width": 100,
    "cost": 12.5, "supply": 40}, ...]``, rolls of several widths, of which there are any number where no supply is said.
    An item without a demand is wanted once.

    The OR-Library's files of bin packing hold several problems: their number; of each a name, ``CAPACITY ITEMS BEST``,
    and the sizes.  Sizes with decimals are read in tenths, hundredths, ....

    Parameters
    ----------
    problem
        Which of a file's problems, from 1; None: the first.

    Raises
    ------
    InputError
        With the file, and with line or place, where it is something else.
    """
    path = Path(path)
    text = read_text(path)
    records = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if _is_library(records):
        return _library(path, records, 1 if problem is None else problem)
    if problem not in (None, 1):
        raise InputError(f"{path}: expected problem 1, the file holds no other, not {problem}")
    if text.lstrip()[:1] not in ("{", "["):
        return Order(parse(text, path))
    content = parse_json(text, str(path))
    try:
        return _order(content, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


Records: TypeAlias = Sequence[tuple[int, list[str]]]
"""Lines that are not empty: their numbers, and their words."""


def _is_library(records: Records) -> bool:
    """Whether a text is the OR-Library's: a number, a name, a capacity with the numbers of items and of bins."""
    return len(records) > 2 and [len(words) for _, words in records[:3]] == [1, 1, 3]


def _library(path: Path, records: Records, problem: int) -> Order:
    """One problem of a file of the OR-Library, of which every line is looked at."""
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
            raise InputError(f"{path}, line {line}: {count} items are announced, but {len(rows)} follow")
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
        raise InputError(f"{path}: the first line announces {announced} problems, but {len(found)} follow")
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
        instance = CuttingStockInstance(int(capacity * parts), widths, tuple(demands[w] for w in widths), name)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Order(instance, reading=reading)


def _count(path: Path, line: int, word: str) -> int:
    if not re.fullmatch("0*[1-9][0-9]{0,8}", word):
        raise InputError(f"{path}, line {line}: expected a whole number from 1, not {word[:20]!r}")
    return int(word)


def _size(path: Path, line: int, word: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{0,9})?", word) or not Decimal(word):
        raise InputError(f"{path}, line {line}: expected a positive number, not {word[:20]!r}")
    return Decimal(word)


def write_order(order: Order, path: Path | str) -> None:
    """Write the JSON that :func:`read_order` reads."""
    instance, content = order.instance, dict[str, Any]()
    if instance.name:
        content["name"] = instance.name
    if order.stock is None:
        content["roll"] = instance.roll
    else:
        kinds = zip(order.stock.widths, order.stock.costs, order.stock.supplies or (), strict=True)
        content["stock"] = [
            {"width": width, "cost": cost} | ({} if supply is None else {"supply": supply})
            for width, cost, supply in kinds
        ]
    if order.patterns is not None:
        content["patterns"] = order.patterns.patterns
    content["items"] = [
        {"width": width, "demand": demand} for width, demand in zip(instance.widths, instance.demands, strict=True)
    ]
    if order.conflicts is not None:
        content["conflicts"] = [list(pair) for pair in order.conflicts.pairs]
    write_text(path, json.dumps(content, indent=1) + "\n")


def _order(content: Any, name: str) -> Order:
    fields = _object(content, "the file", _FIELDS)
    items = [_object(item, f"item {k}", ("width", "demand")) for k, item in enumerate(_list(fields, "items"))]
    for k, item in enumerate(items):
        _needs(item, f"item {k}", "width")
    stock = None
    if "stock" in fields:
        if "roll" in fields:
            raise InputError("expected a roll or a stock, not both")
        kinds = [
            _object(kind, f"roll {k}", ("width", "cost", "supply")) for k, kind in enumerate(_list(fields, "stock"))
        ]
        for k, kind in enumerate(kinds):
            _needs(kind, f"roll {k}", "width", "cost")
        stock = Stock(
            tuple(kind["width"] for kind in kinds),
            tuple(kind["cost"] for kind in kinds),
            tuple(kind.get("supply") for kind in kinds),
        )
    else:
        _needs(fields, "the file", "roll")
    conflicts = None
    if "conflicts" in fields:
        pairs = _list(fields, "conflicts")
        for pair in pairs:
            if not isinstance(pair, list):
                raise InputError(f"conflicts are pairs of items, not {repr(pair)[:40]}")
        conflicts = Conflicts(tuple(pairs))
    instance = CuttingStockInstance(
        max(stock.widths) if stock is not None else fields["roll"],
        tuple(item["width"] for item in items),
        tuple(item.get("demand", 1) for item in items),
        fields.get("name", name),
    )
    return Order(instance, stock, AtMost(fields["patterns"]) if "patterns" in fields else None, conflicts)


def _object(value: Any, what: str, known: Iterable[str]) -> Mapping[str, Any]:
    names = tuple(known)
    if not isinstance(value, dict):
        raise InputError(f"{what}: expected an object with {', '.join(names)}, not {repr(value)[:40]}")
    for name in value:
        if name not in names:
            raise InputError(f"{what}: there is no field {name!r}, there are {', '.join(names)}")
    return value


def _needs(fields: Mapping[str, Any], what: str, *names: str) -> None:
    for name in names:
        if name not in fields:
            raise InputError(f"{what}: expected a field {name!r}")


def _list(fields: Mapping[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    if not isinstance(value, list):
        raise InputError(f"{name}: expected a list, not {'nothing' if value is None else repr(value)[:40]}")
    return value
