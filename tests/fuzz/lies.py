"""Lies: true certificates in which one number, row, child or reason is changed, so that they say something else."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import Any

from colgen.certificate.checker import check
from colgen.certificate.checker_pricing import WrongError


def mutated(lines: Sequence[str], seed: int) -> tuple[list[str], str]:
    """A certificate with one change, and what was changed.

    A number becomes another one, an entry of a list (a row, a child, a dual value) goes away or comes twice, a line is
    left out or comes twice.  The instance's name means nothing, and is left alone.  So are the numbers of a split and
    of a cut: they say once where they split and cut, so that another number makes another one, as true as the first.
    Potentials of trees prove as much if one of them is raised a little.
    """
    chance = random.Random(seed)
    records = [json.loads(line) for line in lines]
    while True:
        kind = chance.choice(("number", "number", "number", "entry", "entry", "line"))
        k = chance.randrange(len(records))
        changed, what = json.loads(json.dumps(records)), ""
        if kind == "line":
            what = f"line {k + 1} {'left out' if chance.random() < 0.5 else 'twice'}"
            changed[k : k + 1] = [] if what.endswith("out") else [records[k], records[k]]
        elif kind == "number":
            what = _other_number(changed[k], chance, k)
        else:
            what = _other_list(changed[k], chance, k)
        if what and changed != records:
            return [json.dumps(record) for record in changed], what


def unfound(certificates: Sequence[Sequence[str]], seeds: Iterable[int]) -> list[str]:
    """What is changed in the lies that the checker believes; each seed makes one, of the certificates in turn."""
    believed = []
    for seed in seeds:
        lines, what = mutated(certificates[seed % len(certificates)], seed)
        try:
            check(lines)
        except WrongError:
            continue
        believed.append(f"seed {seed}: {what}")
    return believed


def _places(record: Any, wanted: Any) -> list[tuple[Any, Any]]:
    """Where in a record something is: containers and keys."""
    found: list[tuple[Any, Any]] = []
    items = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in list(items):
        if wanted(value) and key != "name":
            found.append((record, key))
        if key not in ("cut", "potentials") and not (key == "split" and wanted is _is_number):
            found += _places(value, wanted)
    return found


def _is_number(value: Any) -> bool:
    return type(value) is int or (isinstance(value, str) and value.replace("/", "").lstrip("-").isdigit())


def _other_number(record: Any, chance: random.Random, k: int) -> str:
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


def _other_list(record: Any, chance: random.Random, k: int) -> str:
    places = _places(record, lambda value: isinstance(value, list) and value)
    if not places:
        return ""
    container, key = chance.choice(places)
    entries = container[key]
    place = chance.randrange(len(entries))
    if chance.random() < 0.5:
        gone = entries.pop(place)
        return f"line {k + 1}: {key} without its entry {place}, {str(gone)[:40]}"
    entries.insert(place, entries[place])
    return f"line {k + 1}: {key} with its entry {place} twice"
