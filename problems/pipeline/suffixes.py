"""Suffix rules that rewrite a word, learned from pairs: lemmas of forms.

A rule removes a number of final characters and appends others.  Rules of complete forms have priority; otherwise the
longest known suffix decides.  A suffix is stored only if its rule differs from that of the next shorter one.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Rule = tuple[bool, int, str]
"""Whether to convert the form to lower case, the number of characters to remove, and the characters to append."""

LONGEST = 8
"""Maximum length of a suffix."""

LEAST = 2
"""Minimum number of different forms for a suffix to get a rule."""

_COMPLETE = "^"

_KEPT = 1 << 14
"""Maximum number of cached forms: few words make up most of a text."""


def rule_of(form: str, target: str) -> Rule:
    """Return the rule that maps a form to its target by the shortest change.

    Conversion to lower case is used unless it makes the change longer.
    """
    lower = form.lower()
    if len(lower) == len(form) and _common(lower, target) >= _common(form, target):
        kept = _common(lower, target)
        return True, len(form) - kept, target[kept:]
    kept = _common(form, target)
    return False, len(form) - kept, target[kept:]


def _common(first: str, second: str) -> int:
    length = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        length += 1
    return length


def apply(rule: Rule, form: str) -> str | None:
    """Return the form rewritten by a rule; None if the form is too short, or the result is blank."""
    lowers, off, put = rule
    if off > len(form):
        return None
    text = form.lower() if lowers else form
    made = text[: len(text) - off] + put
    return made if made.strip() else None


@dataclass(frozen=True)
class SuffixRules:
    """Rules by ``(context, suffix)``; a complete form is prefixed with a mark."""

    rules: Mapping[tuple[str, str], Rule]
    _kept: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def of(self, form: str, contexts: Iterable[str] = ("",)) -> str:
        """Return the rewritten form, or the form itself if no rule applies.

        ``contexts`` are ordered from narrow to wide; a rule of the complete form in any of them precedes suffix rules.
        """
        key = form, tuple(contexts)
        made = self._kept.get(key)
        if made is None:
            made = self._rewrite(*key)
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[key] = made
        return made

    def _rewrite(self, form: str, contexts: tuple[str, ...]) -> str:
        for context in contexts:
            rule = self.rules.get((context, _COMPLETE + form))
            made = None if rule is None else apply(rule, form)
            if made is not None:
                return made
        for context, suffix in itertools.product(contexts, _suffixes(form)):
            rule = self.rules.get((context, suffix))
            made = None if rule is None else apply(rule, form)
            if made is not None:
                return made
        return form

    def data(self) -> list[list[object]]:
        return [[context, suffix, *rule] for (context, suffix), rule in self.rules.items()]

    @staticmethod
    def from_data(data: Iterable[tuple[str, str, bool, int, str]]) -> SuffixRules:
        return SuffixRules({(str(c), str(s)): (bool(low), int(off), str(put)) for c, s, low, off, put in data})


def _suffixes(form: str) -> Iterator[str]:
    """Yield suffixes, the longest first, the empty one last."""
    for length in range(min(len(form), LONGEST), -1, -1):
        yield form[len(form) - length :]


def learn_suffixes(pairs: Iterable[tuple[str, str, str]]) -> SuffixRules:
    """Return rules learned from the context, form and target of each occurrence, including unchanged forms."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for context, form, target in pairs:
        seen[context, form][target] += 1
    votes: dict[tuple[str, str], Counter[Rule]] = defaultdict(Counter)
    complete: dict[tuple[str, str], Rule] = {}
    for (context, form), targets in seen.items():
        rule = rule_of(form, _most(targets))
        complete[context, form] = rule
        for suffix in _suffixes(form):
            votes[context, suffix][rule] += 1
    rules: dict[tuple[str, str], Rule] = {}
    for context, suffix in sorted(votes, key=lambda key: (len(key[1]), key)):
        counts = votes[context, suffix]
        if counts.total() < LEAST:
            continue
        rule = min(counts, key=lambda r: (-counts[r], r[1], r))  # ties: the smallest change
        shorter = next((rules[context, s] for s in _suffixes(suffix[1:]) if (context, s) in rules), None)
        if not suffix or rule != shorter:
            rules[context, suffix] = rule
    known = SuffixRules(dict(rules))
    for (context, form), rule in complete.items():
        if known.of(form, (context,)) != apply(rule, form):
            rules[context, _COMPLETE + form] = rule
    return SuffixRules(rules)


def _most(counts: Counter[str]) -> str:
    """Return the most frequent text; ties are broken alphabetically."""
    return min(counts, key=lambda text: (-counts[text], text))
