"""Features of mentions and of pairs, on small invented texts."""

import numpy as np
import pytest

from colgen.problems.coreference.document import ENTITY, SPEAKER, TAG, Document, Mention
from colgen.problems.coreference.features import pair_features
from colgen.problems.coreference.lexicon import Animacy, Case, Gender, Number, Pronoun
from colgen.problems.coreference.mentions import MentionKind, MentionTable
from colgen.problems.coreference.phrases import Determiner, PhraseReader
from colgen.problems.coreference.quotations import BREAK, quotations
from colgen.problems.coreference.rules import antecedents, chains
from tests.problems.coreference.texts import invented, text


def phrases(document):
    reader = PhraseReader(document)
    return [reader.read(mention) for mention in document.mentions]


def value(document, name, i, j):
    """Return a pair feature of mentions i < j."""
    features = pair_features(document)
    n = len(document.mentions)
    pair = list(zip(*np.triu_indices(n, 1), strict=True)).index((i, j))
    return float(features.pairs[pair, features.pair_names.index(name)])


def found(document):
    """Return the antecedents of the rules by the texts of the mentions."""
    labels = document.labels
    antecedent, _ = antecedents(MentionTable(document))
    return {labels[i]: labels[k] if k >= 0 else None for i, k in enumerate(antecedent.tolist())}


# --- phrases ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mention", "core", "determiner"),
    [
        ("the old mill by the river", ("old", "mill"), Determiner.DEFINITE),
        ("a tall , thin man , whom nobody knew", ("tall", ",", "thin", "man"), Determiner.INDEFINITE),
        ("the baker who lives here", ("baker",), Determiner.DEFINITE),
        ("his sister , a nurse", ("sister",), Determiner.POSSESSIVE),
        ("the miller 's dog", ("miller", "'s", "dog"), Determiner.POSSESSIVE),
        ("the miller 's", ("miller",), Determiner.DEFINITE),
        ("dogs", ("dogs",), Determiner.NONE),
        ("“ dogs", ("dogs",), Determiner.NONE),
    ],
)
def test_head_and_determiner(mention, core, determiner):
    (phrase,) = phrases(text(f"Here came [{mention}] ."))
    assert phrase.core == core
    assert phrase.determiner is determiner
    assert not phrase.is_name


@pytest.mark.parametrize(
    ("mention", "title", "first", "last"),
    [
        ("Sir Oswin Garrick", "sir", "oswin", "garrick"),
        ("Mrs. Garrick", "mrs.", "", "garrick"),
        ("Oswin", "", "oswin", ""),
        ("Oswin Garrick , of the mill", "", "oswin", "garrick"),
    ],
)
def test_parts_of_a_name(mention, title, first, last):
    (phrase,) = phrases(text(f"They saw [{mention}] ."))
    assert phrase.is_name
    assert (phrase.title, phrase.first, phrase.last) == (title, first, last)


def test_a_capital_at_the_start_of_a_sentence_does_not_make_a_name():
    (phrase,) = phrases(text("[Rain] fell .", "The rain stopped ."))
    assert not phrase.is_name


def with_columns(document, **columns):
    """Return the document with some columns filled: lists of cells."""
    index = {"tag": TAG, "speaker": SPEAKER, "entity": ENTITY}
    rows, position = [], 0
    for sentence in document.sentences:
        rows.append([])
        for word in sentence:
            row = ["x", "0", "0", word, *["-"] * 8]
            for name, cells in columns.items():
                row[index[name]] = cells[position]
            rows[-1].append(tuple(row))
            position += 1
    return Document(document.name, document.sentences, document.mentions, "0", tuple(map(tuple, rows)))


def test_tags_speakers_and_entities_of_the_file_are_used():
    plain = text("[Rain] said [Garrick] .", "[I] agree .")
    document = with_columns(
        plain,
        tag=["NN", "VBD", "NNP", ".", "PRP", "VBP", "."],
        speaker=["-", "-", "-", "-", "Garrick", "Garrick", "-"],
        entity=["*", "*", "(PERSON)", "*", "*", "*", "*"],
    )
    table = MentionTable(document)
    assert table.kind.tolist() == [MentionKind.NOMINAL, MentionKind.NAME, MentionKind.PRONOUN]
    assert (table.voice >= 0).tolist() == [False, False, True]
    assert (table.entity_type >= 0).tolist() == [False, True, False]
    assert (MentionTable(plain).entity_type >= 0).tolist() == [False, False, False]


