"""Rules that rewrite a word's end, learned from pairs: lemmas of forms, and the words of a token that is several.

A rule takes so many characters off the end and puts others there.  What is known of a form itself goes first; then the
longest suffix that is known decides.  A suffix is kept only where it decides otherwise than a shorter one would.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Rule = tuple[bool, int, str]
"""Whether the form is written in lower case first, how many characters are taken off, and what is put there."""

NOTHING: Rule = (False, 0, "")

LONGEST = 8
"""Characters of a suffix."""

LEAST = 2
"""So many different forms must end in a suffix for it to have a rule."""

_WHOLE = "^"

_KEPT = 1 << 14
"""Forms that are kept with what they are rewritten to, at most: few words make up most of a text."""


def rule_of(form: str, target: str, *, lowers: bool) -> Rule:
    """The rule that makes the target of a form by the shortest change.

    Parameters
    ----------
    lowers
        Whether writing the form in lower case first is allowed; it is done where that is no longer a change.
    """
    lower = form.lower()
    if lowers and len(lower) == len(form) and _common(lower, target) >= _common(form, target):
        kept = _common(lower, target)
        return True, len(form) - kept, target[kept:]
    kept = _common(form, target)
    return False, len(form) - kept, target[kept:]


def _common(first: str, second: str) -> int:
    """The length of the longest common beginning."""
    length = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        length += 1
    return length


def apply(rule: Rule, form: str) -> str | None:
    """What a rule makes of a form; None if the form is too short for it, or nothing would be left."""
    lowers, off, put = rule
    if off > len(form):
        return None
    text = form.lower() if lowers else form
    made = text[: len(text) - off] + put
    return made if made.strip() else None


@dataclass(frozen=True)
class SuffixRules:
    """Rules by context and suffix.

    Attributes
    ----------
    rules
        By ``(context, suffix)``; a whole form has a mark before it.
    """

    rules: Mapping[tuple[str, str], Rule]
    _kept: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, form: str, contexts: Iterable[str] = ("",)) -> str:
        """What the form is rewritten to; the form itself where no rule fits.

        Parameters
        ----------
        contexts
            The narrowest first: a whole form known in any of them goes before suffixes.
        """
        asked = form, tuple(contexts)
        made = self._kept.get(asked)
        if made is None:
            made = self._rewritten(*asked)
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[asked] = made
        return made

    def _rewritten(self, form: str, contexts: tuple[str, ...]) -> str:
        for context in contexts:
            rule = self.rules.get((context, _WHOLE + form))
            made = None if rule is None else apply(rule, form)
            if made is not None:
                return made
        for context, suffix in itertools.product(contexts, _suffixes(form)):
            rule = self.rules.get((context, suffix))
            if rule is None or (rule[1] == len(form) and " " in rule[2]):
                continue  # of words that are all put there nothing is in the text
            made = apply(rule, form)
            if made is not None:
                return made
        return form

    def data(self) -> list[list[object]]:
        """As plain data for JSON."""
        return [[context, suffix, *rule] for (context, suffix), rule in self.rules.items()]

    @staticmethod
    def from_data(data: Iterable[tuple[str, str, bool, int, str]]) -> SuffixRules:
        """What :meth:`data` gave."""
        return SuffixRules({(str(c), str(s)): (bool(low), int(off), str(put)) for c, s, low, off, put in data})


def _suffixes(form: str) -> Iterator[str]:
    """The longest first, the empty one last."""
    for length in range(min(len(form), LONGEST), -1, -1):
        yield form[len(form) - length :]


def learn_suffixes(pairs: Iterable[tuple[str, str, str]], *, lowers: bool = True, covered: bool = False) -> SuffixRules:
    """Rules from pairs of a form and its target in a context.

    Parameters
    ----------
    pairs
        Context, form, target: one an occurrence, those where nothing changes included.
    lowers
        Whether a form may be written in lower case first.
    covered
        Whether a suffix must hold all characters that its rule takes off, and the form one more: then a rule only
        replaces characters that it was learned from, and a form that is replaced as a whole teaches no rule for others.
    """
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for context, form, target in pairs:
        seen[context, form][target] += 1
    votes: dict[tuple[str, str], Counter[Rule]] = defaultdict(Counter)
    whole: dict[tuple[str, str], Rule] = {}
    for (context, form), targets in seen.items():
        rule = rule_of(form, _most(targets), lowers=lowers)
        whole[context, form] = rule
        for suffix in _suffixes(form):
            if not covered or rule == NOTHING or (rule[1] < len(form) and max(rule[1], 1) <= len(suffix)):
                votes[context, suffix][rule] += 1
    rules: dict[tuple[str, str], Rule] = {}
    for context, suffix in sorted(votes, key=lambda key: (len(key[1]), key)):
        counts = votes[context, suffix]
        if counts.total() < LEAST:
            continue
        rule = min(counts, key=lambda r: (-counts[r], r[1], r))  # of several the least change
        shorter = next((rules[context, s] for s in _suffixes(suffix[1:]) if (context, s) in rules), None)
        if not suffix or rule != shorter:
            rules[context, suffix] = rule
    known = SuffixRules(dict(rules))
    for (context, form), rule in whole.items():
        if known.of(form, (context,)) != apply(rule, form):
            rules[context, _WHOLE + form] = rule
    return SuffixRules(rules)


def _most(counts: Counter[str]) -> str:
    """The most frequent; of several the first in the alphabet."""
    return min(counts, key=lambda text: (-counts[text], text))
