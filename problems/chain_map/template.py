"""MAP in chains and trees by column generation: the problem that puts the rooms together, and a plain function."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import IterationLimit, Method, Problem, Sense, solve
from colgen.bounding.column_generation import ColumnGeneration
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES
from colgen.master.protocol import RestrictedMaster
from colgen.pricing.oracles import Pricing
from colgen.problems.chain_map.instance import ChainInstance
from colgen.problems.chain_map.kernels.tree_labels import are_scored, have_labellings, score_labels
from colgen.problems.chain_map.labellings import LabelledSolution, Labellings
from colgen.problems.chain_map.master import ChainMaster
from colgen.problems.chain_map.pairwise import Pairwise, as_scores
from colgen.problems.chain_map.pricing import PairPricing
from colgen.problems.chain_map.proof import ChainCertifier
from colgen.problems.chain_map.pruning import NormalForm, normal_form, pruned
from colgen.problems.chain_map.sweeping import OneSweep, SweepMaster, SweepPricing
from colgen.solvers.arrays import ArrayError, as_booleans, as_integers
from colgen.solvers.chains.forest import NONE
from colgen.stabilization import NoStabilization

Ints = NDArray[np.int32]

REDUCED_COSTS = ("both", "forward", "split")
"""Which dual values pairs are priced at."""


class ChainMAP(Problem):
    """The best labelling of each chain or tree of an instance.

    Parameters
    ----------
    instance
        What to label.
    start
        How domains begin.  ``"sweep"``: with all labels that a best labelling may need; pricing happens while the
        first messages are passed and leaves nothing for later rounds.  A number k: with the k labels of best local
        score, from where rounds of pricing make them grow: the published algorithm (k = 1).  An array of labels, one a
        node: with these alone, likewise.
    reduced_cost
        For rounds of pricing: ``"both"`` averages the reduced costs of messages from both ends, equation (12);
        ``"forward"`` takes one direction, equation (8); ``"split"`` halves local scores between edges, equation (9),
        which gives the same numbers as ``"forward"``.
    prune
        For rounds of pricing: forbid beforehand labels that rule (14) excludes.
    gap
        For rounds of pricing: finish a tree when its bound exceeds its value by no more than this share of the value.
    margin
        With a sweep: also find second best labellings that lose no more than this; inf: whatever they lose.

    Notes
    -----
    Trees without a labelling of finite score are reported in the answer (``labels`` -1, ``values`` -inf) and count
    nothing in the objective; the problem is infeasible if all are of this kind.

    Raises
    ------
    InputError
        If an option is not one of these.
    """

    def __init__(
        self,
        instance: ChainInstance,
        *,
        start: int | str | ArrayLike = "sweep",
        reduced_cost: str = "both",
        prune: bool = False,
        gap: float = 0.0,
        margin: float | None = None,
    ) -> None:
        self.start = _checked_start(instance, start)
        if reduced_cost not in REDUCED_COSTS:
            raise InputError(f"reduced_cost must be one of {', '.join(REDUCED_COSTS)}, not {reduced_cost!r}")
        if not gap >= 0:
            raise InputError(f"gap must be a number from 0 on, not {gap}")
        if margin is not None and not margin >= 0:
            raise InputError(f"margin must be a number from 0 on, inf or None, not {margin}")
        if margin is not None and self.start is not None:
            raise InputError("second best labellings (margin) need start='sweep'")
        self.instance = instance
        self.scale = instance.scale
        self.reduced_cost = reduced_cost
        self.prune = prune
        self.gap = gap
        self.margin = margin
        self._master: ChainMaster | None = None
        self._sweep: SweepPricing | None = None

    @property
    def identity(self) -> Any:
        """None: runs have no checkpoints."""
        raise InputError(
            f"{type(self).__name__} has no checkpoints: each of its chains and trees is solved in one pass, so that "
            "nothing is left to resume; leave the checkpoint out"
        )

    def master(self) -> RestrictedMaster:
        if self.start is None:
            return SweepMaster(Sense.MAXIMIZE)
        self._master = ChainMaster(self.instance, self.start, self.reduced_cost == "both", prepare=self._model)
        return self._master

    def pricing(self) -> Pricing:
        if self.start is not None:
            return PairPricing(self.instance.forest, self.reduced_cost, self.gap)
        self._sweep = SweepPricing(self.instance, self.margin)
        return self._sweep

    def method(self) -> Method:
        return Method(
            stabilization=NoStabilization(),  # a round costs less than what a smoothed one could save
            bounding=OneSweep() if self.start is None else ColumnGeneration(),
            heuristics=(),  # restricted masters have whole solutions
        )

    def certifier(self) -> Certifier:
        return ChainCertifier(self.instance, self.answer)

    def labellings(self) -> Labellings:
        """What the last run has found and proved, tree by tree, also where some trees have no labelling yet."""
        found = self._master.labellings() if self._master else self._sweep.found if self._sweep else None
        if found is None:
            raise InputError("expected a problem that was solved")
        return found

    def _model(self, budget: Budget) -> NormalForm:
        """What is searched by rounds of pricing."""
        normal = normal_form(self.instance, budget)
        budget.require()
        return pruned(self.instance, normal, budget) if self.prune else normal

    def check(self, answer: Labellings) -> float:
        """The sum of the trees' scores, after a look at every label.

        Trees without labels must have no labelling, which is found out by trying.

        Raises
        ------
        InfeasibleAnswerError
            If they have one, labels are out of range or forbidden, or a tree's value is another.
        """
        instance = self.instance
        labels, starts = np.asarray(answer.labels), instance.forest.starts
        if labels.shape != (instance.forest.num_nodes,) or not np.issubdtype(labels.dtype, np.integer):
            raise InfeasibleAnswerError(f"expected {instance.forest.num_nodes} labels, got an array of {labels.shape}")
        given, rows = answer.values, instance.pairwise.rows
        alike = labels.dtype == np.int32 and given.dtype == np.float64 and given.shape == (instance.num_trees,)
        if alike and are_scored(instance.forest, instance.scores, rows, labels, given):
            return float(given.sum())  # as nearly always: nothing is left to find out
        if labels.min() < NONE or labels.max() >= instance.num_labels:
            raise InfeasibleAnswerError(
                f"expected labels from 0 to {instance.num_labels - 1}, got {labels.min()} to {labels.max()}"
            )
        values = np.empty(instance.num_trees)
        score_labels(instance.forest, instance.scores, rows, labels.astype(np.int32, copy=False), values)
        missing = np.flatnonzero(values == -np.inf)
        for tree in missing[np.maximum.reduceat(labels, starts[:-1])[missing] != NONE].tolist():
            raise InfeasibleAnswerError(f"the labelling of tree {tree} has a forbidden label or pair, or lacks labels")
        for tree in missing[have_labellings(instance.forest, instance.scores, rows, missing)].tolist():
            raise InfeasibleAnswerError(f"tree {tree} has no labels, though there is a labelling")
        with np.errstate(invalid="ignore"):  # -inf less -inf, which is the same
            difference = np.abs(values - answer.values)
        near = TOLERANCES.pruning * np.maximum(np.abs(values), instance.scale) + instance.rounding
        wrong = (values != answer.values) & ~(difference <= near)
        for tree in np.flatnonzero(wrong).tolist():
            raise InfeasibleAnswerError(
                f"the labelling of tree {tree} is said to score {answer.values[tree]:.10g}; it has {values[tree]:.10g}"
            )
        return float(values[values > -np.inf].sum())

    def answer(self, solution: Solution) -> Any:  # Labellings; a subclass may say them in words
        if not isinstance(solution, LabelledSolution) or solution.labellings is None:
            raise InputError("expected a solution of this problem's own master")
        found = solution.labellings
        if self._master is None:
            return found
        # Later rounds may have lowered bounds and found nothing better, or what a sum over many trees does not show.
        latest = self._master.labellings()
        if (latest.values > found.values).any() and latest.is_whole:
            self.check(latest)
            return latest
        return dataclasses.replace(found, bounds=np.minimum(found.bounds, latest.bounds))


def _checked_start(instance: ChainInstance, start: int | str | ArrayLike) -> int | Ints | None:
    """How domains begin, as the master takes it."""
    if isinstance(start, str):
        if start == "sweep":
            return None
    elif np.ndim(start) == 0:
        if isinstance(start, (int, np.integer)) and start >= 1:
            return int(start)
    else:
        labels = np.asarray(start)
        instance.values(labels)  # refuses what is not a labelling
        return labels.astype(np.int32)
    raise InputError(f"start must be 'sweep', a number of labels, 1 or more, or a label for each node, not {start!r}")


def certify(instance: ChainInstance, labels: ArrayLike, rounds: int = 1) -> Labellings:
    """How far given labellings, of beam search say, can be from the best: their values, and bounds on all others.

    Parameters
    ----------
    labels
        One a node; trees without a labelling (label -1) get a bound only.
    rounds
        Rounds of pricing, 1 or more: the first bounds by the reduced costs at the messages of the given labels alone;
        further ones let better labels in, and end where the bound is the best labelling's value.

    Returns
    -------
    Labellings
        The given ones; ``gaps`` says what each may lose.
    """
    given = np.asarray(labels)
    if rounds < 1:
        raise InputError(f"rounds must be 1 or more, not {rounds}")
    known = np.where(given < 0, instance.scores.argmax(axis=1), given)
    values = instance.values(known)
    values[np.minimum.reduceat(given, instance.forest.starts[:-1]) < 0] = -np.inf
    problem = ChainMAP(instance, start=known)
    solve(problem, stop=IterationLimit(rounds))
    return Labellings(instance.forest.starts, given.astype(np.int32), values, problem.labellings().bounds)


def decode(
    scores: ArrayLike | Sequence[ArrayLike] | ChainInstance,
    transitions: ArrayLike | Pairwise | None = None,
    *,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    first: ArrayLike | None = None,
    last: ArrayLike | None = None,
    **options: Any,
) -> Labellings:
    """Best labellings of chains: ``decode(scores, transitions)[0]`` are the labels of one.

    Parameters
    ----------
    scores
        Of one chain, shape (tokens, labels); of several, a list of such arrays, or one array of shape (chains, tokens,
        labels); or an :class:`ChainInstance`.
    transitions
        Shape (labels, labels), or a :class:`Pairwise`, which saves computing its bounds anew in each call.
    lengths
        How many tokens each chain of an array of several has; by default all.
    mask
        In place of lengths: which places are tokens, shape (chains, tokens), those of each chain its first ones.
    first, last
        Scores of the label that a chain begins with, and of the one that it ends with, shape (labels,).
    options
        Of :class:`ChainMAP`.

    Returns
    -------
    Labellings
        With values and proved bounds, in the order of the chains.
    """
    if not isinstance(scores, (ChainInstance, list, tuple)):
        scores = as_scores(cast(ArrayLike, scores))
    several = not isinstance(scores, (ChainInstance, list, tuple)) and np.ndim(scores) == 3
    if not several and (lengths is not None or mask is not None):
        what = "lengths" if mask is None else "mask"
        raise InputError(f"{what}: expected scores of shape (chains, tokens, labels) to go with them")
    if isinstance(scores, ChainInstance):
        if first is not None or last is not None:
            raise InputError("first, last: expected arrays of scores to go with them, not an Instance")
        instance = scores
    elif transitions is None:
        raise InputError("expected transitions of shape (labels, labels)")
    elif several:
        counts = lengths if mask is None else _lengths(mask, lengths, np.shape(scores)[:2])
        instance = ChainInstance.from_chains(_with_ends(_cut(np.asarray(scores), counts), first, last), transitions)
    elif isinstance(scores, (list, tuple)) and len(scores) and np.ndim(scores[0]) == 2:
        instance = ChainInstance.from_chains(_with_ends(scores, first, last), transitions)
    else:
        instance = ChainInstance.from_chain(_with_ends([scores], first, last)[0], transitions)
    problem = ChainMAP(instance, **options)
    solve(problem)
    return problem.labellings()


def _lengths(mask: ArrayLike, lengths: ArrayLike | None, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """How many tokens a mask says that each chain has."""
    if lengths is not None:
        raise InputError("expected lengths or a mask, not both")
    try:
        there = as_booleans(mask, "mask", shape=shape)
    except ArrayError as error:
        raise InputError(str(error)) from None
    counts = there.sum(axis=1)
    late = np.flatnonzero((there != (np.arange(shape[1]) < counts[:, None])).any(axis=1))
    if len(late):
        raise InputError(f"mask: expected a chain's tokens to be its first places, those of chain {late[0]} are not")
    return np.asarray(counts, dtype=np.int64)


def _with_ends(
    chains: Sequence[ArrayLike], first: ArrayLike | None, last: ArrayLike | None
) -> Sequence[NDArray[Any]] | Sequence[ArrayLike]:
    """Chains whose first and last tokens have the scores of what they begin and end with as well."""
    if first is None and last is None:
        return chains
    found = []
    for chain in map(as_scores, chains):
        if chain.ndim != 2 or not len(chain):
            raise InputError(f"expected scores of shape (tokens, labels) for each chain, got the shape {chain.shape}")
        own = chain.copy()
        for end, place, name in ((first, 0, "first"), (last, -1, "last")):
            if end is not None:
                scored = as_scores(end, name)
                if scored.shape != own.shape[1:]:
                    raise InputError(
                        f"{name}: expected {own.shape[1]} scores, one a label, got the shape {scored.shape}"
                    )
                own[place] += scored
        found.append(own)
    return found


def _cut(scores: NDArray[Any], lengths: ArrayLike | None) -> list[NDArray[Any]]:
    """The chains of an array, each to its length."""
    if lengths is None:
        return list(scores)
    try:
        counted = as_integers(lengths, "lengths", shape=(len(scores),), low=1, high=scores.shape[1])
    except ArrayError as error:
        raise InputError(str(error)) from None
    return [own[:count] for own, count in zip(scores, counted.tolist(), strict=True)]
