"""Atoms, tokens and texts: no characters are lost, and training texts are reproduced."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.pipeline.languages import unspaced_text
from colgen.core.errors import InputError
from colgen.problems.chain_map.characters import CharacterTagger
from colgen.problems.dependency.conll import parse_conll
from colgen.problems.pipeline.clusters import cluster_begins
from colgen.problems.pipeline.segmentation import SAME, TOKEN, atoms_of, characters_of, label_atoms, learn_segmenter
from colgen.problems.pipeline.texts import Token, paragraphs_of, read_paragraphs, text_of, tokens_of
from tests.problems.pipeline.test_evaluation import GOLD


def sentence(*forms):
    """Tokens; no blank follows a form that ends with ``_``."""
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
        (unicodedata.normalize("NFD", "o\u0323\u0302 é"), ["o\u0323\u0302", "e\u0301"]),
        ("c\u00adat \u200fשלום\u200e", ["c\u00adat", "\u200fשלום\u200e"]),
        ("हिन्दी தமிழ்", ["हिन्दी", "தமிழ்"]),
        ("👩\u200d👧👩\u200d👧👩\u200d👦 🇩🇰🇩🇪", [2 * "👩\u200d👧", "👩\u200d👦", "🇩🇰", "🇩🇪"]),
        ("我看10年。한국어 ไทย", ["我", "看", "10", "年", "。", "한국어", "ไ", "ท", "ย"]),
        ("見example.com", ["見", "example.com"]),
    ],
)
def test_atoms(text, parts):
    atoms = atoms_of(text)
    assert [text[b:e] for b, e in zip(atoms.begins, atoms.ends, strict=True)] == parts


def test_names_of_signs_depend_on_neighbours():
    names = {text: atoms_of(text).names[1] for text in ("Mr. Day", "Dr. Lee", "Words. Day", "etc. day", "a.day", "a.")}
    assert names["Mr. Day"] == names["Dr. Lee"]
    assert len(set(names.values())) == 5


def test_tokens_of_lines():
    first, _ = parse_conll(GOLD.split("\n"))
    assert tokens_of(first) == [Token("I", ("I",)), Token("don't", ("do", "n't"), False), Token(".", (".",))]
    assert text_of([tokens_of(first)]) == "I don't."


def test_comments_separate_paragraphs():
    lines = "# newpar\n1\ta\t_\t_\t_\t_\t0\t_\n\n1\tb\t_\t_\t_\t_\t0\t_\n\n# newdoc\n1\tc\t_\t_\t_\t_\t0\t_\n"
    assert [text_of(paragraph) for paragraph in paragraphs_of(parse_conll(lines.split("\n")))] == ["a b", "c"]


def test_empty_lines_separate_paragraphs():
    assert list(read_paragraphs(["", "a", "b ", " ", "", "c"])) == ["a\nb ", "c"]


def test_labels_of_atoms():
    text, tagged = label_atoms([sentence("It", "is_", "."), sentence("No_", "!", "a-b")])
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


def test_a_script_without_blanks_is_segmented():
    texts = [[sentence("我_", "看见_", "书_", "。")], [sentence("书_", "看见_", "我_", "。_")]] * 6
    segmenter = learn_segmenter(texts, say=lambda line: None)
    (found,) = segmenter.segment(["我看见书。书看见我。"])
    assert [token.form for one in found for token in one] == ["我", "看见", "书", "。", "书", "看见", "我", "。"]


def test_blanks_between_all_tokens_of_a_script_without_blanks_are_refused():
    with pytest.raises(InputError, match="SpaceAfter=No"):
        learn_segmenter([[sentence("我", "看见", "书", "。")]] * 20, say=lambda line: None)


def test_tokens_inside_runs_of_letters_are_found_by_characters():
    words = ["ka", "loma", "tiru", "seno", "bi"]
    rng = random.Random(1)
    texts = [[sentence(*(f"{w}_" for w in rng.choices(words, k=5)), ".")] for _ in range(60)]
    segmenter = learn_segmenter(texts, say=lambda line: None)
    assert isinstance(segmenter.tagger, CharacterTagger)
    (found,) = segmenter.segment(["tirubilomaka. senosenoka ."])
    assert [(token.form, token.space_after) for one in found for token in one] == [
        *((w, False) for w in ("tiru", "bi", "loma", "ka")),
        *((".", True), ("seno", False), ("seno", False), ("ka", True), (".", True)),
    ]
    assert segmenter.segment(["", " ", "\n"]) == [[], [], []]


def test_words_of_a_language_without_blanks():
    text = unspaced_text(0, sentences=400, words=400)
    segmenter = learn_segmenter([text[:300]], say=lambda line: None)
    found = segmenter.segment([text_of([one]) for one in text[300:]])
    forms = [[token.form for one in sentences for token in one] for sentences in found]
    right = [own == [token.form for token in gold] for own, gold in zip(forms, text[300:], strict=True)]
    assert sum(right) >= 0.7 * len(right)


@given(st.text(max_size=40))
def test_characters_are_the_text_without_its_blanks(text):
    atoms = characters_of(text)
    assert "".join(text[b:e] for b, e in zip(atoms.begins, atoms.ends, strict=True)) == "".join(text.split())
    assert [*atoms.begins] == [b for b in cluster_begins(text) if not text[b].isspace()]


def test_few_tokens_inside_letters_are_allowed():
    texts = [[sentence("I", "can_", "not", "see", *20 * ["a"], "it_", ".")]] * 10
    assert learn_segmenter(texts, say=lambda line: None)