# --- agreement -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mention", "gender", "number"),
    [
        ("he", Gender.MASCULINE, Number.SINGULAR),
        ("herself", Gender.FEMININE, Number.SINGULAR),
        ("they", Gender.UNKNOWN, Number.PLURAL),
        ("Mr. Garrick", Gender.MASCULINE, Number.SINGULAR),
        ("Lady Garrick", Gender.FEMININE, Number.SINGULAR),
        ("my aunt", Gender.FEMININE, Number.SINGULAR),
        ("two brothers", Gender.MASCULINE, Number.PLURAL),
        ("the women", Gender.FEMININE, Number.PLURAL),
        ("Oswin and Petra", Gender.UNKNOWN, Number.PLURAL),
        ("the mill and the house", Gender.NEUTER, Number.PLURAL),
        ("the actress", Gender.FEMININE, Number.SINGULAR),
        ("the witness", Gender.UNKNOWN, Number.SINGULAR),
        ("Elizabeth", Gender.FEMININE, Number.SINGULAR),
    ],
)
def test_gender_and_number(mention, gender, number):
    table = MentionTable(text(f"We saw [{mention}] ."))
    assert (table.gender[0], table.number[0]) == (gender, number)


def test_pronouns_determine_the_gender_of_a_name():
    sentences = ["[Quill] sang while [she] worked ."] * 3
    table = MentionTable(text(*sentences))
    assert table.gender[0] == Gender.FEMININE
    assert table.masculine[0] < 0 == table.masculine[1]


def test_animacy():
    table = MentionTable(text("[She] left [the castle] with [a stranger] and [Quill] ."))
    assert table.animacy.tolist() == [Animacy.PERSON, Animacy.THING, Animacy.PERSON, Animacy.UNKNOWN]


def test_pronouns():
    table = MentionTable(text("[I] saw [him] hurt [himself] near [our] mill ."))
    assert table.pronoun.tolist() == [Pronoun.ME, Pronoun.HE, Pronoun.HE, Pronoun.WE]
    assert table.case.tolist() == [Case.SUBJECT, Case.OBJECT, Case.REFLEXIVE, Case.POSSESSIVE]


# --- surroundings ----------------------------------------------------------------------------------------------------


def test_nesting_and_possessors():
    table = MentionTable(text("[[[His] sister] 's dog] barked ."))
    assert table.depth.tolist() == [0, 1, 2]
    assert table.parent.tolist() == [-1, 0, 1]
    assert table.possessor.tolist() == [1, 2, -1]


def test_quotations_and_their_speakers():
    document = text(
        "“ [I] am late , ” said [Tobin] .",
        "“ [You] always are , ” [Petra] replied , “ and [I] wait . ”",
        "“ Not long . ”",
        "Rain fell .",
        "“ Come ! ”",
    )
    found = quotations(document)
    labels = document.labels
    assert [labels[q.speaker] if q.speaker >= 0 else None for q in found] == ["Tobin", "Petra", "Petra", None, None]
    # The sentence continues; nothing is in between; something is.
    assert [q.turn for q in found] == [0, BREAK, BREAK, BREAK + 1, 2 * BREAK + 1]
    table = MentionTable(document)
    assert table.quote.tolist() == [0, -1, 1, -1, 2]
    assert table.turn.tolist() == [0, -1, BREAK, -1, BREAK]


@pytest.mark.parametrize(("opening", "closing"), [("“", "”"), ('"', '"'), ("``", "''"), ("‘", "’")])
def test_marks_of_quotation(opening, closing):
    document = text(f"{opening} [I] wait , {closing} said [Petra] .")
    (quotation,) = quotations(document)
    assert document.tokens[quotation.start] == opening
    assert document.tokens[quotation.end] == closing
    assert quotation.speaker == 1


def test_unclosed_quotations_are_ignored():
    assert quotations(text("“ [I] wait , said [Petra] .")) == []


# --- rules -----------------------------------------------------------------------------------------------------------


def test_antecedents_of_pronouns():
    assert found(text("[Mr. Garrick] met [Mrs. Quill] .", "[She] thanked [him] .")) == {
        "Mr. Garrick": None,
        "Mrs. Quill": None,
        "She": "Mrs. Quill",
        "him": "Mr. Garrick",
    }


def test_antecedents_in_conversation():
    document = text(
        "“ [I] wait for [you] , [Tobin] , ” said [Petra] , “ and [I] shall ask [you] . ”",
        "“ [I] hear [you] . ”",
    )
    antecedent, sure = antecedents(MentionTable(document))
    me, you, tobin, petra, me_again, you_again, other, addressed = range(8)
    assert antecedent.tolist() == [petra, tobin, -1, -1, me, you, you_again, me_again]
    assert sure.tolist() == [True, True, False, False, True, True, False, False]
    chain = chains(antecedent)
    assert chain[me] == chain[petra] == chain[me_again] == chain[addressed]
    assert chain[you] == chain[tobin] == chain[you_again] == chain[other] != chain[me]


def test_a_narrator_continues_after_speech():
    assert found(text("[I] slept .", "“ [I] woke , ” said [Petra] .", "[my] dog left ."))["my"] == "I"


