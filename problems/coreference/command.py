"""The command line of coreference clustering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import networkx as nx

from colgen import InputError
from colgen.cli.demonstration import Complete, demonstrations
from colgen.cli.option import Number, Option
from colgen.cli.template import Material, Solved, Template, Texts
from colgen.core.budget import Budget
from colgen.core.result import Termination
from colgen.core.stop import StopRule
from colgen.core.text import plural
from colgen.core.warm_start import WarmStart
from colgen.problems.coreference.baseline import all_link_in_highs
from colgen.problems.coreference.conll import conll_lines, parse_conll, read_conll
from colgen.problems.coreference.document import Cluster, Document
from colgen.problems.coreference.drawing import draw_clustering, draw_matrix
from colgen.problems.coreference.graphs import GRAPHS, MATRICES, SCORES, read
from colgen.problems.coreference.instance import (
    CoreferenceInstance,
    modularity,
    random,
    write_matrix,
)
from colgen.problems.coreference.learning import KINDS, MentionScorer
from colgen.problems.coreference.template import Coreference
from colgen.problems.coreference.training import train_from_folder
from colgen.solvers.linear.lp import LPStatus

_MAX_SHOWN = 30
"""Largest number of clusters in the report; the JSON output has all of them."""

_MAX_TEXT = 60
"""Largest length of a mention's text, in characters."""


def _lines(instance: CoreferenceInstance, answer: Sequence[Cluster]) -> list[str]:
    clusters = _largest_first(answer)
    several = [cluster for cluster in clusters if len(cluster) > 1]
    lines = [f"{len(cluster):>4}  {_named(instance, cluster)}" for cluster in several[:_MAX_SHOWN]]
    if len(several) > _MAX_SHOWN:
        lines.append(f"and {plural(len(several) - _MAX_SHOWN, 'more cluster')} (--json writes all of them)")
    alone = len(clusters) - len(several)
    mentions = plural(instance.num_mentions, "mention")
    lines.append(f"{plural(len(several), 'cluster')} of two or more, {alone:,} of one, {mentions}")
    if instance.constant:  # the objective lacks what single nodes contribute
        lines.append(f"modularity {instance.objective(answer) + instance.constant:.6f}")
    return lines


def _named(instance: CoreferenceInstance, cluster: Cluster) -> str:
    """Return the distinct names of a cluster's mentions, as many as fit in two lines."""
    names = list(dict.fromkeys(_text(instance, i) for i in cluster))
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + len(name) > 2 * _MAX_TEXT:
            break
        shown.append(name)
    return ", ".join(shown) + (f", ... ({len(names) - len(shown)} more)" if len(names) > len(shown) else "")


def _text(instance: CoreferenceInstance, mention: int) -> str:
    text = str(instance.labels[mention])
    return text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 4] + " ..."


def _data(instance: CoreferenceInstance, answer: Sequence[Cluster]) -> list[list[dict[str, Any]]]:
    return [
        [{"mention": i, "label": _plain(instance.labels[i])} for i in cluster] for cluster in _largest_first(answer)
    ]


def _plain(label: object) -> object:
    return label if isinstance(label, (str, int, float)) else str(label)


