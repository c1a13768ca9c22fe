"""Column files: brackets, columns, errors with their line, and the corpus if it is available."""

import os
from pathlib import Path

import pytest

from colgen import InputError
from colgen.problems.coreference.conll import conll_lines, read_conll, write_conll
from colgen.problems.coreference.document import ENTITY, TAG, Document, Mention

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data")) / "litbank"


def column_file(tmp_path, *cells, separator="\t", name="story", columns=9):
    """Return a document of words and their last columns; None ends a sentence."""
    lines = [f"#begin document ({name}); part 000"]
    for number, cell in enumerate(cells):
        if cell is None:
            lines.append("")
            continue
        word, _, last = cell.partition(" ")
        lines.append(separator.join([name, "0", str(number), word, *["_"] * (columns - 5), last or "-"]))
    path = tmp_path / f"{name}.conll"
    path.write_text("\n".join([*lines, "#end document", ""]), encoding="utf-8")
    return path


def spans(document):
    return [(m.start, m.end, m.cluster) for m in document.mentions]


@pytest.mark.parametrize("separator", ["\t", "   "])
def test_brackets(tmp_path, separator):
    path = column_file(
        tmp_path, "The (1", "tailor", "'s (2)|1)", None, "cat (1|(3", "purred 3)|1)", separator=separator
    )
    (document,) = read_conll(path)
    assert (document.name, document.part) == ("story", "000")
    assert document.sentences == (("The", "tailor", "'s"), ("cat", "purred"))
    assert sorted(spans(document)) == [(0, 2, "1"), (2, 2, "2"), (3, 4, "1"), (3, 4, "3")]
    assert [m.sentence for m in document.mentions] == [0, 0, 1, 1]
    assert document.words(document.mentions[0]) == ("The", "tailor", "'s")
    assert document.gold == [(0, 2), (1,), (3,)] or document.gold == [(0, 3), (1,), (2,)]


def test_reading_order_is_by_start_and_the_longer_first(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1|(2", "b 2)", "c (3)", "d 1)"))
    assert spans(document) == [(0, 3, "1"), (0, 1, "2"), (2, 2, "3")]


def test_mentions_may_cross(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (2", "c 1)", "d 2)"))
    assert spans(document) == [(0, 2, "1"), (1, 3, "2")]


def test_a_close_closes_the_mention_of_its_cluster_opened_last(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (1", "c 1)", "d 1)"))
    assert spans(document) == [(0, 3, "1"), (1, 2, "1")]


def test_a_word_that_closes_one_mention_and_opens_another(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (2|1)", "c 2)"))
    assert spans(document) == [(0, 1, "1"), (1, 2, "2")]


@pytest.mark.parametrize("last", ["", "-", "_"])
def test_nothing_in_the_last_column(tmp_path, last):
    path = column_file(tmp_path, "a (1)", "b")
    path.write_text(path.read_text(encoding="utf-8").replace("\t-\n", f"\t{last}\n"), encoding="utf-8")
    assert spans(read_conll(path)[0]) == [(0, 0, "1")]


def test_columns_of_the_shared_task(tmp_path):
    path = tmp_path / "task.v4_gold_conll"
    path.write_text(
        "#begin document (nw/x); part 000\n"
        "nw/x 0 0 Ada    NNP (S*  - - - Ada (PERSON)  (ARG0*) (4)\n"
        "nw/x 0 1 rests  VBZ *)   rest 01 1 Ada  *  (V*) -\n\n"
        "#end document\n",
        encoding="utf-8",
    )
    (document,) = read_conll(path)
    assert document.column(TAG) == ("NNP", "VBZ")
    assert document.column(ENTITY) == ("(PERSON)", "*")
    assert Document("x", (("a",),), ()).column(TAG) is None


def test_a_line_may_end_as_windows_ends_it(tmp_path):
    path = column_file(tmp_path, "a (1)", None, "b")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_conll(path)[0].sentences == (("a",), ("b",))


def test_several_documents(tmp_path):
    first = column_file(tmp_path, "a (1)", name="one").read_text(encoding="utf-8")
    second = column_file(tmp_path, "b (1)", name="two").read_text(encoding="utf-8")
    path = tmp_path / "both.conll"
    path.write_text(first + second, encoding="utf-8")
    assert [d.name for d in read_conll(path)] == ["one", "two"]