def test_names_of_one_family_are_distinguished():
    document = text("[Sir Oswin Garrick] met [Petra Garrick] .", "[Miss Garrick] greeted [Sir Oswin] .")
    links = found(document)
    assert links["Petra Garrick"] is None
    assert links["Sir Oswin"] is None  # a title and one word: a surname
    assert links["Miss Garrick"] == "Petra Garrick"
    assert value(document, "same family, other person", 0, 1) == 1.0
    assert value(document, "same last name", 0, 1) == 1.0
    assert value(document, "different first name", 0, 1) == 1.0
    assert value(document, "same family, other person", 1, 2) == 0.0


# --- pairs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentence", "expected"),
    [
        ("same text", "[the mill] and [The mill]", 1.0),
        ("same head", "[the mill] and [a mill]", 1.0),
        ("same head", "[it] and [it]", 0.0),
        ("same words to the head", "[the old mill] and [that old mill in town]", 1.0),
        ("same words to the head", "[the old mill] and [the new mill]", 0.0),
        ("share of the shorter", "[the mill] and [the old mill]", 1.0),
        ("share of the longer", "[the mill] and [the old mill]", 0.5),
        ("earlier head in later", "[the mill] and [the mill house]", 1.0),
        ("acronym", "[UCD] is [Union Creek Dairy]", 1.0),
        ("acronym", "[UCD] is [Union Dairy]", 0.0),
        ("nested", "[the dog of [the miller]]", 1.0),
        ("nested", "[the dog] of [the miller]", 0.0),
        ("possessor of it", "[[her] dog]", 1.0),
        ("apposition", "[Petra] , [the nurse] , left", 1.0),
        ("apposition, indefinite", "[Petra] , [a nurse] , left", 1.0),
        ("copula", "[Petra] was [a nurse]", 1.0),
        ("coordinated", "[Petra] and [Tobin]", 1.0),
        ("reflexive of a subject", "[She] hurt [herself]", 1.0),
        ("object of its subject", "[She] hurt [her]", 1.0),
        ("same gender", "[She] hurt [her]", 1.0),
        ("different gender", "[She] hurt [him]", 1.0),
        ("compatible", "[She] hurt [him]", 0.0),
        ("same number", "[They] hurt [him]", 0.0),
        ("different number", "[They] hurt [him]", 1.0),
        ("mentions apart ≤ 1", "[They] hurt [him]", 1.0),
        ("same head, possessors disagree", "[his] [[her] dog]", 0.0),
    ],
)
def test_pair_features(name, sentence, expected):
    assert value(text(f"There {sentence} ."), name, 0, 1) == expected


def test_possessors_of_one_head_disagree():
    document = text("[[her] dog] and [[his] dog] and [[his] dog]")
    assert value(document, "same head, possessors disagree", 0, 2) == 1.0
    assert value(document, "same head, same possessor", 2, 4) == 1.0


def test_distances():
    document = text("[I] saw [it] .", "[I] left .", "[I] slept .")
    assert value(document, "sentences apart ≤ 1", 0, 2) == 1.0
    assert value(document, "sentences apart ≤ 1", 0, 3) == 0.0
    assert value(document, "sentences apart ≤ 2", 0, 3) == 1.0


def test_shapes_and_names():
    features = pair_features(invented(0))
    n = len(invented(0).mentions)
    assert features.unary.shape == (n, len(features.unary_names))
    assert features.pairs.shape == (n * (n - 1) // 2, len(features.pair_names))
    for names in (features.unary_names, features.pair_names):
        assert len(set(names)) == len(names)
    for values in (features.unary, features.pairs):
        assert values.dtype == np.float32
        assert np.abs(values).max() <= 1.0


@pytest.mark.parametrize("sentence", ["[She]", "[—]", "[- ] [—]", "[’s] [“ ”]", "[1879] and [.]"])
def test_unusual_mentions_have_features(sentence):
    document = text(sentence)
    n = len(document.mentions)
    assert pair_features(document).pairs.shape[0] == n * (n - 1) // 2


def test_features_do_not_use_annotation():
    document = invented(1)
    blind = Document(
        document.name, document.sentences, tuple(Mention(m.sentence, m.start, m.end) for m in document.mentions)
    )
    assert (pair_features(document).pairs == pair_features(blind).pairs).all()
    assert (pair_features(document).unary == pair_features(blind).unary).all()


@pytest.mark.parametrize("words", ["iPhone", "de la Cruz", "العربية", "1984", "— "])
def test_names_without_a_capital(words):
    """A tag marks a word as a name, even without capitals."""
    rows = [("d", "0", str(k), word, "NNP", *["_"] * 7) for k, word in enumerate([*words.split(), "fell"])]
    last = len(rows) - 2
    document = Document("d", (tuple(row[3] for row in rows),), (Mention(0, 0, last),), columns=(tuple(rows),))
    phrase = PhraseReader(document).read(document.mentions[0])
    assert phrase.is_name
    assert phrase.first or phrase.last
    assert len(pair_features(document).unary) == 1
