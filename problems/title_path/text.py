"""Words of English prose: sentences, content words, function words, stems."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n")


def _function_words() -> dict[str, frozenset[str]]:
    """Return function words by kind: article, preposition, other."""
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
    """Return the words of each sentence as written; sentences without words are omitted."""
    found = (_WORD.findall(part) for part in _SENTENCE_END.split(text.replace("’", "'")))
    return [words for words in found if words]


def words(text: str) -> list[str]:
    """Return all words of a text in lower case."""
    return [word.lower() for sentence in sentences(text) for word in sentence]


def is_content(word: str) -> bool:
    """Return whether a lower-case word has at least two letters and is not a function word."""
    return len(word) > 1 and word not in FUNCTION_WORDS


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of an English word (Porter's second algorithm), or the word if no stemmer is installed.

    The stemmer is part of the extra ``learning``.
    """
    return _stemmer()(word)


def has_stemmer() -> bool:
    """Return whether a stemmer is installed."""
    return importlib.util.find_spec("snowballstemmer") is not None


@cache
def _stemmer() -> Callable[[str], str]:
    if not has_stemmer():
        return str
    import snowballstemmer

    english = snowballstemmer.stemmer("english")
    return lambda word: str(english.stemWord(word))
