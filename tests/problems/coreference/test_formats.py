"""Files of OntoGUM and CorefUD, and malformed documents that are skipped."""

import pytest

from colgen import InputError
from colgen.problems.coreference.conll import conll_lines, parse_conll, read_conll

ONTOGUM = """\
# begin document GUM_made_up
0	The	(1
1	cat	_
2	of	_
3	Ann	(2(3)
4	Lee	2)1)
5	saw	_
6	her	(2)
# end document
"""

COREFUD = """\
# newdoc id = made-up
# global.Entity = eid-etype-head-other
# sent_id = 1
1	The	the	DET	DT	_	2	det	_	Entity=(e1-animal-2-
2	cat	cat	NOUN	NN	_	0	root	_	_
3-4	ofAnn	_	_	_	_	_	_	_	_
3	of	of	ADP	IN	_	4	case	_	_
4	Ann	Ann	PROPN	NNP	_	2	nmod	_	Entity=(e2-person-1-)e1)|SpaceAfter=No
4.1	_	_	PRON	_	_	_	_	2:dep	Entity=(e2-person-1-)
4.2	_	_	PRON	_	_	_	_	2:dep	_

# sent_id = 2
1	She	she	PRON	PRP	_	2	nsubj	_	Entity=(e2-person-1-)(e3[1/2]-x-1-)
2	slept	sleep	VERB	VBD	_	0	root	_	_
3	on	on	ADV	RB	_	2	advmod	_	Entity=(e3[2/2]-x-1-)
# newdoc id = another
1	It	it	PRON	PRP	_	0	root	_	Entity=(e1-x-1-)
"""


def found(document):
    return [(" ".join(document.words(mention)), mention.cluster) for mention in document.mentions]


def test_ontogum():
    (document,) = parse_conll(ONTOGUM.splitlines())
    assert document.name == "GUM_made_up"
    assert document.sentences == (("The", "cat", "of", "Ann", "Lee", "saw", "her"),)
    assert found(document) == [("The cat of Ann Lee", "1"), ("Ann Lee", "2"), ("Ann", "3"), ("her", "2")]
    (again,) = parse_conll(conll_lines(document, document.gold))
    assert again.gold == document.gold


def test_corefud():
    document, another = parse_conll(COREFUD.splitlines())
    assert (document.name, another.name) == ("made-up", "another")
    assert document.sentences == (("The", "cat", "of", "Ann", "_"), ("She", "slept", "on"))
    expected = [("The cat of Ann", "e1"), ("Ann", "e2"), ("_", "e2"), ("She", "e2"), ("She", "e3")]
    assert found(document) == expected
    assert document.column(4) == ("DT", "NN", "IN", "NNP", "PRON", "PRP", "VBD", "RB")
    (again,) = parse_conll(conll_lines(document, document.gold))
    assert again.gold == document.gold


@pytest.mark.parametrize(
    "first", ["# sent_id = 1\n", "# text = a\tb\n\n", "# sent_id = 1\n# a\tb\tc\td\te\tf\n# newdoc id = x\n"]
)
def test_corefud_begins_with_any_comment(first):
    words = COREFUD[COREFUD.index("\n1\t") + 1 :].replace("\n\n", "\n\n# a comment\twith a tab\n", 1)
    documents = list(parse_conll((first + words).splitlines()))
    assert documents[0].sentences[0] == ("The", "cat", "of", "Ann", "_")
    assert [document.sentences for document in documents] == [d.sentences for d in parse_conll(COREFUD.splitlines())]


def test_comments_with_tabs_between_columns():
    lines = ["# a\tcomment\tbefore\tall\tof it", "#begin document (#x); part 0", "#y\tb\tc\td\te\tf"]
    (document,) = parse_conll([*lines, "#x\t0\t0\tword\t-", "#end document"])
    assert document.sentences == (("word",),)


def test_a_piece_of_a_mention_may_have_a_long_number():
    text = COREFUD.replace("(e1-x-1-)", f"(e1[{'9' * 5000}/2]-x-1-)")
    assert len(list(parse_conll(text.splitlines()))) == 2


def test_the_position_of_the_entity_is_declared():
    text = COREFUD.replace("eid-etype-head-other", "etype-GRP-head").replace("(e1-animal-2-", "(animal-e1-2")
    text = text.replace("e1)|Space", "animal-e1)|Space")
    document = next(parse_conll(text.replace("(e2-person-1-)", "(person-e2-1)").splitlines()))
    assert found(document)[:2] == [("The cat of Ann", "e1"), ("Ann", "e2")]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        (ONTOGUM.replace("2)1)", "2)"), 2, "the mention of cluster 1 that is opened here is never closed"),
        (ONTOGUM.replace("5	saw	_", "5	saw"), 7, "expected 3 columns, not 2"),
        (ONTOGUM.replace("5	saw", "5	"), 7, "the word in the second column is missing"),
        (COREFUD.replace(")e1)", ")"), 4, "the mention of entity e1 that is opened here is never closed"),
        (COREFUD.replace("	cat	", "		"), 5, "the word in the second column is missing"),
        (COREFUD.replace("Entity=(e1-x-1-)", "Entity=e1)"), 17, "closes a mention of entity e1, but none is open"),
        (COREFUD.replace("Entity=(e1-x-1-)", "Entity=e1"), 17, "not 'e1'"),
    ],
)
def test_a_malformed_document_raises_or_is_skipped(tmp_path, text, line, expected):
    path = tmp_path / "text.conll"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_conll(path)
    assert f"line {line}: " in str(error.value)
    assert expected in str(error.value)
    skipped = []
    left = read_conll(path, skip=skipped.append)
    assert len(skipped) == 1
    assert expected in skipped[0]
    assert skipped[0].endswith("is skipped")
    assert len(left) == (1 if text.startswith("# newdoc") else 0)


@pytest.mark.parametrize(
    "bad",
    [
        "#begin document (b); part 0\nb 0 0 word x (1\n#end document",
        "#begin document (b); part 0\nb 0\nb 0 1 word x -\n#end document",
        "#begin document (b); part 0\nb 0 0 word x -",
        "#begin document b\nb 0 0 word x -\n#end document",
    ],
)
def test_documents_around_a_malformed_one_are_read(bad):
    good = "#begin document ({0}); part 0\n{0} 0 0 word x (1)\n#end document"
    skipped = []
    text = "\n".join([good.format("a"), bad, good.format("c")])
    documents = list(parse_conll(text.split("\n"), skip=skipped.append))
    assert [document.name for document in documents] == ["a", "c"]
    assert len(skipped) == 1
    with pytest.raises(InputError):
        list(parse_conll(text.split("\n")))
