"""Altered certificates: correct ones in which one number, list entry or line is changed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError


def alter_certificate(lines: Sequence[str], seed: int) -> tuple[list[str], str]:
    """Return a certificate with one alteration, and its description.

    A number changes, an entry of a list (a row, a child, a dual value) is removed or repeated, or a line is removed or
    repeated.  Alterations that may leave the certificate correct are excluded: the instance's name, numbers of a split
    or cut (which would define another valid split or cut), and potentials of trees (which may be raised a little).
    """
    chance = random.Random(seed)
    records = [json.loads(line) for line in lines]
    while True:
        kind = chance.choice(("number", "number", "number", "entry", "entry", "line"))
        k = chance.randrange(len(records))
        changed = json.loads(json.dumps(records))
        if kind == "line":
            change = f"line {k + 1} {'removed' if chance.random() < 0.5 else 'repeated'}"
            changed[k : k + 1] = [] if change.endswith("removed") else [records[k], records[k]]
        elif kind == "number":
            change = _alter_number(changed[k], chance, k)
        else:
            change = _alter_list(changed[k], chance, k)
        if change and changed != records:
            return [json.dumps(record) for record in changed], change


def find_undetected(certificates: Sequence[Sequence[str]], seeds: Iterable[int]) -> list[str]:
    """Alter the certificates in turn, once per seed; return descriptions of those that the checker accepts."""
    accepted = []
    for seed in seeds:
        lines, change = alter_certificate(certificates[seed % len(certificates)], seed)
        try:
            check(lines)
        except WrongError:
            continue
        accepted.append(f"seed {seed}: {change}")
    return accepted


def _places(record: Any, matches: Any) -> list[tuple[Any, Any]]:
    """Return containers and keys of the matching values in a record."""
    places: list[tuple[Any, Any]] = []
    items = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in list(items):
        if matches(value) and key != "name":
            places.append((record, key))
        if key not in ("cut", "potentials") and not (key == "split" and matches is _is_number):
            places += _places(value, matches)
    return places


def _is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value.replace("/", "").lstrip("-").isdigit())


def _alter_number(record: Any, chance: random.Random, k: int) -> str:
    places = _places(record, _is_number)
    if not places:
        return ""
    container, key = chance.choice(places)
    before = container[key]
    change = chance.choice((-1, 1, 2, -7, 1000))
    if isinstance(before, int):
        container[key] = chance.choice((before + change, -before if before else 1))
    else:
        top, _, bottom = before.partition("/")
        container[key] = f"{int(top) + change}/{bottom}" if bottom else str(int(top) + change)
    return f"line {k + 1}: {key} {before} is now {container[key]}"


def _alter_list(record: Any, chance: random.Random, k: int) -> str:
    places = _places(record, lambda value: isinstance(value, list) and value)
    if not places:
        return ""
    container, key = chance.choice(places)
    entries = container[key]
    place = chance.randrange(len(entries))
    if chance.random() < 0.5:
        removed = entries.pop(place)
        return f"line {k + 1}: {key} without its entry {place}, {str(removed)[:40]}"
    entries.insert(place, entries[place])
    return f"line {k + 1}: {key} with its entry {place} repeated"
