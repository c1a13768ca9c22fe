"""Invalid files, arguments and programs: each must produce one clear line, and exit code 2 for commands."""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from colgen.checkpoint.file import FORMAT
from colgen.core.serialization import write_sealed
from colgen.problems.assignment import random as random_tasks
from colgen.problems.assignment import write as write_tasks
from colgen.problems.chain_map.instance import random as random_chains
from colgen.problems.colouring import random as random_graph
from colgen.problems.colouring import write as write_graph
from colgen.problems.coreference.instance import random as random_scores
from colgen.problems.coreference.instance import write_matrix
from colgen.problems.cutting_stock.generators import uniform
from colgen.problems.cutting_stock.reading import write as write_rolls
from colgen.problems.grandparent_parsing import random as random_sentence
from colgen.problems.grandparent_parsing import write as write_sentence
from colgen.problems.nonlocal_parsing import random as random_factors
from colgen.problems.nonlocal_parsing import write as write_factors
from colgen.problems.title_path import random as random_digraph
from colgen.problems.title_path import write as write_digraph
from colgen.problems.vehicle_routing import random as random_customers
from colgen.problems.vehicle_routing import write as write_customers
from tests.fuzz import bad_programs
from tests.fuzz.bad_texts import FORMATS, treebank
from tests.fuzz.interrupts import fork_run, wait_for_exit
from tests.fuzz.judging import Outcome

Rng = np.random.Generator

LONGEST = 300
"""Maximum length of a message in characters."""

_PATIENCE = 30.0
"""Seconds after which a run counts as hanging."""

_PROGRAMS = 4
"""Every fourth input is a program."""

_NUMBERS = ("scores", "tables", "arcs", "grandparents", "siblings", "parent", "starts", "table", "factor_arcs", "start")
"""Names of numeric arrays in the file formats."""


def try_bad_inputs(count: int, seed: int) -> Outcome:
    """Run ``count`` invalid inputs."""
    outcome = Outcome(count)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        good = good_files(directory)
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            if number % _PROGRAMS == _PROGRAMS - 1:
                change, run = bad_programs.draw(rng)
                fault = _run_program(run, directory)
            else:
                change, arguments = _draw(rng, good, directory)
                fault = _run_command(arguments, directory)
            if fault is not None:
                outcome.wrong.append(f"{change}: {fault}")
    return outcome


def _run_program(run: Callable[[], str | None], directory: Path) -> str | None:
    """Run a program in a child process; describe a wrong reaction, or return None."""

    def child_run() -> int:
        fault = run()
        if fault is not None:
            print(fault)
        return 0 if fault is None else 1

    child, pipe = fork_run(directory, child_run)
    code = wait_for_exit(child, _PATIENCE)
    os.close(pipe)
    output = (directory / "streams").read_text(encoding="utf-8", errors="replace")
    return None if code == 0 else f"exit code {code}, {output[-300:]!r}"


def _run_command(arguments: list[str], directory: Path) -> str | None:
    def run() -> int:
        from colgen.cli.main import main

        return main(arguments)

    child, pipe = fork_run(directory, run)
    code = wait_for_exit(child, _PATIENCE)
    os.close(pipe)
    output = (directory / "streams").read_text(encoding="utf-8", errors="replace").rstrip("\n")
    if code != 2:
        return f"exit code {code}, output {output[:200]!r}"
    if "\n" in output or not output:
        return f"not one line: {output[:200]!r}"
    if len(output) > LONGEST + len(str(directory)):
        return f"{len(output)} characters: {output[:200]!r}"
    if not output.isprintable():
        return f"control characters: {output[:200]!r}"
    if "Error" in output or "Traceback" in output:
        return f"not clear: {output[:200]!r}"
    return None


def _draw(rng: Rng, good: dict[str, tuple[Path, ...]], directory: Path) -> tuple[str, list[str]]:
    template = str(rng.choice(list(good)))
    file = good[template][int(rng.integers(len(good[template])))]
    kinds: list[Callable[[Rng, str, Path, Path], tuple[str, list[str]]]] = [
        _broken,
        _broken,
        _argument,
        _treebank,
        _resealed,
    ]
    if file.suffix == ".npz":
        kinds += [_arrays] * 5
    elif file.suffix == ".json":
        kinds += [_json] * 4
    else:
        kinds += [_text] * 4
    return kinds[int(rng.integers(len(kinds)))](rng, template, file, directory)


# --- kinds -----------------------------------------------------------------------------------------------------------


def _truncated(file: Path, content: bytes, cut: int) -> bytes:
    """Return the beginning of a file; of a graph less than a line, because fewer edges than announced are valid."""
    if file.suffix == ".txt":
        return content.split(b"\n")[0]
    return content[:4] if file.suffix == ".col" else content[:cut]