BEGIN, END = "#begin document (x); part 0\n", "#end document\n"


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (BEGIN + "x\t0\t0\ta\t-\nx\t0\t1\tb\t7)\n" + END, 3, "7) closes a mention of cluster 7, but none is open"),
        (BEGIN + "x\t0\t0\ta\t(7\nx\t0\t1\tb\t(8\n" + END, 2, "cluster 7 that is opened here is never closed"),
        (BEGIN + "x\t0\t0\ta\t(7|8\n" + END, 2, "in the last column, not '(7|8'"),
        (BEGIN + "x\t0\t0\ta\t7\n" + END, 2, "in the last column, not '7'"),
        (BEGIN + "x\t0\t0\ta\t(1)|\n" + END, 2, "in the last column, not '(1)|'"),
        (BEGIN + "x\t0\t0\t-\n" + END, 2, "at least 5 columns with the word in the fourth, not 4"),
        (BEGIN + "x\t0\t0\ta\t-\n", 1, "the document that begins here has no '#end document'"),
        (BEGIN + BEGIN, 2, "of the document in line 1"),
        (END, 1, "'#end document' without '#begin document'"),
        ("x\t0\t0\ta\t-\n", 1, "expected '#begin document (NAME); part NUMBER' before the first word"),
        (BEGIN + "x\t0\t0\t\t-\n" + END, 2, "the word in the fourth column is missing"),
    ],
)
def test_malformed_files(tmp_path, text, line, expected):
    path = tmp_path / "bad.conll"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_conll(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert expected in str(caught.value)


def test_other_files_raise(tmp_path):
    path = tmp_path / "x.conll"
    with pytest.raises(InputError, match=r"x\.conll cannot be read"):
        read_conll(path)
    path.write_bytes(BEGIN.encode() + b"x\t0\t0\t\xff\t-\n")
    with pytest.raises(InputError, match=r"x\.conll, line 2: .*UTF-8"):
        read_conll(path)
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="found none"):
        read_conll(path)


def test_written_documents_are_read_back(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1|(2", "b (2)|2)", None, "c (3", "d 3)|1)", "e (4)"))
    clustering = [(0, 3), (1, 2), (4,)]
    path = tmp_path / "out.conll"
    write_conll(document, clustering, path)
    (again,) = read_conll(path)
    assert again.gold == clustering
    assert (again.sentences, again.name, again.part) == (document.sentences, document.name, document.part)
    assert [m[:2] for m in spans(again)] == [m[:2] for m in spans(document)]
    assert again.columns == document.columns


def test_nested_mentions_of_one_cluster_are_read_back(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (1", "c (1)|1)", "d 1)"))
    path = tmp_path / "out.conll"
    write_conll(document, document.gold, path)
    assert [m[:2] for m in spans(read_conll(path)[0])] == [(0, 3), (1, 2), (2, 2)]


def test_crossing_mentions_are_written_unless_they_are_in_one_cluster(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (2", "c 1)", "d 2)"))
    path = tmp_path / "out.conll"
    write_conll(document, [(0,), (1,)], path)
    assert [m[:2] for m in spans(read_conll(path)[0])] == [(0, 2), (1, 3)]
    with pytest.raises(InputError, match=r"mention 1 crosses .*cluster 0"):
        write_conll(document, [(0, 1)], path)


def test_a_document_made_by_hand_is_written_in_the_columns_of_the_shared_task():
    document = Document("x", (("Ada", "rests"),), (Mention(0, 0, 0),))
    assert conll_lines(document, [(0,)]) == [
        "#begin document (x); part 0",
        "\t".join(["x", "0", "0", "Ada", *["_"] * 8, "(0)"]),
        "\t".join(["x", "0", "1", "rests", *["_"] * 8, "-"]),
        "",
        "#end document",
    ]
    with pytest.raises(InputError, match="mention 0 is in no cluster"):
        conll_lines(document, [])


def test_mentions_of_a_document_made_by_hand_are_checked():
    text = (("a", "b"),)
    with pytest.raises(InputError, match=r"mention 0 has words 1 to 2, .*2 words"):
        Document("x", text, (Mention(0, 1, 2),))
    with pytest.raises(InputError, match="longer mentions first"):
        Document("x", text, (Mention(0, 1, 1), Mention(0, 0, 0)))
    with pytest.raises(InputError, match="at least one character"):
        Document("x", (("a", ""),), ())
    assert Document("x", text, (Mention(0, 0, 0), Mention(0, 1, 1))).gold == [(0,), (1,)]


def test_truncated(tmp_path):
    (document,) = read_conll(column_file(tmp_path, "a (1", "b (2)", None, "c 1)", None, "d (1)"))
    cut = document.truncated(2)
    assert spans(cut) == [(0, 2, "1"), (1, 1, "2")]
    assert cut.sentences == (("a", "b"), ("c",))
    assert len(cut.columns) == 2
    assert document.truncated(3) is document
    with pytest.raises(InputError, match="not 0"):
        document.truncated(0)


@pytest.mark.skipif(not DATA.is_dir(), reason="LitBank is not there (COLGEN_DATA names the folder of the corpora)")
def test_litbank(tmp_path):
    documents = [read_conll(path) for path in sorted(DATA.glob("*.conll"))]
    assert {len(found) for found in documents} == {1}
    sizes = [len(document.mentions) for (document,) in documents]
    assert (len(sizes), sum(sizes), min(sizes), max(sizes)) == (100, 29103, 131, 501)
    (first,) = documents[0]
    write_conll(first, first.gold, tmp_path / "again.conll")
    (again,) = read_conll(tmp_path / "again.conll")
    assert again.gold == first.gold
    assert [(m.start, m.end) for m in again.mentions] == [(m.start, m.end) for m in first.mentions]
