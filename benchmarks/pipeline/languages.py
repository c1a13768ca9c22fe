"""Generated languages: one with clitics before and behind its words, and one without blanks between words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from colgen.problems.pipeline.texts import Token

_LETTERS = "abcdefghijklmnopqrstuv"
_PREFIXES = ("w", "b", "l", "k", "h", "m", "x")
_SUFFIXES = ("y", "k", "w", "nw", "km", "hm", "hn")

Text = list[list[Token]]
"""Sentences of tokens."""


@dataclass(frozen=True)
class Clitics:
    """A language whose tokens have up to two prefixes and up to one suffix; each clitic is a word.

    ``train`` and ``test`` share clitics but no stem.
    """

    train: Text
    test: Text

    @staticmethod
    def of(seed: int, sentences: int = 600, stems: int = 2000) -> Clitics:
        """Return a language with stems of 3 to 5 letters, which may look like clitics, at frequencies of Zipf."""
        rng = np.random.default_rng(seed)
        usual = 1.0 / np.arange(1.0, len(_LETTERS) + 1.0)
        letters = rng.permutation([*_LETTERS])
        forms = list(
            dict.fromkeys(
                "".join(rng.choice(letters, rng.choice([3, 4, 5], p=[0.5, 0.3, 0.2]), p=usual / usual.sum()))
                for _ in range(stems)
            )
        )
        rng.shuffle(forms)
        first, second = forms[: 3 * len(forms) // 4], forms[3 * len(forms) // 4 :]
        return Clitics(_clitic_text(rng, first, sentences), _clitic_text(rng, second, sentences // 3))


def _clitic_text(rng: np.random.Generator, stems: Sequence[str], sentences: int) -> Text:
    prefixes = [(), *((p,) for p in _PREFIXES), *((_PREFIXES[0], p) for p in _PREFIXES[1:])]
    before = [0.6, *len(_PREFIXES) * [0.3 / len(_PREFIXES)], *(len(_PREFIXES) - 1) * [0.1 / (len(_PREFIXES) - 1)]]
    behind = [0.8, *len(_SUFFIXES) * [0.2 / len(_SUFFIXES)]]
    text = []
    for _ in range(sentences):
        tokens = []
        for stem in draw(rng, stems, int(rng.integers(4, 16))):
            own = prefixes[rng.choice(len(prefixes), p=before)]
            suffix = ("", *_SUFFIXES)[rng.choice(len(_SUFFIXES) + 1, p=behind)]
            words = (*own, stem, *filter(None, [suffix]))
            tokens.append(Token("".join(words), words))
        text.append([*tokens[:-1], Token(tokens[-1].form, tokens[-1].words, False), Token(".", (".",))])
    return text


def draw(rng: np.random.Generator, words: Sequence[str], count: int) -> list[str]:
    """Return words at frequencies of Zipf, the first the most frequent."""
    share = 1.0 / np.arange(1.0, len(words) + 1.0)
    return [words[k] for k in rng.choice(len(words), count, p=share / share.sum())]


def unseen_tokens(language: Clitics) -> list[Token]:
    """Return the different tokens of the test sentences that do not occur in the training sentences."""
    seen = {token.form for sentence in language.train for token in sentence}
    return list(dict.fromkeys(token for sentence in language.test for token in sentence if token.form not in seen))


def unspaced_text(seed: int, sentences: int = 1200, words: int = 3000) -> Text:
    """Return sentences of a language without blanks, whose words of 1 to 4 characters have frequencies of Zipf.

    Characters are Chinese, at frequencies of Zipf; short words are more frequent, as in a language.
    """
    rng = np.random.default_rng(seed)
    signs = [chr(0x4E00 + k) for k in rng.choice(0x5000, 1500, replace=False)]
    lexicon = list(dict.fromkeys("".join(draw(rng, signs, k)) for k in rng.choice([1, 2, 3, 4], words, p=_LENGTHS)))
    lexicon.sort(key=lambda word: len(word) + rng.exponential(2.0))
    text = []
    for _ in range(sentences):
        forms = [*draw(rng, lexicon, int(rng.integers(4, 30))), "\N{IDEOGRAPHIC FULL STOP}"]
        text.append([Token(form, (form,), False) for form in forms])
    return text


_LENGTHS = [0.1, 0.6, 0.2, 0.1]
"""Shares of words of 1 to 4 characters in the lexicon."""
