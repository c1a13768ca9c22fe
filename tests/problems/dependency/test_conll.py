import io
import os
from pathlib import Path

import pytest

from colgen import InputError
from colgen.problems.dependency import Sentence, conll_lines, parse_conll, read_conll, write_conll
from colgen.problems.pipeline.texts import tokens_of

DATA = Path(os.environ.get("COLGEN_DATA", Path(__file__).parents[4] / "shared" / "data"))

UNIVERSAL = """# sent_id = 1
# text = vado al mare
1\tvado\tandare\tVERB\tV\tMood=Ind|Number=Sing\t0\troot\t_\t_
2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_
2\ta\ta\tADP\tE\t_\t4\tcase\t_\t_
3\til\til\tDET\tRD\t_\t4\tdet\t_\t_
3.1\tx\tx\tX\t_\t_\t_\t_\t1:dep\t_
4\tmare\tmare\tNOUN\tS\t_\t1\tobl\t_\tSpaceAfter=No

1\tsì\tsì\tINTJ\tI\t_\t_\t_\t_\t_
"""

TWO = "1\ta\ta\tX\tx\t_\t0\tr\n2\tb\tb\tX\tx\t_\t1\tr\n"
LONG = "9" * 5000


def read(text):
    return list(parse_conll(text.splitlines()))


def test_universal_dependencies():
    first, second = read(UNIVERSAL)
    assert first.forms == ("vado", "a", "il", "mare")
    assert first.heads == (0, 4, 4, 1)
    assert first.fine == ("V", "E", "RD", "S")
    assert first.morphology[0] == {"Mood": "Ind", "Number": "Sing"}
    assert second.heads is None


def test_writing_keeps_comments_multiword_tokens_and_empty_nodes():
    first, second = read(UNIVERSAL)
    blocks = UNIVERSAL.strip().split("\n\n")
    assert "\n".join(conll_lines(first)) == blocks[0]
    assert "\n".join(conll_lines(second)) == blocks[1]
    changed = conll_lines(first.with_heads((0, 1, 4, 1)))
    assert changed[4].split("\t")[6:8] == ["1", "_"]  # the relation of another arc would be wrong
    assert changed[5].split("\t")[6:8] == ["4", "det"]
    assert len(changed) == len(first.lines)


def test_relations_are_read_and_written():
    first, second = read(UNIVERSAL)
    assert first.relations == ("root", "case", "det", "obl")
    assert second.relations is None
    changed = conll_lines(first.with_heads((0, 1, 4, 1), ("root", "a", "b", "c")))
    assert [changed[k].split("\t")[7] for k in (2, 4, 5, 7)] == ["root", "a", "b", "c"]
    assert conll_lines(Sentence(("x", "y"), heads=(2, 0), relations=("dep", "root")))[0].split("\t")[6:8] == [
        "2",
        "dep",
    ]
    with pytest.raises(InputError, match="relations but no heads"):
        Sentence(("x",), relations=("dep",))
    with pytest.raises(InputError, match="for 1 tokens"):
        Sentence(("x",), heads=(0,), relations=("dep", "dep"))


def test_files_of_new_sentences(tmp_path):
    sentences = [
        Sentence(("a", "b"), ("A", "B"), ("X", "Y"), ("x", "y"), ({"F": "1", "G": "yes"}, {}), (2, 0)),
        Sentence(("c",)),
    ]
    write_conll(sentences, tmp_path / "out.conll")
    assert read_conll(tmp_path / "out.conll") == sentences
    stream = io.StringIO()
    write_conll(sentences, stream)
    assert stream.getvalue() == (tmp_path / "out.conll").read_text(encoding="utf-8")


