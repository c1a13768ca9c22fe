"""Extended grapheme clusters of a text, with the invisible characters around them.

A combining mark belongs to the letter before it, a joined emoji is one sign, and a soft hyphen is part of its word.  No
extended grapheme cluster is broken, except at a blank.  Some clusters are joined, where Unicode's word rules (WB4)
ignore a character: format characters, such as soft hyphens and direction marks, and all combining marks.  Instead of
Unicode's tables of conjuncts and pictographs, any letter after a linking virama and any symbol after a joined symbol
are used.

Source: The Unicode Consortium, *Unicode text segmentation*, Unicode Standard Annex 29.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_MARKS = ("Mn", "Mc", "Me")
_SYMBOLS = ("So", "Sm", "Cn")
"""Categories of pictographs; those unknown to this Python version have category Cn."""
_PICTOGRAPHS = frozenset("\u203c\u2049\u2139\u3030\u303d")
"""Pictographs of other categories."""
_JOINER = "\u200d"
_ZERO_WIDTH_SPACE = "\u200b"
_FOLLOWS = frozenset("\u200c\u0e33\u0eb3\uff9e\uff9f") | {chr(c) for c in range(0x1F3FB, 0x1F400)}
"""Characters that attach to the previous one but are neither marks nor format characters: vowel signs, skin tones."""
_PREPENDED = frozenset(
    chr(c)
    for begin, end in (
        (0x600, 0x605), (0x6DD, 0x6DD), (0x70F, 0x70F), (0x890, 0x891), (0x8E2, 0x8E2), (0xD4E, 0xD4E),
        (0x110BD, 0x110BD), (0x110CD, 0x110CD), (0x111C2, 0x111C3), (0x113D1, 0x113D1), (0x1193F, 0x1193F),
        (0x11941, 0x11941), (0x11A84, 0x11A89), (0x11D46, 0x11D46), (0x11F02, 0x11F02),
    )
    for c in range(begin, end + 1)
)  # fmt: skip
"""Signs that precede the character they belong to."""
_LINKERS = frozenset(
    "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\u1cf5\u1cf6\ua9c0\uaaf6"
    "\U00010a3f\U00011133\U000113d0\U0001193e\U00011a3a\U00011a47\U00011a99\U00011f42"
)
"""Viramas that join consonants."""

_PRIVATE = 0xF0000

_LETTER, _BLANK, _FOLLOWER, _PREFIX, _REGION, _LEADING, _VOWEL, _SYMBOL, _OTHER = range(9)
_JOINING = frozenset({_FOLLOWER, _PREFIX, _REGION, _LEADING, _VOWEL})


@lru_cache(maxsize=1 << 14)
def _kind(character: str) -> int:
    code, category = ord(character), unicodedata.category(character)
    if character.isspace() or character == _ZERO_WIDTH_SPACE or category in ("Cc", "Cs"):
        return _BLANK  # nothing joins to it
    if character in _PREPENDED:
        return _PREFIX
    if category in _MARKS or category == "Cf" or character in _FOLLOWS:
        return _FOLLOWER
    if 0x1F1E6 <= code <= 0x1F1FF:
        return _REGION
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return _LEADING
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FB or 0x16D63 <= code <= 0x16D6A:
        return _VOWEL
    if category in _SYMBOLS or character in _PICTOGRAPHS:
        return _SYMBOL
    return _LETTER if category == "Lo" else _OTHER


def cluster_begins(text: str) -> list[int]:
    """Return the start of each cluster, ascending; the clusters cover the text."""
    if text.isascii() or _JOINING.isdisjoint(map(_kind, set(text))):
        return list(range(len(text)))
    begins: list[int] = []
    before, base, regions, linked, joined = _BLANK, _BLANK, 0, False, False
    for place, character in enumerate(text):
        kind = _kind(character)
        if kind == _FOLLOWER:
            if before == _BLANK:
                begins.append(place)
                base = _PREFIX if unicodedata.category(character) == "Cf" else _OTHER
            linked = linked or character in _LINKERS
            joined = character == _JOINER or (joined and character in _LINKERS)
            before = _FOLLOWER if base != _PREFIX else _PREFIX
            continue
        belongs = (
            (before == _PREFIX and kind != _BLANK)
            or (kind == base == _REGION and before == _REGION and regions % 2 == 1)
            or (kind == base == _SYMBOL and joined)
            or (kind == base == _LETTER and linked)
            or (kind == _VOWEL and before in (_LEADING, _VOWEL, _LETTER) and _is_hangul(text[place - 1]))
            or (before == _LEADING and (kind == _LEADING or (kind == _LETTER and _is_hangul(character))))
        )
        if not belongs:
            begins.append(place)
        regions = regions + 1 if kind == _REGION and belongs else int(kind == _REGION)
        before = base = kind
        linked = joined = False
    return begins


def outline(text: str, begins: list[int]) -> str:
    """Return one character per cluster: the first, or a private character for a cluster that is not a letter.

    Equal clusters get equal characters.
    """
    if len(begins) == len(text):
        return text
    private: dict[str, str] = {}
    signs = []
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        first = next((c for c in text[begin:end] if _kind(c) not in (_FOLLOWER, _PREFIX)), text[begin])
        if end > begin + 1 and not first.isalnum() and first != "_":
            first = private.setdefault(text[begin:end], chr(_PRIVATE + len(private) % (1 << 16)))
        signs.append(first)
    return "".join(signs)


@lru_cache(maxsize=1 << 16)
def letters_of(form: str) -> str:
    """Return a form without marks and invisible characters, from which its type and case are determined."""
    return outline(form, cluster_begins(form))


def _is_hangul(character: str) -> bool:
    code = ord(character)
    return (
        0x1100 <= code <= 0x11FF or 0xA960 <= code <= 0xA97C or 0xAC00 <= code <= 0xD7FB or 0x16D63 <= code <= 0x16D6A
    )


# --- scripts without blanks ------------------------------------------------------------------------------------------

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"  # South-East Asia
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3040-\u312f\u31a0-\u31ff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Characters of scripts without blanks between words, for a character class of a regular expression."""
