"""Files: checks before reading, and atomic replacement when writing (promise 9)."""

import contextlib
import os
import stat
import threading

import pytest

from colgen.core.errors import InputError
from colgen.core.files import check_distinct, parse_json, read_json, read_text, write_text, writing


class TestReading:
    def test_a_text(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_bytes("\ufeffä\r\nb\rc\n".encode())
        assert read_text(path) == "ä\nb\nc\n"

    @pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"x" * 11])
    def test_invalid_texts(self, tmp_path, content):
        path = tmp_path / "a.txt"
        path.write_bytes(content)
        with pytest.raises(InputError, match=str(path)):
            read_text(path, limit=10)

    def test_named_pipes_are_refused_and_open_pipes_are_read(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(InputError, match="expected a file, this is a pipe"):
            read_text(tmp_path / "pipe")
        with pytest.raises(InputError, match="expected a file, this is a directory"):
            read_text(tmp_path)
        source, sink = os.pipe()
        os.write(sink, b"given")
        os.close(sink)
        assert read_text(f"/dev/fd/{source}") == "given"
        os.close(source)

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", "line 1: expected JSON"),
            ("[1,\n", "line 2: expected JSON"),
            ("[" * 100_000, "nested too deeply"),
            ('{"a": 1, "a": 2}', "each name once in an object, got 'a' twice"),
            ('{"b": NaN}', "finite numbers, not NaN"),
            ("[-Infinity]", "finite numbers, not -Infinity"),
            ("9" * 10_000, "fewer digits"),
        ],
    )
    def test_invalid_json(self, tmp_path, text, words):
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(InputError, match=words) as caught:
            read_json(path)
        assert str(caught.value).startswith(str(path))

    def test_json(self):
        assert parse_json('{"a": [1, 2.5, null]}', "it") == {"a": [1, 2.5, None]}


class TestWriting:
    def test_the_old_content_stays_until_the_new_is_complete(self, tmp_path):
        path = tmp_path / "a.txt"
        path.write_text("old")
        with contextlib.suppress(ZeroDivisionError), writing(path) as file:
            file.write("half")
            file.flush()
            assert path.read_text() == "old"
            raise ZeroDivisionError
        assert path.read_text() == "old"
        write_text(path, "nüw")
        assert path.read_text(encoding="utf-8") == "nüw"
        with writing(path, "wb") as file:
            file.write(b"bytes")
        assert path.read_bytes() == b"bytes"
        assert os.listdir(tmp_path) == ["a.txt"]

    def test_permissions_and_links_stay(self, tmp_path):
        path, link = tmp_path / "a.txt", tmp_path / "link"
        path.write_text("old")
        path.chmod(0o640)
        link.symlink_to(path)
        write_text(link, "new")
        assert link.is_symlink()
        assert path.read_text() == "new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_a_new_file_has_the_usual_permissions(self, tmp_path):
        write_text(tmp_path / "ours", "")
        (tmp_path / "usual").write_text("")
        assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode

    def test_streams_are_written_to_as_they_are(self, tmp_path):
        write_text("/dev/null", "gone")
        os.mkfifo(tmp_path / "pipe")
        got = []
        reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
        reader.start()
        write_text(tmp_path / "pipe", "through")
        reader.join()
        assert got == ["through"]
        assert os.listdir(tmp_path) == ["pipe"]

    @pytest.mark.parametrize("name", ["none/a.txt", "", "a\0b"])
    def test_a_failure_names_the_file(self, tmp_path, name):
        path = tmp_path / name if name else tmp_path
        with pytest.raises(OSError) as caught:  # noqa: PT011  (its file name is what is looked at)
            write_text(path, "x")
        assert caught.value.filename == str(path)

    def test_a_full_disk_names_the_file(self):
        if not os.path.exists("/dev/full"):
            pytest.skip("a system without /dev/full")
        with pytest.raises(OSError, match="/dev/full"):
            write_text("/dev/full", "x" * 100_000)

    def test_errors_of_the_caller_are_not_write_errors(self, tmp_path):
        with pytest.raises(ValueError, match="mine"), writing(tmp_path / "a"):
            raise ValueError("mine")


def test_a_text_with_a_nul_is_refused(tmp_path):
    path = tmp_path / "rolls.txt"
    path.write_bytes(b"45\n\x0036\n")
    with pytest.raises(InputError, match=r"rolls\.txt, line 2: expected text, found a NUL"):
        read_text(path)


class TestDistinct:
    def test_distinct_files_may_be_written(self, tmp_path):
        (tmp_path / "read").write_text("")
        check_distinct([("one", tmp_path / "a"), ("other", str(tmp_path / "b"))], [("file", tmp_path / "read")])
        check_distinct([("one", "/dev/null"), ("other", "/dev/null")], [("file", "/dev/null")])
        check_distinct([("one", "a\0")], [("file", "a\0")])

    @pytest.mark.parametrize("link", [os.symlink, os.link, lambda old, new: None])
    def test_files_are_neither_read_and_written_nor_written_twice(self, tmp_path, link):
        kept, other = tmp_path / "kept", tmp_path / "other"
        kept.write_text("")
        link(kept, other)
        name = other if other.exists() else tmp_path / "." / "folder" / ".." / "kept"
        (tmp_path / "folder").mkdir()
        for written, read in (([("one", name)], [("the file", kept)]), ([("the file", kept), ("one", name)], [])):
            with pytest.raises(InputError, match=r"one .*expected a file of its own, but it is also the file .*kept"):
                check_distinct(written, read)

    def test_two_names_of_a_file_that_does_not_exist_yet(self, tmp_path):
        with pytest.raises(InputError, match="a file of its own"):
            check_distinct([("one", tmp_path / "a"), ("other", tmp_path / "x" / ".." / "a")])
