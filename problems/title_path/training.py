"""``colgen train title_path``: train a model on a folder of sections with titles, and measure its ROUGE-L.

Source: C.-Y. Lin, *ROUGE: a package for automatic evaluation of summaries*, Text Summarization Branches Out (2004).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import NamedTuple

from colgen.cli.template import Figure, TrainedModel, TrainOptions
from colgen.problems.title_path.baseline import exact
from colgen.problems.title_path.instance import PathInstance
from colgen.problems.title_path.learning import TitleModel, train
from colgen.problems.title_path.outcome import PathResult
from colgen.problems.title_path.sections import Section, read_sections, split
from colgen.problems.title_path.selection import log_loss
from colgen.problems.title_path.text import has_stemmer, words

_QUICK = 30
"""Sections of each file used for quick training."""


def train_from_folder(options: TrainOptions) -> TrainedModel:
    """Train on the first two thirds of each file's sections, and test on the last third.

    The training is deterministic, so the seed has no effect.
    """
    files = read_sections(options.data)
    learn, test = split([file[:_QUICK] for file in files] if options.quick else files)
    options.say(f"{len(learn)} sections for training, {len(test)} for testing")
    if not has_stemmer():
        options.say("no stemmer is installed, so each word is its own class; run: pip install colgen[learning]")
    # The source estimates bigrams from the body text of its complete corpus, without titles.
    model = train(learn, test, say=options.say)
    return TrainedModel(model, lambda: measure(model, learn, test))


def measure(model: TitleModel, learn: Sequence[Section], test: Sequence[Section]) -> list[Figure]:
    """Return figures of a model's quality on test sections."""
    loss, constant, count = log_loss(model.selection, test)
    graphs = [model.instance(one.text, one.num_content_words) for one in test]
    scores = [title_score(graph, exact(graph), one) for graph, one in zip(graphs, test, strict=True)]
    return [
        Figure("sections", len(learn), "", 1, "trained on"),
        Figure("words", len(model.language.vocabulary), "", 1, "different ones in the bigram model"),
        Figure("test.log_loss", loss, "nat", count, "mean over the stems of the texts: in the title or not"),
        Figure("test.log_loss_constant", constant, "nat", count, "constant prediction of the rate"),
        Figure("test.rouge_l", fmean(scores), "", len(scores), "mean F measure of the optimal titles"),
    ]


def title_score(instance: PathInstance, result: PathResult, section: Section) -> float:
    """Return the F measure of ROUGE-L of a path's title, zero without a path."""
    proposed = [] if result.path is None else instance.words(result.path)
    return rouge_l(proposed, words(section.title)).f


class RougeL(NamedTuple):
    """Lengths of the longest common subsequence relative to the true and the proposed title, and their F measure."""

    recall: float
    precision: float
    f: float


def rouge_l(proposed: Sequence[Hashable], true: Sequence[Hashable], beta: float = 1.0) -> RougeL:
    """Return ROUGE-L of one title.

    ``beta`` is the weight of recall: F = (1 + β²) R P / (R + β² P); 1 weighs both equally.
    """
    common = longest_common_subsequence(proposed, true)
    if not common:
        return RougeL(0.0, 0.0, 0.0)
    recall, precision = common / len(true), common / len(proposed)
    return RougeL(recall, precision, (1.0 + beta**2) * recall * precision / (recall + beta**2 * precision))


def longest_common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for k, y in enumerate(b, 1):
            diagonal, row[k] = row[k], diagonal + 1 if x == y else max(row[k], row[k - 1])
    return row[-1]
