"""Any pipeline keeps all characters of a text and writes readable output."""

import io
import random

import pytest

from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.problems.chain_map.characters import CharacterTagger
from colgen.problems.dependency import Sentence, parse_conll, read_conll, write_conll
from colgen.problems.grandparent_parsing.parser import parse_sentences
from colgen.problems.pipeline.clusters import cluster_begins
from colgen.problems.pipeline.model import Pipeline
from colgen.problems.pipeline.texts import (
    Token,
    check_characters,
    check_written,
    paragraphs_of,
    read_paragraphs,
    text_of,
    tokens_of,
)
from colgen.problems.pipeline.training import train
from tests.sweeps import seeds

LETTERS = ["a", "b", "z", "é", "e\u0301", "\u0301", "\u00ad", "क\u094d", "ि", "ש", "\u200f", "ß", "İ", "ﬁ"]
OTHERS = [
    " ",
    " ",
    "\u00a0",
    "\u2028",
    "\t",
    "\n",
    "\r",
    ".",
    "...",
    "'",
    "_",
    "#",
    "-",
    "1",
    "1.5",
    "👩\u200d👧",
    "🇩🇰",
    "我",
    "ไท",
]
ODD = [
    "\ufeff",
    "\u200b",
    "\u0007",
    "\x1c",
    "|",
    "=",
    "~",
    "http://a.b/c?d",
    "x@y.z",
    "\u2060",
    "\U0001f3ff",
    "\U000e0067",
]


def word(rng):
    return "".join(rng.choices([*LETTERS[:4], "क", "ש"], k=rng.randint(1, 5)))


def sentence(rng):
    """Lines of a sentence with multiword tokens, empty nodes, missing blanks, and a tree."""
    lines, number = [f"# text = {word(rng)}\t{word(rng)}", "# sent_id = 1"], 0
    for _ in range(rng.randint(1, 4)):
        form = word(rng)
        count = rng.choice([1, 1, 2, 3])
        words = [form] if count == 1 else [form[:1], form[1:] or "x", *[word(rng) for _ in range(count - 2)]]
        if count > 1 and rng.random() < 0.3:
            words = [word(rng) for _ in words]  # unrelated to the token
        if count > 1:
            lines.append(f"{number + 1}-{number + count}\t{form}" + 8 * "\t_")
        for own in words:
            number += 1
            head = number - 1
            lines.append(f"{number}\t{own}\t{own.lower()}\tX\tx\tF=1\t{head}\tdep\t_\t_")
        if rng.random() < 0.2:
            lines.append(f"{number}.1\t{word(rng)}" + 8 * "\t_")
    if lines[-1].split("\t")[0].isdigit() and "-" not in lines[-2].split("\t")[0]:
        lines[-1] = lines[-1][:-1] + "SpaceAfter=No"
    number += 1
    lines.append(f"{number}\t.\t.\tPUNCT\tx\t_\t1\tpunct\t_\t_")
    return "\n".join(lines) + "\n\n"


def text(rng):
    return "".join(rng.choice(rng.choice([LETTERS, LETTERS, OTHERS, ODD])) for _ in range(rng.randint(1, 40)))


@pytest.mark.parametrize("seed", seeds(6))
def test_no_character_is_lost_or_added(seed, tmp_path):
    rng = random.Random(seed)
    learn = list(parse_conll("".join(sentence(rng) for _ in range(12)).split("\n")))
    pipeline = train(learn, epochs=1, tagger_epochs=2, folds=1, say=lambda line: None)
    texts = [text(rng) for _ in range(20)] + [text_of(paragraph) for paragraph in paragraphs_of(learn[:4])]
    texts = [one for part in texts for one in read_paragraphs(part.split("\n"))]
    for given in texts:
        found = [one.sentence for one in pipeline.analyse([given])]
        if not found:
            assert not given.replace("\ufeff", "").strip()
            continue
        write_conll(found, tmp_path / "out.conllu")
        read = read_conll(tmp_path / "out.conllu")
        assert read == found
        tokens = [token for one in read for token in tokens_of(one)]
        kept = given.removeprefix("\ufeff").replace("\n\ufeff", "\n")
        while kept.startswith("\ufeff") or "\n\ufeff" in kept:
            kept = kept.removeprefix("\ufeff").replace("\n\ufeff", "\n")
        assert "".join("".join(token.form.split()) for token in tokens) == "".join(kept.split())
        written = "".join(
            line.removeprefix("# text =") for one in read for line in one.lines if line.startswith("# text =")
        )
        assert "".join(written.split()) == "".join(kept.split())
        begins, at = {*cluster_begins(kept)}, 0
        for token in tokens:
            assert len(token.words) > 1 or token.words == (token.form,)
            assert all(token.words)
            at = kept.index(token.form.split()[0], at)
            assert at in begins
            at += len(token.form.split()[0])
        stream = io.StringIO()
        write_conll(read, stream)
        assert stream.getvalue() == (tmp_path / "out.conllu").read_text(encoding="utf-8")


