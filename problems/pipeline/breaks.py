"""Sentence breaks between the tokens of a paragraph, by logistic regression on the context of each break.

Features use kinds of tokens, not their forms: punctuation, case, shape, blanks, distance from the last sentence-ending
sign, open brackets or quotations, and the style of the paragraph.  Forms were tried and dropped, because they mislead
on other text types.  Given the features, breaks are independent, so the most probable segmentation decides each break
separately.

Source: D. Gillick, *Sentence boundary detection and the problem with the U.S.*, NAACL 2009, for the classifier.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.learning.logistic import logistic_regression
from colgen.problems.pipeline.clusters import letters_of
from colgen.problems.pipeline.texts import Token
from colgen.solvers.arrays import as_floats

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STOP = "\N{IDEOGRAPHIC FULL STOP}"
"""Stands for the full stops of all scripts whose full stop does not also end abbreviations."""

_SIGNS = {
    "FULL STOP": STOP,
    "DANDA": STOP,
    "SECTION": STOP,
    "KHAN": STOP,
    "QUESTION MARK": "?",
    "EXCLAMATION MARK": "!",
}
"""Last words of the Unicode names of signs that end sentences, and the sign that stands for them."""

_WITHIN = re.compile("INVERTED|ARMENIAN [QE]")
"""Signs with such names that are before or inside a sentence: "¿", and the Armenian tone marks."""

_ENDS = re.compile(rf"[.{STOP}]|[!?.{STOP}]*[!?][!?.{STOP}]*")
"""Signs that end sentences: "." or "?!", but not "..."."""

_DOTS = re.compile(rf"[.]{{2,}}|…+|{STOP}{{2,}}")

_NOTHING = "E"
"""The kind of positions beyond either end of a paragraph."""

_SHAPE = 6
"""Maximum length of a form's shape, in runs of letters, digits and signs."""

REGULARIZATION = 1.0
"""Half of this times the squared norm of the weights is added to the loss."""

LEAST = 2
"""Minimum number of occurrences of a feature."""

OFFSETS = tuple(0.25 * k for k in range(-2, 9))
"""Candidates for the constant added to the log-odds of all breaks."""

USUAL = 0.5
"""Default constant without tuning data: a spurious break spoils one gold sentence, a missed one spoils two."""

Paragraph = Sequence[Sequence[Token]]


@dataclass(frozen=True, eq=False)
class Breaks:
    """Predicts sentence ends; the last weight is the constant added to all log-odds."""

    index: Mapping[str, int] = field(repr=False)
    weights: Floats = field(repr=False)

    @cached_property
    def _weight(self) -> dict[str, float]:
        return dict(zip(self.index, self.weights[:-1].tolist(), strict=True))

    def log_odds(self, tokens: Sequence[Token]) -> list[float]:
        """Return the log-odds of a break after each token but the last."""
        weight, offset = self._weight.get, float(self.weights[-1])
        return [sum(weight(name, 0.0) for name in names) + offset for names in features(tokens)]

    def split(self, tokens: Sequence[Token]) -> list[list[Token]]:
        if not tokens:
            return []
        ends = [k for k, odds in enumerate(self.log_odds(tokens), 1) if odds > 0.0]
        return [list(tokens[begin:end]) for begin, end in zip([0, *ends], [*ends, len(tokens)], strict=True)]

    def with_offset(self, offset: float) -> Breaks:
        """Return a copy with this constant in all log-odds."""
        return replace(self, weights=np.append(self.weights[:-1], offset))

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {"features": list(self.index)}, {"weights": self.weights}

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Breaks:
        """Return the breaks of :meth:`data`; raise :class:`InputError` if the data does not fit."""
        index = {str(name): k for k, name in enumerate(about["features"])}
        return cls(index, as_floats(arrays["weights"], "weights of breaks", shape=(len(index) + 1,)))


# --- features --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def _sign(character: str) -> str:
    """Return the sign that stands for a punctuation mark that ends sentences in any script, or the character itself."""
    if character.isascii() or unicodedata.category(character) != "Po" or character == "…":
        return character
    plain, name = unicodedata.normalize("NFKC", character), unicodedata.name(character, "")
    if set(plain) <= set(".?!"):
        return plain
    return next((_SIGNS[end] for end in _SIGNS if name.endswith(end) and not _WITHIN.search(name)), character)


@lru_cache(maxsize=1 << 16)
def _plain(form: str) -> str:
    """Return a form without marks and invisible characters, with the same signs at sentence ends for all scripts."""
    return "".join(map(_sign, letters_of(form)))


@lru_cache(maxsize=1 << 16)
def kind(form: str) -> str:
    """Return the type of a form: letters by case, digits, the sign itself, or a mixture."""
    form = _plain(form)
    if form.isalpha():
        return ("A" if len(form) == 1 else "AA") if form.isupper() else "Aa" if form[0].isupper() else "a"
    if form.isdigit():
        return "12" if len(form) <= 2 else "123"
    if _ENDS.fullmatch(form) or _DOTS.fullmatch(form):
        return form if len(form) <= 2 else form[0] * 3
    if len(form) == 1:
        return form
    if form[0].isalpha():
        rest = "." if form.endswith(".") else "w" if re.search("[.@/]", form) else "'" if "'" in form else "-"
        return ("A" if form[0].isupper() else "a") + rest
    return "1-" if form[0].isdigit() else form[0] * 2


@lru_cache(maxsize=1 << 16)
def shape(form: str) -> str:
    """Return runs of upper case, lower case, digits, and signs: ``Mr.`` is ``Xx.``."""
    letters = ("X" if c.isupper() else "x" if c.islower() else "1" if c.isdigit() else c for c in _plain(form))
    return re.sub(r"(.)\1+", r"\1", "".join(letters))[:_SHAPE]


