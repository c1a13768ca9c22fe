"""Scores of raw text against an example counted by hand, with multiword tokens."""

import dataclasses

import pytest

from colgen import InputError
from colgen.problems.dependency.conll import parse_conll
from colgen.problems.pipeline.evaluation import compare

GOLD = """\
# text = I don't. Go!
1	I	I	PRON	PRP	Person=1	2	nsubj	_	_
2-3	don't	_	_	_	_	_	_	_	SpaceAfter=No
2	do	do	AUX	VBP	_	0	root	_	_
3	n't	not	PART	RB	_	2	advmod	_	_
4	.	.	PUNCT	.	_	2	punct	_	_

1	Go	go	VERB	VB	_	0	root	_	SpaceAfter=No
2	!	!	PUNCT	.	_	1	punct	_	_
"""

FOUND = """\
1	I	I	PRON	PRP	_	2	nsubj:x	_	_
2-4	don't.	_	_	_	_	_	_	_	_
2	do	do	VERB	VBP	_	0	root	_	_
3	n't	not	PART	RB	_	2	advmod	_	_
4	.	.	PUNCT	.	_	5	punct	_	_
5	Go	go	VERB	VB	_	2	conj	_	SpaceAfter=No
6	!	!	PUNCT	.	_	5	punct	_	_
"""


def sentences(text):
    return list(parse_conll(text.split("\n")))


def test_scores_match_counts_by_hand():
    scores = compare(sentences(GOLD), sentences(FOUND))
    assert scores.tokens == pytest.approx(200 * 3 / (5 + 4))  # I, Go, !
    assert scores.sentences == 0.0
    assert scores.words == scores.xpos == scores.lemmas == pytest.approx(100)
    assert scores.upos == pytest.approx(100 * 5 / 6)
    assert scores.feats == pytest.approx(100 * 5 / 6)
    assert scores.all_tags == pytest.approx(100 * 4 / 6)
    assert scores.uas == scores.las == pytest.approx(100 * 4 / 6)  # the full stop and "Go" have other heads
    assert scores.clas == pytest.approx(200 * 3 / (4 + 4))


def test_an_analysis_against_itself():
    assert [value for _, value in compare(sentences(GOLD), sentences(GOLD)).items()] == pytest.approx([100.0] * 11)


def test_another_text_is_refused():
    other = sentences(GOLD.replace("Go", "No").replace("	go	", "	no	"))
    with pytest.raises(InputError, match="character 8, ignoring blanks"):
        compare(sentences(GOLD), other)


def test_missing_heads_count_as_root():
    bare = [dataclasses.replace(s, heads=None, relations=None) for s in sentences(GOLD)]
    assert compare(sentences(GOLD), bare).uas == pytest.approx(100 * 2 / 6)