def test_byte_order_marks_are_ignored():
    rng = random.Random(1)
    learn = list(parse_conll("".join(sentence(rng) for _ in range(5)).split("\n")))
    pipeline = train(learn, epochs=1, tagger_epochs=1, folds=1, say=lambda line: None)
    (first,) = pipeline.tag_paragraphs(["\ufeffab\n\ufeffz"])
    (second,) = pipeline.tag_paragraphs(["ab\nz"])
    assert first == second
    assert list(pipeline.tag_paragraphs(["\ufeff", "\ufeff \ufeff"[:2]])) == []


def test_models_of_older_versions_are_refused(tmp_path):
    rng = random.Random(1)
    learn = list(parse_conll("".join(sentence(rng) for _ in range(5)).split("\n")))
    pipeline = train(learn, epochs=1, tagger_epochs=1, folds=1, say=lambda line: None)
    path = tmp_path / "old.npz"
    pipeline.save(path)
    assert list(Pipeline.load(path).tag_paragraphs(["ab z"])) == list(pipeline.tag_paragraphs(["ab z"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "version", 1)
        pipeline.save(path)
    with pytest.raises(InputError, match="expected a model of version 2, not 1: train it again by `colgen train pip"):
        Pipeline.load(path)


def test_a_model_of_characters_survives_a_round_trip(tmp_path):
    rows = "".join(
        f"{k}\t{form}\t{form}\tX\tx\t_\t{k - 1}\tdep\t_\tSpaceAfter=No\n"
        for k, form in enumerate(["我", "看见", "书", "。"], 1)
    )
    learn = list(parse_conll((8 * (rows + "\n")).split("\n")))
    pipeline = train(learn, epochs=1, tagger_epochs=1, folds=1, say=lambda line: None)
    pipeline.save(tmp_path / "model.npz")
    again = Pipeline.load(tmp_path / "model.npz")
    assert isinstance(again.segmenter.tagger, CharacterTagger)
    found = list(again.tag_paragraphs(["我看见书。"]))
    assert found == list(pipeline.tag_paragraphs(["我看见书。"]))
    assert found[0].forms == ("我", "看见", "书", "。")


def test_lost_characters_and_unreadable_output_are_errors():
    with pytest.raises(InfeasibleAnswerError, match="at character 2, ignoring blanks: 'c' instead of 'bc'"):
        check_characters("a b c", [Token("a", ("a",)), Token("c", ("c",))])
    (one,) = parse_conll(["1\ta\ta\tX\tx\t_\t0\tdep\t_\t_"])
    check_written(one)
    for lines in (("1-1\tb" + 8 * "\t_", *one.lines), ("1\tb\ta\tX\tx\t_\t0\tdep\t_\t_",)):
        with pytest.raises(InfeasibleAnswerError, match=r"multiword token 1-1|differs when it is read back"):
            check_written(
                type(one)(one.forms, one.lemmas, one.coarse, one.fine, one.morphology, one.heads, lines=lines)
            )


def test_a_too_long_sentence_is_refused_before_tagging(monkeypatch):
    rng = random.Random(1)
    learn = list(parse_conll("".join(sentence(rng) for _ in range(5)).split("\n")))
    pipeline = train(learn, epochs=1, tagger_epochs=1, folds=1, say=lambda line: None)
    monkeypatch.setattr(type(pipeline.tagger), "tag", refuse_words(pipeline))
    with pytest.raises(InputError, match=r"begins 'a a a a a a' has 2,001 words, expected at most 2,000"):
        next(pipeline.analyse(["a " * 2001]))
    with pytest.raises(InputError, match="has 2,001 words"):
        next(parse_sentences([Sentence(("a",) * 2001)], pipeline.parser))


def refuse_words(pipeline):
    tag = type(pipeline.tagger).tag

    def only_atoms(self, words):
        assert self is not pipeline.tagger
        return tag(self, words)

    return only_atoms
