"""How good trees are: UAS, LAS and CLAS, as the shared tasks on universal dependencies define them.

With the words of the gold standard given, UAS is the share of words whose head is right, and LAS that of words whose
head and relation are; of relations the part before a colon counts.  CLAS is the same for content words alone: the
harmonic mean of the share that is right among words whose relation is one of content words in what was found, and of
that among words whose relation is one in the gold standard.

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
"""Relations of function words and of punctuation; all others are those of content words."""


@dataclass(frozen=True)
class Attachment:
    """Percentages, and the number of words they speak of.

    Attributes
    ----------
    uas, las, clas
        Unlabelled, labelled, and labelled of content words; the latter two are None where relations are missing.
    words
        All of them, punctuation included.
    uas_without_punctuation
        Unlabelled, words whose coarse tag is ``PUNCT`` left out.
    """

    uas: float
    las: float | None
    clas: float | None
    words: int
    uas_without_punctuation: float


def attachment(pairs: Iterable[tuple[Sentence, Sentence]]) -> Attachment:
    """Of sentences of the gold standard and the same as they were parsed.

    Raises
    ------
    InputError
        If a sentence has no heads, or another number of words.
    """
    words = heads = arcs = content = gold_content = found_content = real = real_heads = 0
    labelled = True
    for gold, found in pairs:
        if gold.heads is None or found.heads is None:
            raise InputError("expected sentences with heads, to compare with one another")
        if len(gold) != len(found):
            raise InputError(
                f"expected the same words, there are {len(gold)} in one sentence, {len(found)} in the other"
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
    """How good a model's trees are, punctuation included: heads, and relations where there are any.

    Parameters
    ----------
    name
        From ``accuracy``, ``las`` or ``clas`` to the figure's name.
    """
    figures = [Figure(name("accuracy"), reached.uas, "%", sentences, "heads, punctuation included")]
    if reached.las is not None and reached.clas is not None:
        figures += [
            Figure(name("las"), reached.las, "%", sentences, "heads and relations"),
            Figure(name("clas"), reached.clas, "%", sentences, "the same, of content words"),
        ]
    return figures


def _universal(sentence: Sentence) -> list[str]:
    """Relations without what treebanks add after a colon."""
    return [relation.partition(":")[0] for relation in sentence.relations or ()]
