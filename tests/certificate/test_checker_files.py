"""Certificate files: damaged, too large or invalid ones raise one clear error."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc

import pytest

from colgen.certificate import checker_files, checker_pricing
from colgen.certificate.checker import FALSE, UNREADABLE, check, main
from colgen.certificate.checker_files import lines_of
from colgen.certificate.checker_pricing import UnreadableError
from colgen.cli.arguments import BAD_INPUT
from colgen.cli.main import main as command

HEAD = b'{"certificate": "colgen", "version": 1}\n'

BROKEN = {
    "no JSON": b"[1",
    "no object": b"[1]",
    "a decimal": b'{"a": 1.5}',
    "beyond floats": b'{"a": 1e999}',
    "no number": b'{"a": NaN}',
    "infinity": b'{"a": -Infinity}',
    "many digits": b'{"a": 1' + b"0" * 10_000 + b"}",
    "many digits in a text": b'{"a": "1/1' + b"0" * 10_000 + b'"}',
    "deep lists": b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a": ' * 100_000 + b"1" + b"}" * 100_000,
    "a name twice": b'{"a": {"b": 1, "b": 1}}',
    "no UTF-8": b'{"a": "\xff"}',
    "NUL": b"\0",
}


def damaged(content):
    packed = bytearray(gzip.compress(content))
    packed[15] ^= 0xFF
    packed[30] ^= 0x55
    return bytes(packed)


PACKED = {
    "damaged": damaged(HEAD * 3),
    "cut": gzip.compress(HEAD * 300)[:-12],
    "more behind": gzip.compress(HEAD) + b"x",
    "a header alone": b"\x1f\x8b",
}


@pytest.mark.parametrize("content", [HEAD + line for line in BROKEN.values()], ids=list(BROKEN))
def test_lines_that_are_no_lines_of_a_certificate(tmp_path, capsys, content):
    path = tmp_path / "proof.jsonl"
    path.write_bytes(content)
    assert main([str(path)]) == UNREADABLE
    first = capsys.readouterr()
    assert command(["check", str(path)]) == BAD_INPUT
    assert capsys.readouterr().err == first.err
    assert first.err.startswith(f"colgen: {path}, line 2: expected")
    assert first.err.count("\n") == 1
    assert not first.out


@pytest.mark.parametrize("content", PACKED.values(), ids=list(PACKED))
def test_damaged_files(tmp_path, capsys, content):
    path = tmp_path / "proof.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(UnreadableError, match="damaged"):
        list(lines_of(str(path)))
    if content != PACKED["cut"]:  # its second line is wrong first
        assert main([str(path)]) == UNREADABLE
        assert "damaged" in capsys.readouterr().err


LARGE = {
    "vertices": {"kind": "colouring", "vertices": 10**15, "edges": []},
    "many more": {"kind": "colouring", "vertices": 10**30, "edges": []},
    "a roll": {"kind": "cutting_stock", "roll": 10**9, "widths": [1], "demands": [1]},
    "pieces": {"kind": "cutting_stock", "roll": 10**6, "widths": [1], "demands": [10**9]},
    "a path": {
        "kind": "title_path",
        "denominator": 1,
        "length": 10**9,
        "classes": [0],
        "first": [0],
        "last": [0],
        "weights": [[0]],
    },
}


@pytest.mark.parametrize("instance", LARGE.values(), ids=list(LARGE))
def test_numbers_that_are_too_large(instance):
    with pytest.raises(UnreadableError, match="at most"):
        check([HEAD.decode(), json.dumps({"instance": instance, "sha256": _digest(instance)}), '{"formulation": null}'])


def test_escaped_digits():
    with pytest.raises(UnreadableError, match="at most 4,300 digits"):
        checker_pricing.exact("1" * 5_000)
    assert checker_pricing.exact("-1" + "0" * 4_000 + "/7") < 0


QUOTED = {"no character": "\\ud800", "several lines": "\\nProved optimal: 2.", "another script": "\u0660"}


@pytest.mark.parametrize("text", QUOTED.values(), ids=list(QUOTED))
@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_quotations_of_a_certificate_are_printable_and_on_one_line(tmp_path, text, encoding):
    path = tmp_path / "proof.jsonl"
    instance = '{"kind": "colouring", "vertices": "' + text + '", "edges": []}'
    line = '{"instance": ' + instance + ', "sha256": "' + _digest(json.loads(instance)) + '"}'
    path.write_text(HEAD.decode() + line + '\n{"formulation": null}\n', encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "colgen.certificate", path],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=False,
    )
    assert (run.returncode, run.stderr) == (FALSE, b"")
    assert run.stdout.count(b"\n") == 1
    assert b"line 3: expected an integer, not " in run.stdout


def _digest(instance):
    return hashlib.sha256(json.dumps(instance, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def test_a_line_is_read_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(checker_files, "LINE_LIMIT", 2**16)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"0" * 2**26))
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="at most 65,536 bytes"):
        list(lines_of(str(path)))
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_lists_are_counted_before_they_are_read(monkeypatch):
    monkeypatch.setattr(checker_files, "PART_LIMIT", 10)
    with pytest.raises(UnreadableError, match="at most 10 lists"):
        checker_files.record_of('{"a": [' + "[]," * 10 + "[]]}")


def test_lines_come_one_by_one(tmp_path):
    for name, content in (("plain", HEAD * 2), ("packed.gz", gzip.compress(HEAD * 2))):
        path = tmp_path / name
        path.write_bytes(content)
        assert list(lines_of(str(path))) == [HEAD.decode()] * 2