def test_eight_columns_and_features_without_values():
    (sentence,) = read("1\ta\ta\tX\tx\tpl|case=gen\t0\tROOT\n")
    assert sentence.morphology == ({"pl": "yes", "case": "gen"},)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\ta\tX\n", "line 1: expected 10 columns"),
        ("1\ta\ta\tX\tx\t_\t0\tr\n3\tb\tb\tX\tx\t_\t1\tr\n", "line 2: expected token number 2"),
        ("1\t\ta\tX\tx\t_\t0\tr\n", "line 1: the form"),
        ("\n1\ta\ta\tX\tx\t_\t7\tr\n", "line 2: expected a head from 0 to 1 in the seventh column, not '7'"),
        ("1\ta\ta\tX\tx\t_\t0\tr\n2\tb\tb\tX\tx\t_\t_\tr\n", "line 2: expected a head"),
        ("1\ta\ta\tX\tx\t_\t2\tr\n2\tb\tb\tX\tx\t_\t1\tr\n", "lines 1 to 2: the heads of tokens 1, 2 form a cycle"),
        ("2-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\tx\t_\t0\tr\n", "line 1: multiword token 2-3"),
        (
            "1-3\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + TWO,
            "line 1: the multiword token ends with word 3, but the sentence has only 2 words",
        ),
        (f"1-{LONG}\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + TWO, "line 1: the multiword token ends with word 9+"),
        (f"{LONG}-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + TWO, "line 1: multiword token 9"),
        (2 * "1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + TWO, "line 2: multiword token 1-2 must .* not overlap"),
        (
            TWO.replace("\t1\tr", f"\t{LONG}\tr"),
            r"line 2: expected a head from 0 to 2 in the seventh column, not '9{40}\.\.\.'",
        ),
        (TWO.replace("2\tb", f"{LONG}\tb"), "line 2: expected token number 2 in the first column"),
    ],
)
def test_malformed_lines(text, message):
    with pytest.raises(InputError, match=message) as error:
        read(text)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("comment", ["# text = a\tb", "#\tnote", "# " + "\t".join("abcdefghij"), "#1" + 9 * "\t1"])
def test_comments_may_contain_tabs(comment):
    (sentence,) = read(f"{comment}\n{TWO}{comment}\n")
    assert sentence.heads == (0, 1)
    lines = conll_lines(sentence.with_heads((2, 0)))
    assert lines[0] == lines[-1] == comment
    assert [row.split("\t")[6] for row in lines[1:3]] == ["2", "0"]
    assert [token.form for token in tokens_of(sentence)] == ["a", "b"]


def test_heads_are_written_next_to_numbers_with_blanks():
    (sentence,) = read(TWO.replace("1\ta", " 1 \ta"))
    assert [row.split("\t")[6] for row in conll_lines(sentence.with_heads((2, 0)))] == ["2", "0"]


def test_lines_are_counted_from_the_start_of_the_file():
    with pytest.raises(InputError, match="line 11: expected 10 columns"):
        read(UNIVERSAL + "x\n")


def test_several_roots_can_be_refused(tmp_path):
    path = tmp_path / "two.conll"
    path.write_text("1\ta\ta\tX\tx\t_\t0\tr\n2\tb\tb\tX\tx\t_\t0\tr\n")
    assert read_conll(path)[0].num_roots == 2
    with pytest.raises(InputError, match="whose head is 0, got 2"):
        read_conll(path, single_root=True)


def test_unreadable_files(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_conll(tmp_path / "missing")
    (tmp_path / "latin").write_bytes(b"1\ta\n2\t\xe9\n")
    with pytest.raises(InputError, match="line 2: not a text file in UTF-8"):
        read_conll(tmp_path / "latin")
    (tmp_path / "empty").write_text("# nothing\n\n")
    with pytest.raises(InputError, match="no sentences"):
        read_conll(tmp_path / "empty")


@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not there (COLGEN_DATA names their folder)")
@pytest.mark.parametrize(
    ("name", "sentences"),
    [
        ("danish/da_cdt-test.conll", 552),
        ("hungarian/hu_szeged-ud-test.conllu", 449),
        ("italian/it_isdt-ud-test.conllu", 482),
    ],
)
def test_corpora_survive_a_round_trip(name, sentences):
    found = read_conll(DATA / name)
    assert len(found) == sentences
    text = (DATA / name).read_text(encoding="utf-8").strip()
    again = "\n\n".join("\n".join(conll_lines(sentence)) for sentence in found)
    assert [line.rstrip() for line in again.split("\n")] == [line.rstrip() for line in text.split("\n")]
