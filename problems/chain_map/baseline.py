"""Baselines for column generation: Viterbi's algorithm, with and without rule (14), and beam search.

Rule (14) of Belanger et al. (2012) removes labels by bounds on their scores. All functions return
:class:`~colgen.problems.chain_map.Labellings`. Only :func:`viterbi_pruned` accepts trees.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from colgen.core.errors import InputError
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels import tree_labels, tree_pruning
from colgen.problems.chain_map.labellings import Labellings
from colgen.problems.chain_map.pairwise import Scores
from colgen.solvers.chains import beam
from colgen.solvers.chains import viterbi as dynamic


def viterbi(instance: ChainInstance) -> Labellings:
    """Return the best labellings of chains; the loop over all label pairs is vectorised."""
    tables = instance.pairwise.tables
    transitions = tables[0] if len(tables) == 1 else tables[instance.forest.table]
    labels, values = dynamic.viterbi(instance.scores, _starts(instance), transitions)
    return Labellings(instance.forest.starts, labels, values, values)


def viterbi_two_best(instance: ChainInstance) -> Labellings:
    """Return the best and the second best labellings of chains."""
    starts = _starts(instance)
    labels, values, others, second = dynamic.two_best(instance.scores, starts, _single_table(instance))
    runner_up = Labellings(starts, others, second, second)
    return Labellings(starts, labels, values, values, runner_up)


def viterbi_plain(instance: ChainInstance) -> Labellings:
    """Return the best labellings of chains by a compiled textbook loop over label pairs, without vector instructions.

    Most published speed-ups compare with this loop. It is not a strong baseline.
    """
    labels, values = dynamic.plain(instance.scores, _starts(instance), _single_table(instance))
    return Labellings(instance.forest.starts, labels, values, values)


def viterbi_pruned(instance: ChainInstance, margin: float | None = None) -> Labellings:
    """Return the best labellings of chains or trees, by Viterbi's algorithm after rule (14) has removed labels.

    Parameters
    ----------
    margin
        If given, also return second best labellings that lose less than this. The rule then keeps the labels they need.
    """
    forest, rows = instance.forest, instance.pairwise.rows
    domains = tree_pruning.prune_by_bounds(forest, instance.scores, instance.pairwise.tables, margin or 0.0)
    tree_pruning.fill_below(forest, instance.scores, rows, domains)
    labels = np.empty(forest.num_nodes, dtype=np.int32)
    values = np.empty(instance.num_trees)
    everything = np.arange(instance.num_trees)
    tree_labels.best_labels(forest, instance.scores, rows, domains, everything, labels, values)
    found = Labellings(forest.starts, labels, values, values)
    if margin is None:
        return found
    others, second = tree_labels.runner_up(forest, instance.scores, rows, domains)
    return dataclasses.replace(found, runner_up=Labellings(forest.starts, others, second, second))


def beam_search(instance: ChainInstance, width: int) -> Labellings:
    """Return labellings of chains found by beam search; their bounds are inf because nothing is proved."""
    if width < 1:
        raise InputError(f"width must be at least 1, not {width}")
    starts = _starts(instance)
    labels, values = beam.beam_search(instance.scores, starts, _single_table(instance), width)
    return Labellings(starts, labels, values, np.full(instance.num_trees, np.inf))


def _starts(instance: ChainInstance) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if not instance.is_chains:
        raise InputError("expected chains, not trees")
    return instance.forest.starts


def _single_table(instance: ChainInstance) -> Scores:
    if len(instance.pairwise.tables) > 1:
        raise InputError("expected one table of transitions for all steps")
    table: Scores = instance.pairwise.tables[0]
    return table
