"""Small invented texts with mentions, and documents for training."""

import re

import numpy as np

from colgen.problems.coreference.document import Document, Mention

_WORD = re.compile(r"\[|\](?:\w+)?|[^\s\[\]]+")


def text(*sentences: str, name: str = "text") -> Document:
    """Return a document from sentences such as ``[Ada]1 fed [[her]1 cat]2 .``; clusters are optional."""
    mentions, words, position = [], [], 0
    for number, sentence in enumerate(sentences):
        opened, row = [], []
        for piece in _WORD.findall(sentence):
            if piece == "[":
                opened.append(position)
            elif piece.startswith("]"):
                mentions.append(Mention(number, opened.pop(), position - 1, piece[1:] or None))
            else:
                row.append(piece)
                position += 1
        words.append(tuple(row))
    mentions.sort(key=lambda mention: (mention.start, -mention.end))
    return Document(name, tuple(words), tuple(mentions))


_MEN, _WOMEN, _PLACES = (
    ("Oswin", "Tobin", "Ferris", "Garrick"),
    ("Mirabel", "Idony", "Petra", "Sabine"),
    ("mill", "tower"),
)
_VERBS = ("greeted", "followed", "answered", "passed", "watched")


def invented(seed: int, num_sentences: int = 12) -> Document:
    """Return a text about a man, a woman and a place, whose pronouns and names agree in gender."""
    rng = np.random.default_rng(seed)
    man, woman, place = (str(rng.choice(names)) for names in (_MEN, _WOMEN, _PLACES))
    sentences = [f"Mr. [{man}]m met Mrs. [{woman}]w near [the {place}]p ."]
    for _ in range(num_sentences):
        he = str(rng.choice([f"[{man}]m", "[He]m"]))
        whose = str(rng.choice(["[his]m", "[her]w"]))
        sentences.append(f"{he} {rng.choice(_VERBS)} [{woman}]w in [{whose} house]{whose[-1]}h .")
        sentences.append(f"At [the {place}]p [she]w {rng.choice(_VERBS)} [him]m .")
    return text(*sentences, name=f"invented-{seed}")
