"""Attachment scores UAS, LAS and CLAS, as defined by the shared tasks on universal dependencies.

Given the gold words, UAS is the share of words with the correct head, and LAS the share with the correct head and
relation, ignoring the part of a relation after a colon.  CLAS is LAS over content words: the harmonic mean of precision
(over words with a predicted content relation) and recall (over words with a gold content relation).

Source: D. Zeman, J. Hajič, M. Popel, M. Potthast, M. Straka, F. Ginter, J. Nivre, S. Petrov, *CoNLL 2018 shared task:
multilingual parsing from raw text to universal dependencies* (2018), section 5, and its evaluation script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from colgen import InputError
from colgen.cli.template import Figure
from colgen.problems.dependency.sentence import Sentence

NO_CONTENT = frozenset({"aux", "case", "cc", "clf", "cop", "det", "mark", "punct"})
"""Relations of function words and punctuation; all others are those of content words."""


@dataclass(frozen=True)
class Attachment:
    """Attachment scores in percent, and the number of words.

    Attributes
    ----------
    uas, las, clas
        Unlabelled, labelled, and labelled for content words; the latter two are None if relations are missing.
    words
        Number of words, punctuation included.
    uas_without_punctuation
        Unlabelled, without words whose coarse tag is ``PUNCT``.
    """

    uas: float
    las: float | None
    clas: float | None
    words: int
    uas_without_punctuation: float


def attachment(pairs: Iterable[tuple[Sentence, Sentence]]) -> Attachment:
    """Return the attachment scores of pairs of gold and predicted sentences.

    Raises :class:`InputError` if a sentence has no heads, or a pair differs in the number of words.
    """
    words = heads = arcs = content = gold_content = found_content = real = real_heads = 0
    labelled = True
    for gold, found in pairs:
        if gold.heads is None or found.heads is None:
            raise InputError("a sentence has no heads: attachment scores need gold and predicted heads")
        if len(gold) != len(found):
            raise InputError(
                f"gold and predicted sentence differ: {len(gold)} words in the first, {len(found)} in the second"
            )
        labelled = labelled and gold.relations is not None and found.relations is not None
        words += len(gold)
        same = [a == b for a, b in zip(gold.heads, found.heads, strict=True)]
        heads += sum(same)
        is_word = [tag != "PUNCT" for tag in gold.coarse]
        real, real_heads = real + sum(is_word), real_heads + sum(a and b for a, b in zip(same, is_word, strict=True))
        if labelled:
            for right, a, b in zip(same, _universal(gold), _universal(found), strict=True):
                gold_content += a not in NO_CONTENT
                found_content += b not in NO_CONTENT
                arcs += right and a == b
                content += right and a == b and a not in NO_CONTENT
    total = max(words, 1)
    return Attachment(
        100.0 * heads / total,
        100.0 * arcs / total if labelled else None,
        200.0 * content / max(gold_content + found_content, 1) if labelled else None,
        words,
        100.0 * real_heads / max(real, 1),
    )


def attachment_figures(reached: Attachment, sentences: int, name: Callable[[str], str]) -> list[Figure]:
    """Return figures of a model's attachment scores, punctuation included.

    ``name`` maps ``accuracy``, ``las`` or ``clas`` to the figure's name.
    """
    figures = [Figure(name("accuracy"), reached.uas, "%", sentences, "heads, punctuation included")]
    if reached.las is not None and reached.clas is not None:
        figures += [
            Figure(name("las"), reached.las, "%", sentences, "heads and relations"),
            Figure(name("clas"), reached.clas, "%", sentences, "the same, of content words"),
        ]
    return figures


def _universal(sentence: Sentence) -> list[str]:
    """Return relations without the language-specific part after a colon."""
    return [relation.partition(":")[0] for relation in sentence.relations or ()]
