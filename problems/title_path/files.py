"""Graphs in JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from colgen import InputError
from colgen.core.files import read_json, write_text
from colgen.problems.title_path.instance import PathInstance, from_arcs

FORMAT = "colgen title_path graph"


def read(path: Path | str) -> PathInstance:
    """Read a graph in JSON, in the format of :func:`write`.

    The file has an object with ``length``, ``vertices`` (objects with ``name`` and an optional ``class``) and ``arcs``
    (lists of tail, head, weight and an optional label). ``null`` is the source as a tail, the sink as a head.

    Raises
    ------
    InputError
        If the file has other contents; the message states the expected contents.
    """
    path = Path(path)
    content = read_json(path)
    if not isinstance(content, dict) or not {"length", "vertices", "arcs"} <= content.keys():
        raise InputError(f"{path}: expected an object with length, vertices and arcs")
    try:
        return _from_json(content, path.stem)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _from_json(content: Mapping[str, Any], name: str) -> PathInstance:
    labels, classes = [], []
    for k, vertex in enumerate(_list(content["vertices"], "vertices")):
        if not isinstance(vertex, dict) or not isinstance(vertex.get("name"), (str, int)):
            raise InputError(f"vertex number {k}: expected an object with a name, not {repr(vertex)[:40]}")
        labels.append(vertex["name"])
        own = vertex.get("class")
        if own is not None and not isinstance(own, (str, int, float)):
            raise InputError(f"vertex number {k}: expected a string or a number as class, not {str(own)[:40]}")
        classes.append(("vertex", vertex["name"]) if own is None else ("class", own))
    number = {label: k for k, label in enumerate(labels)}
    arcs = []
    for k, arc in enumerate(_list(content["arcs"], "arcs")):
        if not isinstance(arc, list) or len(arc) not in (3, 4):
            expected = "a list of tail, head, weight and optionally a label"
            raise InputError(f"arc number {k}: expected {expected}, not {repr(arc)[:40]}")
        for end in arc[:2]:
            if end is not None and (not isinstance(end, (str, int)) or end not in number):
                raise InputError(f"arc number {k}: unknown vertex {repr(end)[:40]}")
        tail, head = (None if end is None else number[end] for end in arc[:2])
        if tail is None and head is None:
            raise InputError(
                f"arc number {k} leads from the source to the sink, but a path has at least one vertex between them"
            )
        arcs.append((tail, head, arc[2], arc[3] if len(arc) == 4 else None))
    return from_arcs(len(labels), arcs, content["length"], classes, labels, str(content.get("name", name)))


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"expected a list of {what}")
    return value


def write(instance: PathInstance, path: Path | str) -> None:
    """Write a graph in JSON for :func:`read`; labels other than integers become strings."""
    labels = [label if isinstance(label, int) else str(label) for label in instance.labels]
    vertices = [{"name": label, "class": c} for label, c in zip(labels, instance.class_numbers.tolist(), strict=True)]
    arcs: list[list[Any]] = []
    for v in np.flatnonzero(instance.first > -np.inf).tolist():
        arcs.append([None, labels[v], float(instance.first[v]), *_label(instance, instance.num_vertices, v)])
    for u, v in np.argwhere(instance.weights > -np.inf).tolist():
        arcs.append([labels[u], labels[v], float(instance.weights[u, v]), *_label(instance, u, v)])
    arcs += [[labels[v], None, float(instance.last[v])] for v in np.flatnonzero(instance.last > -np.inf).tolist()]
    content = {"format": FORMAT, "name": instance.name, "length": instance.length, "vertices": vertices, "arcs": arcs}
    write_text(path, json.dumps(content, ensure_ascii=False) + "\n")


def _label(instance: PathInstance, tail: int, head: int) -> list[str]:
    if instance.via is None or instance.via[tail, head] < 0:
        return []
    return [instance.via_labels[instance.via[tail, head]]]
