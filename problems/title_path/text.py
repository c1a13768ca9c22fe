"""Words of English prose: sentences, content words, auxiliary words, stems."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n")


def _function_words() -> dict[str, frozenset[str]]:
    """Function words by kind: article, preposition, other."""
    kinds: dict[str, set[str]] = {}
    text = resources.files("colgen.problems.title_path").joinpath("function_words.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            kind, _, words = line.partition(":")
            kinds.setdefault(kind, set()).update(words.split())
    return {kind: frozenset(words) for kind, words in kinds.items()}


_KINDS = _function_words()
ARTICLES, PREPOSITIONS = _KINDS["article"], _KINDS["preposition"]
FUNCTION_WORDS = ARTICLES | PREPOSITIONS | _KINDS["other"]


def sentences(text: str) -> list[list[str]]:
    """The words of each sentence as they are written; sentences without a word are left out."""
    found = (_WORD.findall(part) for part in _SENTENCE_END.split(text.replace("’", "'")))
    return [words for words in found if words]


def words(text: str) -> list[str]:
    """All words of a text in small letters."""
    return [word.lower() for sentence in sentences(text) for word in sentence]


def is_content(word: str) -> bool:
    """Whether a word in small letters says what a text is about: two letters or more, and no function word."""
    return len(word) > 1 and word not in FUNCTION_WORDS


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of an English word (Porter's second algorithm); the word itself where no stemmer is installed.

    The stemmer comes with the extra ``learning``.
    """
    return _stemmer()(word)


def has_stemmer() -> bool:
    """Whether words are stemmed."""
    return importlib.util.find_spec("snowballstemmer") is not None


@cache
def _stemmer() -> Callable[[str], str]:
    if not has_stemmer():
        return str
    import snowballstemmer

    english = snowballstemmer.stemmer("english")
    return lambda word: str(english.stemWord(word))
