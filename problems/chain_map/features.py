"""Features of a token for tagging: form, shape, prefixes, suffixes and neighbours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

UNKNOWN = -1
"""The number of a feature that is not in the index."""

EDGES = ("<1>", "<2>")
"""Placeholders for the words before and after a sentence."""


def shape(word: str) -> str:
    """Return the kinds of letters in order, runs shortened: ``McDonald's-2`` gives ``XxXx'x-d``."""
    kinds: list[str] = []
    for letter in word:
        kind = "X" if letter.isupper() else "x" if letter.islower() else "d" if letter.isdigit() else letter
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
    return "".join(kinds)


def plain(word: str) -> str:
    """Return a word in lower case with all digits replaced by 0."""
    return "".join("0" if letter.isdigit() else letter for letter in word.lower())


def features(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the features of each token; every token has one of each kind, in the same order."""
    n = len(words)
    lower = [EDGES[1], EDGES[0], *(plain(word) for word in words), EDGES[0], EDGES[1]]
    shapes = ["", *(shape(word) for word in words), ""]
    tokens: list[tuple[str, ...]] = []
    for i, word in enumerate(words):
        w2, w1, w, v1, v2 = lower[i : i + 5]
        s1, s, s2 = shapes[i : i + 3]
        place = "first" if i == 0 else "last" if i == n - 1 else ""
        tokens.append(
            (
                "",
                f"w {word}",
                f"l {w}",
                f"p1 {w[:1]}",
                f"p2 {w[:2]}",
                f"p3 {w[:3]}",
                f"p4 {w[:4]}",
                f"s1 {w[-1:]}",
                f"s2 {w[-2:]}",
                f"s3 {w[-3:]}",
                f"s4 {w[-4:]}",
                f"s5 {w[-5:]}",
                f"x {s} {place}",
                f"xl {len(word) if len(word) < 8 else 8} {s}",
                f"-1 {w1}",
                f"+1 {v1}",
                f"-2 {w2}",
                f"+2 {v2}",
                f"-1x {s1} {s}",
                f"+1x {s} {s2}",
                f"-1s {w1[-3:]}",
                f"+1s {v1[-3:]}",
                f"-1w {w1} {w}",
                f"+1w {w} {v1}",
                f"-1+1 {w1} {v1}",
                f"-2-1 {w2} {w1}",
                f"+1+2 {v1} {v2}",
                f"-1ws {w1} {w[-3:]}",
                f"+1ws {w[-3:]} {v1}",
            )
        )
    return tokens


NUM_KINDS = len(features(["word"])[0])
"""Number of features per token."""


def build_index(sentences: Sequence[Sequence[str]], min_count: int) -> dict[str, int]:
    """Number the features that occur at least ``min_count`` times, the most frequent first."""
    counts = Counter(name for words in sentences for token in features(words) for name in token)
    return {name: k for k, (name, count) in enumerate(counts.most_common()) if count >= min_count}
