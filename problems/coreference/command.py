"""Coreference clustering on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from colgen import solve
from colgen.cli.template import Material, Solved, Template, form_of
from colgen.core.result import Result, Termination
from colgen.core.stop import StopRule
from colgen.problems.coreference.clusters import Cluster
from colgen.problems.coreference.conll import conll_lines
from colgen.problems.coreference.demo import five_cycle, karate_club, random_text
from colgen.problems.coreference.document import Document
from colgen.problems.coreference.drawing import draw_clustering, draw_matrix
from colgen.problems.coreference.instance import CoreferenceInstance, random, read_matrix, write_matrix
from colgen.problems.coreference.reading import (
    OPTIONS,
    is_model,
    read_documents,
    read_instance,
    score_instance,
    scorer_of,
)
from colgen.problems.coreference.template import Coreference
from colgen.problems.coreference.training import train_from_folder

_SHOWN = 30
"""Clusters shown to people; the JSON holds them all."""

_WIDTH = 60
"""Of a mention's text, in characters."""


def _lines(instance: CoreferenceInstance, result: Result) -> list[str]:
    clusters = _largest_first(result.answer)
    several = [cluster for cluster in clusters if len(cluster) > 1]
    lines = [f"{len(cluster):>4}  {_named(instance, cluster)}" for cluster in several[:_SHOWN]]
    if len(several) > _SHOWN:
        lines.append(f"and {len(several) - _SHOWN:,} more clusters (--json writes all of them)")
    alone = len(clusters) - len(several)
    lines.append(f"{len(several):,} clusters of two or more, {alone:,} of one, {instance.num_mentions:,} mentions")
    return lines


def _named(instance: CoreferenceInstance, cluster: Cluster) -> str:
    """The different names of a cluster's mentions, as many as fit a line or two."""
    names = list(dict.fromkeys(_text(instance, i) for i in cluster))
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + len(name) > 2 * _WIDTH:
            break
        shown.append(name)
    return ", ".join(shown) + (f", ... ({len(names) - len(shown)} more)" if len(names) > len(shown) else "")


def _text(instance: CoreferenceInstance, mention: int) -> str:
    text = str(instance.labels[mention])
    return text if len(text) <= _WIDTH else text[: _WIDTH - 4] + " ..."


def _data(instance: CoreferenceInstance, result: Result) -> list[list[dict[str, Any]]]:
    return [
        [{"mention": i, "label": _plain(instance.labels[i])} for i in cluster]
        for cluster in _largest_first(result.answer)
    ]


def _plain(label: object) -> object:
    return label if isinstance(label, (str, int, float)) else str(label)


def _largest_first(clusters: Sequence[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=lambda cluster: (-len(cluster), cluster))


def _draw(instance: CoreferenceInstance, result: Result) -> Any:
    return (draw_clustering if instance.document is not None else draw_matrix)(instance, result.answer)


def _solve_all(
    material: Material, model: Path, options: Mapping[str, str], stop: Sequence[StopRule]
) -> Iterator[Solved] | None:
    """The lines of all documents with their clusters in the last column; None if there is one, or one is chosen."""
    score = scorer_of(model, options)
    if "document" in options or len(documents := read_documents(material)) == 1:
        return None
    return (_solved(document, score, stop) for document in documents)


def _solved(document: Document, score: Callable[[Document], CoreferenceInstance], stop: Sequence[StopRule]) -> Solved:
    if not document.mentions:
        return Solved(conll_lines(document, ()), [], Termination.OPTIMAL, 0.0, 0.0)
    instance = score(document)
    document = document.truncated(instance.num_mentions)
    result = solve(Coreference(instance), stop=stop)
    clusters = result.answer if result.answer is not None else [(mention,) for mention in range(instance.num_mentions)]
    data = None if result.answer is None else _data(instance, result)
    lines = conll_lines(document, clusters)
    return Solved(lines, data, result.termination, result.objective, result.dual_bound)


TEMPLATE = Template(
    name="coreference",
    title="Coreference, correlation clustering, clique partitioning: the best clustering of scored pairs",
    source="De Belder and Moens (2012)",
    read=read_instance,
    problem=Coreference,
    lines=_lines,
    data=_data,
    draw=_draw,
    demo=(five_cycle, karate_club, random_text),
    compiling=20.0,
    train=train_from_folder,
    skips=True,
    score=score_instance,
    score_options=OPTIONS,
    solve_all=_solve_all,
    is_model=is_model,
    form=form_of(read_matrix),
    example=lambda path: write_matrix(random(8, 0), path),
    suffix=".npz",
)