@lru_cache(maxsize=1 << 16)
def ending(form: str) -> str:
    """Return the type of a form as the end of a sentence, without distinguishing end signs or words."""
    form = _plain(form)
    if _ENDS.fullmatch(form):
        return "end"
    return "dots" if _DOTS.fullmatch(form) else "word" if form[0].isalnum() else kind(form)


def features(tokens: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    """Yield the features of a break after each token but the last."""
    forms = [token.form for token in tokens]
    kinds = [_NOTHING, *map(kind, forms), _NOTHING, _NOTHING]
    ends, shapes = [*map(ending, forms)], [*map(shape, forms)]
    gaps = ["", *(" " if token.space_after else "" for token in tokens)]
    first, style = kinds[1][0], _style(ends, kinds[1:])
    ahead = _distances(ends)
    since, bracket, quotation = 0, 0, 0
    for k in range(len(tokens) - 1):
        since += 1
        bracket = 1 if forms[k] in ("(", "[") else 0 if forms[k] in (")", "]") else bracket
        quotation ^= forms[k] == '"'
        before, a, b, after = kinds[k : k + 4]
        space, end, case = gaps[k + 1], ends[k], b[0]
        yield (
            "",
            f"a {a}{space}",
            f"ab {a}{space} {b}",
            f"abc {a} {b} {after}",
            f"zab {before}{gaps[k]} {a}{space} {b}",
            f"end {end} {case}",
            f"style {end}{space} {style} {case}",
            f"first {end} {first} {case}",
            f"since {end} {_round_down(since)}",
            f"ahead {end} {_round_down(ahead[k + 1])}",
            f"bracket {end} {bracket}",
            f"quotation {end} {quotation}",
            f"shape {shapes[k]}",
            f"shapes {shapes[k]} {shapes[k + 1]}",
        )
        if end == "end":
            since = 0


def _style(ends: Sequence[str], kinds: Sequence[str]) -> str:
    """Return how often lower case follows sentence-ending signs: never, seldom or mostly; "none" without such signs."""
    following = [kinds[k + 1][0] == "a" for k, end in enumerate(ends[:-1]) if end == "end"]
    small = sum(following)
    return "none" if not following else "mostly" if 2 * small > len(following) else "seldom" if small else "never"


def _distances(ends: Sequence[str]) -> list[int]:
    """Return the number of tokens before the next sentence-ending sign."""
    distances, far = [], len(ends)
    for end in reversed(ends):
        far = 0 if end == "end" else far + 1
        distances.append(far)
    return distances[::-1]


def _round_down(number: int) -> int:
    return number if number < 4 else 4 if number < 7 else 7 if number < 15 else 15 if number < 30 else 30


# --- learning --------------------------------------------------------------------------------------------------------


def learn_breaks(paragraphs: Iterable[Paragraph], *, tune: Sequence[Paragraph] = ()) -> Breaks:
    """Return breaks learned by logistic regression with an L2 penalty; L-BFGS finds the unique minimum.

    Parameters
    ----------
    paragraphs
        Sentences of tokens.
    tune
        Paragraphs on which the constant of the log-odds is chosen, by the F1 of sentences.
    """
    rows: list[tuple[str, ...]] = []
    gold: list[bool] = []
    for paragraph in paragraphs:
        rows += features(_tokens(paragraph))
        gold += _ends(paragraph)[:-1]
    counts = Counter(name for names in rows for name in names)
    index = {name: k for k, name in enumerate(sorted(name for name in counts if counts[name] >= LEAST))}
    found = Breaks(index, np.append(logistic_regression(_rows_of(rows, index), gold, REGULARIZATION), USUAL))
    return found.with_offset(_best_offset(found.with_offset(0.0), tune)) if tune else found


def _rows_of(rows: Sequence[tuple[str, ...]], index: Mapping[str, int]) -> Any:
    from scipy import sparse  # takes 0.25 s to import; only training needs it

    numbers = [[index[name] for name in names if name in index] for names in rows]
    starts = np.concatenate([[0], np.cumsum([*map(len, numbers)])])
    columns = np.array([k for row in numbers for k in row], dtype=np.int64)
    return sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), len(index)))


def _best_offset(breaks: Breaks, paragraphs: Sequence[Paragraph]) -> float:
    """Return the constant with the best F1 of sentences; ties go to the nearest to :data:`USUAL`."""
    odds = [np.append(breaks.log_odds(_tokens(paragraph)), np.inf) for paragraph in paragraphs]
    gold = [_spans(_ends(paragraph)) for paragraph in paragraphs]

    def quality(offset: float) -> float:
        found = [_spans((one + offset > 0.0).tolist()) for one in odds]
        good = sum(len(a & b) for a, b in zip(gold, found, strict=True))
        return 2.0 * good / sum(len(a) + len(b) for a, b in zip(gold, found, strict=True))

    return max(OFFSETS, key=lambda offset: (quality(offset), -abs(offset - USUAL)))


def _tokens(paragraph: Paragraph) -> list[Token]:
    return [token for sentence in paragraph for token in sentence]


def _ends(paragraph: Paragraph) -> list[bool]:
    return [k == len(sentence) for sentence in paragraph for k in range(1, len(sentence) + 1)]


def _spans(ends: Sequence[bool]) -> set[tuple[int, int]]:
    """Return the first token of each sentence, and the one after its last."""
    after = [k for k, end in enumerate(ends, 1) if end]
    return set(zip([0, *after], after, strict=False))