def _broken(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a missing, truncated or unreadable file."""
    content = file.read_bytes()
    cut = int(rng.integers(1, max(len(content) // 2, 2)))
    contents = {
        "empty": b"",
        "truncated": _truncated(file, content, cut),
        "headless": content[cut:] if file.suffix == ".npz" else b"\x00" + content[cut:],
        "garbage": rng.bytes(300) + b"\xff\xfe\x00",
        "utf-16": "numbers".encode("utf-16"),
        "nul": b"\x00" * 500,
        "html": b"<!DOCTYPE html><title>Not found</title>" * 3,
    }
    kind = str(rng.choice([*contents, "missing", "directory", "strange name"]))
    path = directory / f"bad{file.suffix}"
    if kind in contents:
        path.write_bytes(contents[kind])
    elif kind == "missing":
        path = directory / "nowhere" / "at all.npz"
    elif kind == "directory":
        path = directory
    else:
        path = directory / f"\x1b[31mred\n\tname{file.suffix}"
        path.write_bytes(b"")
    return f"{template}, {kind}", ["solve", template, str(path), "--quiet"]


def _arrays(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return an archive with one invalid array."""
    with np.load(file) as loaded:
        arrays: dict[str, Any] = {name: loaded[name] for name in loaded.files}
    name = str(rng.choice([n for n in arrays if n in _NUMBERS]))
    array = arrays[name]
    floats = array.dtype.kind == "f"
    kinds: dict[str, Callable[[], Any]] = {
        "structured": lambda: np.zeros(array.shape, dtype=[("a", "f8"), ("b", "f8")]),
        "complex": lambda: array + 1j,
        "text": lambda: np.full(array.shape, "one"),
        "objects": lambda: np.full(array.shape, None, dtype=object),
        "scalar": lambda: np.float64(1.0),
        "one dimension more": lambda: np.stack([array, array])[..., None],
        "times": lambda: np.full(array.shape, np.datetime64("2020-01-01")),
        "too large": lambda: None,
    }
    if floats:
        kinds["not a number"] = lambda: np.full(array.shape, np.nan)
        kinds["infinite"] = lambda: np.full(array.shape, np.inf)
    else:
        kinds["fractions"] = lambda: array + 0.5
        kinds["out of range"] = lambda: array + 10_000
        kinds["negative"] = lambda: array - 10_000
        kinds["beyond 64 bits"] = lambda: array.astype(np.float64) + 1e19
    kind = str(rng.choice(list(kinds)))
    path = directory / "bad.npz"
    changed = kinds[kind]()
    if kind == "too large":
        np.savez(path, **{k: a for k, a in arrays.items() if k != name})
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(f"{name}.npy", _header((10**6, 10**7)))
    else:
        np.savez(path, **{**arrays, name: changed})
    return f"{template}, array {name} {kind}", ["solve", template, str(path), "--quiet"]


def _json(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a malformed JSON file, or one with invalid contents."""
    content = json.loads(file.read_text(encoding="utf-8"))
    kinds: dict[str, Callable[[], str]] = {
        "deep": lambda: "[" * 200_000,
        "a long number": lambda: json.dumps({**content, "length": 1}).replace('"length": 1', f'"length": {"9" * 6000}'),
        "beyond 64 bits": lambda: json.dumps({**content, "length": 2**70}),
        "no length": lambda: json.dumps({k: v for k, v in content.items() if k != "length"}),
        "a negative length": lambda: json.dumps({**content, "length": -1}),
        "a broken length": lambda: json.dumps({**content, "length": 2.5}),
        "a list": lambda: json.dumps([content]),
        "a number": lambda: "17",
        "no vertices": lambda: json.dumps({**content, "vertices": []}),
        "odd vertices": lambda: json.dumps({**content, "vertices": [1, 2]}),
        "arcs of unknown vertices": lambda: json.dumps({**content, "arcs": [["unknown", "missing", 1.0]]}),
        "a weight in words": lambda: json.dumps({**content, "arcs": [[*content["arcs"][0][:2], "heavy"]]}),
        "not a number": lambda: json.dumps({**content, "arcs": [[*content["arcs"][0][:2], float("nan")]]}),
        "a name twice": lambda: json.dumps({**content, "vertices": [content["vertices"][0]] * 2}),
        "a key twice": lambda: json.dumps(content)[:-1] + ', "length": 1}',
        "a name with NUL": lambda: json.dumps({**content, "arcs": [["\x00\x1b[2J", None, 1.0]]}),
    }
    kind = str(rng.choice(list(kinds)))
    path = directory / "bad.json"
    path.write_text(kinds[kind](), encoding="utf-8")
    return f"{template}, JSON with {kind}", ["solve", template, str(path), "--quiet"]


def _text(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a text file with invalid numbers."""
    kinds = FORMATS[file.stem](rng, file.read_text(encoding="utf-8").splitlines())
    kind = str(rng.choice(list(kinds)))
    path = directory / f"bad{file.suffix}"
    path.write_text("\n".join(kinds[kind]) + "\n", encoding="utf-8")
    return f"{template}, text with {kind}", ["solve", template, str(path), "--quiet"]


def _argument(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a valid file with an invalid argument."""
    kinds: dict[str, list[str]] = {
        "time limit": ["--time-limit", str(rng.choice(["-1", "nan", "soon", "-inf", ""]))],
        "gap": ["--gap", str(rng.choice(["-0.1", "nan", "1%", "-inf"]))],
        "node limit": ["--node-limit", str(rng.choice(["0", "-3", "1.5", "many", "1e3", "²"]))],
        "option": ["--option", str(rng.choice(["k", "=3", "k=v", "\x1b=1"]))],
        "model": ["--model", str(directory / "no model.npz")],
        "json": ["--json", str(directory / "no folder" / "out.json")],
        "log": ["--log", str(directory)],
        "unknown": ["--fast"],
        "picture": ["--picture", str(directory / "answer.nothing")],
    }
    kind = str(rng.choice([*kinds, "template", "command"]))
    if kind == "template":
        return "no such template", ["solve", f"no_{template}", str(file)]
    if kind == "command":
        return "no such command", [f"re{template}", str(file)]
    return f"{template}, argument {kind} {kinds[kind][1:]}", ["solve", template, str(file), "--quiet", *kinds[kind]]


def _treebank(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a training treebank with invalid lines."""
    kinds = treebank(rng)
    kind, learner = (
        str(rng.choice(list(kinds))),
        str(rng.choice(["grandparent_parsing", "nonlocal_parsing", "pipeline"])),
    )
    path = directory / "bad.conllu"
    path.write_text("\n".join(kinds[kind]) + "\n", encoding="utf-8")
    return f"{learner}, treebank with {kind}", [
        "train",
        learner,
        "--train",
        str(path),
        "--model",
        str(directory / "m.npz"),
    ]


def _resealed(rng: Rng, template: str, file: Path, directory: Path) -> tuple[str, list[str]]:
    """Return a checkpoint with a correct checksum and contents that no run has written."""
    fields: dict[str, Any] = {"digest": "0", "master": "1", "relaxation": False, "nodes": [], "asked": {}}
    kinds: dict[str, Callable[[], Any]] = {
        "no digest": lambda: fields.pop("digest"),
        "a digest that is a number": lambda: fields.update(digest=7),
        "nothing": fields.clear,
        "a relaxation in words": lambda: fields.update(relaxation="perhaps"),
        "nodes without numbers": lambda: fields.update(nodes=[[None] * 6]),
        "a list of settings": lambda: fields.update(asked=[1]),
    }
    kind = str(rng.choice(list(kinds)))
    kinds[kind]()
    path = directory / "bad.checkpoint"
    write_sealed(path, FORMAT, fields, {"duals": rng.random(3)})
    if rng.random() < 0.5:
        return f"resume, {kind}", ["resume", str(path)]
    return f"{template}, checkpoint with {kind}", ["solve", template, str(file), "--checkpoint", str(path), "--quiet"]


# --- files -----------------------------------------------------------------------------------------------------------


def good_files(directory: Path) -> dict[str, tuple[Path, ...]]:
    """Write a valid file for each format of each template; return the paths."""
    files = {
        "assignment": ("good_tasks.txt",),
        "chain_map": ("good_chains.npz",),
        "colouring": ("good_graph.col",),
        "coreference": ("good_scores.npz",),
        "cutting_stock": ("good_rolls.txt",),
        "grandparent_parsing": ("good_sentence.npz",),
        "nonlocal_parsing": ("good_factors.npz",),
        "title_path": ("good_digraph.json",),
        "vehicle_routing": ("good_customers.txt", "good_distances.vrp"),
    }
    found = {name: tuple(directory / file for file in names) for name, names in files.items()}
    write_tasks(random_tasks(2, 6, 1), found["assignment"][0])
    random_chains(1, chains=2, length=4, labels=3).write(found["chain_map"][0])
    write_graph(random_graph(6, 1), found["colouring"][0])
    write_matrix(random_scores(6, 1), found["coreference"][0])
    write_rolls(uniform(6, 1), found["cutting_stock"][0])
    write_sentence(random_sentence(4, 1, siblings=True), found["grandparent_parsing"][0])
    write_factors(random_factors(4, 1), found["nonlocal_parsing"][0])
    write_digraph(random_digraph(5, 3, 1), found["title_path"][0])
    write_customers(random_customers(1, customers=5), found["vehicle_routing"][0])
    planar = random_customers(1, customers=5, windows=False, convention="whole")
    write_customers(planar, found["vehicle_routing"][1])
    return found


def _header(shape: tuple[int, ...]) -> bytes:
    """Return the header of an array that exceeds the memory."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue()
