"""The words of multiword tokens, by a chain over the characters of a token.

The label of a character is an edit: texts that are put before and after the character, and whether the character itself
is kept.  A blank that is put begins a word.  So Italian "della" becomes "di la", and a clitic in front of or behind a
word is split off any stem.  Edits are learned from the tokens that keep at least half of their characters; the words of
other tokens ("zum") are stored.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError
from colgen.problems.chain_map.characters import CharacterTagger, train_characters
from colgen.problems.pipeline.texts import Token

Edit = tuple[str, bool, str]
"""The text put before a character, whether the character is kept, and the text put after it."""

KEEP: Edit = ("", True, "")

Words = tuple[str, ...]

EPOCHS = 10

LEAST = 2
"""Minimum number of different tokens with an edit."""

_MOST_STORED = 1 << 16
"""Maximum number of tokens whose words are cached."""


def edits_of(form: str, target: str) -> list[Edit]:
    """Return the edits of a form's characters that make it the target, by a shortest sequence of changes.

    A change replaces, deletes or inserts a character; to insert a blank costs half.
    """
    n, m = len(form), len(target)
    put = [0.5 if character == " " else 1.0 for character in target]
    cost = np.zeros((n + 1, m + 1)).tolist()
    for i, j in itertools.product(range(n, -1, -1), range(m, -1, -1)):
        if (i, j) != (n, m):
            cost[i][j] = min(step for _, step in _steps(form, target, put, cost, i, j))
    edits: list[Edit] = []
    before, i, j = "", 0, 0
    while i < n:
        kind = next(kind for kind, step in _steps(form, target, put, cost, i, j) if step == cost[i][j])
        if kind == "insert":
            before += target[j]
            j += 1
            continue
        if kind == "replace":
            before += target[j]
        edits.append((before, kind == "keep", ""))
        before, i, j = "", i + 1, j + (kind != "delete")
    first, kept, _ = edits[-1]
    edits[-1] = first, kept, target[j:]
    return edits


def _steps(
    form: str, target: str, put: list[float], cost: list[list[float]], i: int, j: int
) -> list[tuple[str, float]]:
    """Return the possible changes at two places with the cost of all changes from there on, the preferred first."""
    steps = []
    if i < len(form) and j < len(target):
        if form[i] == target[j]:
            steps.append(("keep", cost[i + 1][j + 1]))
        elif target[j] != " ":
            steps.append(("replace", 1.0 + cost[i + 1][j + 1]))
    if j < len(target):
        steps.append(("insert", put[j] + cost[i][j + 1]))
    if i < len(form):
        steps.append(("delete", 1.0 + cost[i + 1][j]))
    return steps


def edited(form: str, edits: Iterable[Edit]) -> Words:
    """Return the words that edits make of a form."""
    text = "".join(
        before + kept * character + after for character, (before, kept, after) in zip(form, edits, strict=True)
    )
    return tuple(text.split()) or (form,)


@dataclass(frozen=True, eq=False)
class Splitter:
    """Splits tokens into words.

    ``tagger`` labels characters with the numbers of ``edits``; it is None if no multiword token was seen.  ``stored``
    has the words of tokens that the tagger would split otherwise.
    """

    tagger: CharacterTagger | None
    edits: Sequence[Edit]
    stored: Mapping[str, Words]
    _known: dict[str, Words] = field(default_factory=dict, init=False, repr=False)

    def split(self, forms: Sequence[str]) -> list[Words]:
        """Return the words of each token; a token that is not split is its own word."""
        known = {form: self._known.get(form) for form in forms}
        new = [form for form, words in known.items() if words is None]
        made = dict(zip(new, self._label(new), strict=True))
        if len(self._known) + len(made) > _MOST_STORED:
            self._known.clear()
        self._known.update(made)
        return [known[form] or made[form] for form in forms]

    def _label(self, forms: Sequence[str]) -> list[Words]:
        """Return the words of each token by what is stored, or by the tagger."""
        words: dict[str, Words] = {form: self.stored.get(form, (form,)) for form in forms}
        if self.tagger is not None:
            free = [form for form in forms if form not in self.stored and " " not in form]
            for form, labels in zip(free, self.tagger.tag(free) if free else [], strict=True):
                words[form] = edited(form, (self.edits[label] for label in labels))
        return [words[form] for form in forms]

    def data(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        about: dict[str, Any] = {"edits": self.edits, "stored": self.stored}
        if self.tagger is None:
            return about, {}
        of_tagger, arrays = self.tagger.data()
        return {**about, "tagger": of_tagger}, arrays

    @classmethod
    def from_data(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Splitter:
        edits = [(str(before), bool(kept), str(after)) for before, kept, after in about["edits"]]
        stored = {str(form): tuple(map(str, words)) for form, words in about["stored"].items()}
        tagger = CharacterTagger.from_data(about["tagger"], arrays) if "tagger" in about else None
        if tagger is not None and tagger.num_labels != len(edits):
            raise InputError(f"expected one label for each of {len(edits)} edits, got {tagger.num_labels}")
        return cls(tagger, edits, stored)


def learn_splitter(tokens: Iterable[Token], *, seed: int = 0, say: Callable[[str], None] = print) -> Splitter:
    """Return a splitter learned from the tokens of a text, of which it uses each form once."""
    seen: dict[str, Counter[Words]] = defaultdict(Counter)
    for token in tokens:
        if all(len(text.split()) == 1 for text in (token.form, *token.words)):
            seen[token.form][token.words if len(token.words) > 1 else (token.form,)] += 1
    right = {form: min(counts, key=lambda words: (-counts[words], words)) for form, counts in seen.items()}
    edits = _learnable_edits(right)
    if all(len(right[form]) == 1 for form in edits):
        return Splitter(None, (), {form: words for form, words in right.items() if len(words) > 1})
    known = [KEEP, *sorted({edit for own in edits.values() for edit in own} - {KEEP})]
    numbers = {edit: k for k, edit in enumerate(known)}
    labels = [[numbers[edit] for edit in own] for own in edits.values()]
    tagger = train_characters(list(edits), labels, epochs=EPOCHS, seed=seed, say=say)
    plain = Splitter(tagger, known, {})
    found = zip(right.items(), plain.split(list(right)), strict=True)
    return Splitter(tagger, known, {form: words for (form, words), others in found if words != others})


def _learnable_edits(right: Mapping[str, Words]) -> dict[str, list[Edit]]:
    """Return the edits of forms that keep at least half of their characters, all of them edits of several forms."""
    edits = {
        form: [KEEP] * len(form) if words == (form,) else edits_of(form, " ".join(words))
        for form, words in right.items()
    }
    edits = {form: own for form, own in edits.items() if 2 * sum(kept for _, kept, _ in own) >= len(form)}
    counts = Counter(edit for own in edits.values() for edit in set(own))
    return {form: own for form, own in edits.items() if all(counts[edit] >= LEAST for edit in own)}