def _largest_first(clusters: Sequence[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=lambda cluster: (-len(cluster), cluster))


def _draw(instance: CoreferenceInstance, answer: Sequence[Cluster]) -> Any:
    return (draw_clustering if instance.document is not None else draw_matrix)(instance, answer)


# --- texts -----------------------------------------------------------------------------------------------------------


class Documents(Texts[Document]):
    """Documents in the CoNLL columns, scored by a trained classifier of pairs."""

    unit = "document"
    saved = MentionScorer
    solves_single = True
    options: ClassVar[Mapping[str, Option]] = {
        "scores": Option("probability (p - 1/2, the default) or log_odds", KINDS),
        "bias": Option("a number added to all scores, or 'tuned'; 0 by default", ("tuned",), Number.ANY),
        "document": Option("name of the document to solve, if a file has several; all of them by default"),
        "mentions": Option("cut the document after this many mentions", number=Number.WHOLE),
    }

    def __init__(self, model: Path, values: Mapping[str, Any]) -> None:
        super().__init__(model, values)
        self._scorer = MentionScorer.load(model)

    def read(self, material: Material) -> list[Document]:
        """Return all documents of a file or of the standard input."""
        if material.path is not None:
            return read_conll(material.path, skip=material.skip)
        documents = list(parse_conll(material.text.split("\n"), name=material.name, skip=material.skip))
        if not documents:
            raise InputError(f"{material.name}: expected a line '#begin document (NAME); part NUMBER', found none")
        return documents

    def choose(self, texts: Iterable[Document], source: str) -> Document | None:
        """Return the document named by the option; if several have this name, it is followed by the part."""
        name = self.values.get("document")
        if name is None:
            return super().choose(texts, source)
        documents = list(texts)
        names = [document.name for document in documents]
        names = [d.name if names.count(d.name) == 1 else f"{d.name};{d.part}" for d in documents]
        if name not in names:
            raise InputError(f"{source}: no document is named {name!r}; expected one of {', '.join(names)}")
        return documents[names.index(name)]

    def instance(self, text: Document) -> CoreferenceInstance:
        """Return the scores of a document."""
        kind, bias = self.values.get("scores", KINDS[0]), self.values.get("bias", 0.0)
        document = text.truncated(self.values["mentions"]) if "mentions" in self.values else text
        return self._scorer.instance(document, kind, bias=self._scorer.bias[kind] if bias == "tuned" else bias)

    def lines(self, instance: CoreferenceInstance, answer: Sequence[Cluster] | None) -> Sequence[str]:
        """Return the lines of a document with its clusters in the last column, or singletons if there is no answer."""
        assert instance.document is not None  # the instance was created from a document
        return conll_lines(instance.document, answer or [(mention,) for mention in range(instance.num_mentions)])

    def solve(self, template: Template, texts: Iterable[Document], stop: Sequence[StopRule]) -> Iterator[Solved]:
        """Solve the documents one after the other; a document without mentions has an empty answer."""
        for document in texts:
            if document.mentions:
                yield from super().solve(template, [document], stop)
            else:
                yield Solved(conll_lines(document, ()), [], Termination.OPTIMAL, 0.0, 0.0)


# --- demo ------------------------------------------------------------------------------------------------------------


class _FromScratch(Coreference):
    """Starts without an initial solution or contraction, so that all columns in the demo are generated."""

    plain = True

    def __init__(self, instance: CoreferenceInstance) -> None:
        super().__init__(instance, contracted=False)

    def warm_start(self, budget: Budget) -> WarmStart:
        super().warm_start(budget)  # computes the items
        return WarmStart(columns=[self.items.column((k,)) for k in range(len(self.items))])


def _complete(instance: CoreferenceInstance) -> Complete:
    found = all_link_in_highs(instance, 30.0)
    return None if found.values is None else float(found.objective), found.status is LPStatus.OPTIMAL


DEMO = demonstrations(
    lambda: modularity(nx.karate_club_graph(), name="karate club, 34 nodes: modularity without its constant"),
    lambda: CoreferenceInstance(random(24, 1).scores, "random scores, 24 mentions"),
    small=lambda: random(4, 0),
    problem=_FromScratch,
    brute_force="all-link program in HiGHS",
    complete=_complete,
    possible=lambda instance: 2**instance.num_mentions - 1,
)

TEMPLATE = Template(
    name="coreference",
    title="Coreference, correlation clustering, clique partitioning: the best clustering of scored pairs",
    source="De Belder and Moens (2012)",
    problem=Coreference,
    read=read,
    options={
        "graph": Option("how a graph is scored: by modularity (the default) or the weights of its edges", SCORES),
        "resolution": Option("resolution of the modularity; 1 by default", number=Number.ANY),
    },
    suffixes=(*MATRICES, *GRAPHS),
    example=lambda path: write_matrix(random(8, 0), path),
    lines=_lines,
    data=_data,
    draw=_draw,
    texts=Documents,
    train=train_from_folder,
    skips=True,
    demo=DEMO,
    compiling=20.0,
)
