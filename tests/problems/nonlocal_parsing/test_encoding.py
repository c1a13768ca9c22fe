"""Codes by two ways: the vocabulary's own, and the faster ones."""

from hypothesis import given
from hypothesis import strategies as st

from problems.dependency.features.vocabulary import Vocabulary
from problems.dependency.sentence import Sentence
from problems.nonlocal_parsing import encoding
from problems.nonlocal_parsing.encoding import Encoder
from tests.problems.nonlocal_parsing.trees import made_up_sentences

VOCABULARY = Vocabulary.of(made_up_sentences(30))
ENCODER = Encoder(VOCABULARY)


def same(encoder, sentence):
    found, expected = encoder.encode(sentence), encoder.vocabulary.encode(sentence)
    assert (found.codes == expected.codes).all()
    assert found.codes.dtype == expected.codes.dtype
    assert (found.tags == expected.tags).all()
    assert found.tags.dtype == expected.tags.dtype


def test_sentences_of_the_vocabulary_and_others():
    for sentence in (*made_up_sentences(30), *made_up_sentences(30, seed=7)):
        same(ENCODER, sentence)


WORDS = st.sampled_from(["the", "The", "dog", "saw", "zzz", "_"])


@st.composite
def sentences(draw):
    length = draw(st.integers(1, 6))
    several = st.lists(WORDS, min_size=length, max_size=length).map(tuple)
    tags = st.lists(st.sampled_from(["NOUN", "VERB", "_", "X"]), min_size=length, max_size=length).map(tuple)
    features = st.dictionaries(st.sampled_from(["Case", "Number"]), st.sampled_from(["Nom", "Plur"]))
    morphology = st.lists(features, min_size=length, max_size=length).map(tuple)
    return Sentence(draw(several), draw(several), draw(tags), draw(tags), draw(morphology))


@given(known=st.lists(sentences(), min_size=1, max_size=3), sentence=sentences())
def test_any_sentences(known, sentence):
    encoder = Encoder(Vocabulary.of(known))
    for one in (*known, sentence, sentence):
        same(encoder, one)


def test_words_that_are_kept_are_few(monkeypatch):
    monkeypatch.setattr(encoding, "_MOST_KEPT", 5)
    encoder = Encoder(VOCABULARY)
    for sentence in made_up_sentences(20):
        same(encoder, sentence)
        assert len(encoder._known) <= max(5, len(sentence))
