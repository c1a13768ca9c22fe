"""Files of orders: BPPLIB's text for one roll width, JSON for whatever else is given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from colgen import InputError
from colgen.core.files import parse_json, read_text, write_text
from problems.cutting_stock.instance import Instance, parse
from problems.cutting_stock.parts import AtMost, Conflicts, Order, Stock

_FIELDS = ("name", "roll", "items", "stock", "patterns", "conflicts")


def read_order(path: Path | str) -> Order:
    """Read BPPLIB's text format, or JSON: ``{"roll": 100, "items": [{"width": 45, "demand": 97}, ...]}``.

    The JSON may have besides ``"conflicts": [[0, 1], ...]``, pairs of items that may not be cut from one roll, numbered
    from 0; ``"patterns": 8``, at most so many different patterns; and, instead of the roll, ``"stock": [{"width": 100,
    "cost": 12.5, "supply": 40}, ...]``, rolls of several widths, of which there are any number where no supply is said.
    An item without a demand is wanted once.

    Raises
    ------
    InputError
        With the file, and with line or place, where it is something else.
    """
    path = Path(path)
    text = read_text(path)
    if text.lstrip()[:1] not in ("{", "["):
        return Order(parse(text, path))
    content = parse_json(text, str(path))
    try:
        return _order(content, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


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
    instance = Instance(
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
