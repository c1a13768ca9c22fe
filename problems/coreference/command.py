"""Coreference clustering on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from colgen.result import Result
from colgen.template import Template
from problems.coreference.demo import five_cycle, karate_club, random_text
from problems.coreference.experiment import bench_coreference
from problems.coreference.instance import Cluster, Instance
from problems.coreference.reading import read_instance, score_instance
from problems.coreference.template import Coreference
from problems.coreference.training import train_from_folder

_SHOWN = 30
"""Clusters shown to people; the JSON holds them all."""

_WIDTH = 60
"""Of a mention's text, in characters."""


def _lines(instance: Instance, result: Result) -> list[str]:
    clusters = _largest_first(result.answer)
    several = [cluster for cluster in clusters if len(cluster) > 1]
    lines = [f"{len(cluster):>4}  {_named(instance, cluster)}" for cluster in several[:_SHOWN]]
    if len(several) > _SHOWN:
        lines.append(f"and {len(several) - _SHOWN:,} more clusters (--json writes all of them)")
    alone = len(clusters) - len(several)
    lines.append(f"{len(several):,} clusters of two or more, {alone:,} of one, {instance.num_mentions:,} mentions")
    return lines


def _named(instance: Instance, cluster: Cluster) -> str:
    """The different names of a cluster's mentions, as many as fit a line or two."""
    names = list(dict.fromkeys(_text(instance, i) for i in cluster))
    shown: list[str] = []
    for name in names:
        if shown and sum(map(len, shown)) + len(name) > 2 * _WIDTH:
            break
        shown.append(name)
    return ", ".join(shown) + (f", ... ({len(names) - len(shown)} more)" if len(names) > len(shown) else "")


def _text(instance: Instance, mention: int) -> str:
    text = str(instance.labels[mention])
    return text if len(text) <= _WIDTH else text[: _WIDTH - 4] + " ..."


def _data(instance: Instance, result: Result) -> list[list[dict[str, Any]]]:
    return [
        [{"mention": i, "label": _plain(instance.labels[i])} for i in cluster]
        for cluster in _largest_first(result.answer)
    ]


def _plain(label: object) -> object:
    return label if isinstance(label, (str, int, float)) else str(label)


def _largest_first(clusters: Sequence[Cluster]) -> list[Cluster]:
    return sorted(clusters, key=lambda cluster: (-len(cluster), cluster))


TEMPLATE = Template(
    name="coreference",
    title="Coreference, correlation clustering, clique partitioning: the best clustering of scored pairs",
    source="De Belder and Moens (2012)",
    read=read_instance,
    problem=Coreference,
    lines=_lines,
    data=_data,
    demo=(five_cycle, karate_club, random_text),
    benchmarks={"coreference": bench_coreference},
    train=train_from_folder,
    score=score_instance,
)
