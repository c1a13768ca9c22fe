"""Chains with any number of labels and scores distributed like those of a trained tagger."""

from __future__ import annotations

import numpy as np

from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.pairwise import Pairwise

_BEST = 10
"""Best labels per token whose scores are kept. Their lead over the others decides how much is pruned."""


def resize_labels(instance: ChainInstance, num_labels: int, seed: int) -> ChainInstance:
    """Return the chains of an instance with another number of labels.

    Every new label copies the transitions of an old one. The ten best labels of a token get the scores of the ten best
    old labels, in the order of the labels they copy. The other scores follow the quantiles of the old ones.
    """
    rng = np.random.default_rng(seed)
    old = instance.num_labels
    stands_for = np.concatenate([rng.permutation(old), rng.integers(0, old, max(0, num_labels - old))])[:num_labels]
    ranked = -np.sort(-instance.scores, axis=1)
    best = min(_BEST, old, num_labels)
    places = np.concatenate([np.arange(best), np.linspace(best, old - 1, num_labels - best + 1)[1:]])
    below = np.minimum(places.astype(int), old - 1)
    above = np.minimum(below + 1, old - 1)
    share = (places - below).astype(instance.scores.dtype)
    quantiles = ranked[:, below] * (1 - share) + ranked[:, above] * share
    noise = rng.random((len(ranked), num_labels)) * 1e-3  # breaks ties between copies of the same label
    order = np.argsort(-(instance.scores[:, stands_for] + noise), axis=1, kind="stable")
    scores = np.empty((len(ranked), num_labels), dtype=instance.scores.dtype)
    np.put_along_axis(scores, order, quantiles.astype(instance.scores.dtype), axis=1)
    table = np.ascontiguousarray(instance.pairwise.tables[0][np.ix_(stands_for, stands_for)])
    return ChainInstance(instance.forest, scores, Pairwise(table))


def first_chains(instance: ChainInstance, count: int) -> ChainInstance:
    """Return the first chains of an instance."""
    starts = instance.forest.starts[: count + 1]
    end = int(starts[-1])
    forest = instance.forest._replace(
        starts=starts, **{name: getattr(instance.forest, name)[:end] for name in instance.forest._fields[1:]}
    )
    return ChainInstance(forest, instance.scores[:end], instance.pairwise, instance.labels, instance.nodes[:end])
