"""Atoms, tokens and texts: nothing of a text is lost, and what is learned comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.dependency.conll import parse_conll
from problems.pipeline.segmentation import SAME, TOKEN, atoms_of, labelled_atoms, learn_segmenter
from problems.pipeline.texts import Token, paragraphs_of, read_paragraphs, text_of, tokens_of
from tests.problems.pipeline.test_evaluation import GOLD


def sentence(*forms):
    """Tokens; a form with ``_`` at its end is followed by no blank."""
    return [Token(form.rstrip("_"), (form.rstrip("_"),), not form.endswith("_")) for form in forms]


@given(st.text(max_size=40))
def test_atoms_are_the_text_without_its_blanks(text):
    atoms = atoms_of(text)
    assert "".join(text[b:e] for b, e in zip(atoms.begins, atoms.ends, strict=True)) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("can't 3.5 U.S.", ["can", "'", "t", "3.5", "U", ".", "S", "."]),
        ("see www.example.com/a.b.", ["see", "www.example.com/a.b", "."]),
        ("a.b@c.example, (yes!!)", ["a.b@c.example", ",", "(", "yes", "!!", ")"]),
        ("''so''", ["'", "'", "so", "'", "'"]),
    ],
)
def test_atoms(text, parts):
    atoms = atoms_of(text)
    assert [text[b:e] for b, e in zip(atoms.begins, atoms.ends, strict=True)] == parts


def test_a_sign_is_told_by_its_neighbours():
    names = {text: atoms_of(text).names[1] for text in ("Mr. Day", "Dr. Lee", "Words. Day", "etc. day", "a.day", "a.")}
    assert names["Mr. Day"] == names["Dr. Lee"]
    assert len(set(names.values())) == 5


def test_tokens_of_lines():
    first, _ = parse_conll(GOLD.split("\n"))
    assert tokens_of(first) == [Token("I", ("I",)), Token("don't", ("do", "n't"), False), Token(".", (".",))]
    assert text_of([tokens_of(first)]) == "I don't."


def test_comments_part_paragraphs():
    lines = "# newpar\n1\ta\t_\t_\t_\t_\t0\t_\n\n1\tb\t_\t_\t_\t_\t0\t_\n\n# newdoc\n1\tc\t_\t_\t_\t_\t0\t_\n"
    assert [text_of(paragraph) for paragraph in paragraphs_of(parse_conll(lines.split("\n")))] == ["a b", "c"]


def test_empty_lines_part_paragraphs():
    assert list(read_paragraphs(["", "a", "b ", " ", "", "c"])) == ["a\nb ", "c"]


def test_labels_of_atoms():
    text, tagged = labelled_atoms([sentence("It", "is_", "."), sentence("No_", "!", "a-b")])
    assert text == "It is. No! a-b "
    assert tagged.tags == (TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, TOKEN, SAME, SAME)


def test_a_segmenter_learns_sentences_and_words():
    dont = Token("don't", ("do", "n't"))
    paragraphs = [
        [[*sentence("I"), dont, *sentence("see", "it_", ".")], sentence("Mr_", ".", "Day", "sees", "it_", ".")],
        [sentence("Mr_", ".", "Day", "is", "here_", "."), [*sentence("We"), dont, *sentence("go_", ".")]],
    ] * 5
    segmenter = learn_segmenter(paragraphs, say=lambda line: None)
    (found,) = segmenter.segment(["Mr. Day sees it. We\n don't go."])
    assert [[token.form for token in one] for one in found] == [
        ["Mr", ".", "Day", "sees", "it", "."],
        ["We", "don't", "go", "."],
    ]
    assert found[1][1].words == ("do", "n't")
    assert not found[1][2].space_after
    assert segmenter.segment(["", " "]) == [[], []]
