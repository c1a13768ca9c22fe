"""MAP inference in chains and trees by column generation: the problem class, and functions that need no class."""

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
from colgen.problems.chain_map.kernels.tree_labels import have_labelling, score_labels, scores_match
from colgen.problems.chain_map.labellings import LabelledSolution, Labellings
from colgen.problems.chain_map.master import ChainMaster
from colgen.problems.chain_map.pairwise import Pairwise, as_scores
from colgen.problems.chain_map.pricing import PairPricing
from colgen.problems.chain_map.proof import ChainCertifier
from colgen.problems.chain_map.pruning import NormalForm, normal_form, prune_normal_form
from colgen.problems.chain_map.sweeping import OneSweep, SweepMaster, SweepPricing
from colgen.solvers.arrays import ArrayError, as_booleans, as_integers
from colgen.solvers.chains.forest import NONE
from colgen.stabilization import NoStabilization

Ints = NDArray[np.int32]

REDUCED_COSTS = ("both", "forward", "split")
"""The dual values at which pairs are priced."""


class ChainMAP(Problem):
    """Find the best labelling of each chain or tree of an instance.

    Parameters
    ----------
    instance
        The instance to label.
    start
        The initial domains. ``"sweep"``: all labels that a best labelling may need. Labels are then priced while the
        first messages are passed, and no further rounds are needed. A number k: the k labels with the best local
        scores, extended by rounds of pricing; k = 1 is the published algorithm. An array with one label per node: these
        labels, also extended by rounds of pricing.
    reduced_cost
        For rounds of pricing: ``"both"`` averages the reduced costs of messages from both ends, equation (12).
        ``"forward"`` uses one direction, equation (8). ``"split"`` halves local scores between edges, equation (9),
        with the same results as ``"forward"``.
    prune
        For rounds of pricing: first forbid labels that bounds on their scores exclude, by rule (14).
    gap
        For rounds of pricing: stop a tree when its bound exceeds its value by at most this share of the value.
    margin
        With a sweep: also find the second best labelling of each tree, if it loses at most this; inf for any loss.

    Raises
    ------
    InputError
        If an option is invalid.

    Notes
    -----
    Trees without a labelling of finite score have ``labels`` -1 and ``values`` -inf in the answer and add nothing to
    the objective. The problem is infeasible if no tree has a labelling. Equations and rule (14) are those of Belanger
    et al. (2012).
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
        self.start = _parse_start(instance, start)
        if reduced_cost not in REDUCED_COSTS:
            raise InputError(f"reduced_cost must be one of {', '.join(REDUCED_COSTS)}, not {reduced_cost!r}")
        if not gap >= 0:
            raise InputError(f"gap must be a non-negative number, not {gap}")
        if margin is not None and not margin >= 0:
            raise InputError(f"margin must be a non-negative number, inf or None, not {margin}")
        if margin is not None and self.start is not None:
            raise InputError(f"margin={margin} (second best labellings) requires start='sweep'")
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
        """Raise InputError, because runs of this problem cannot be saved in checkpoints."""
        raise InputError(
            f"{type(self).__name__} does not support checkpoints: each chain or tree is solved in one pass, so "
            "there is nothing to resume; remove the checkpoint argument"
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
            stabilization=NoStabilization(),  # a round costs less than smoothing could save
            bounding=OneSweep() if self.start is None else ColumnGeneration(),
            heuristics=(),  # solutions of the restricted master problem are integral
        )

    def certifier(self) -> Certifier:
        return ChainCertifier(self.instance, self.answer)

    def labellings(self) -> Labellings:
        """Return the labellings and bounds of the last run, including trees without a labelling yet.

        Raises
        ------
        InputError
            If the problem has not been solved.
        """
        found = self._master.labellings() if self._master else self._sweep.found if self._sweep else None
        if found is None:
            raise InputError("labellings() needs a solved problem; call solve first")
        return found

    def _model(self, budget: Budget) -> NormalForm:
        """Return the normal form of the instance, which is priced; pruned if ``prune``."""
        normal = normal_form(self.instance, budget)
        budget.require()
        return prune_normal_form(self.instance, normal, budget) if self.prune else normal

    def check(self, answer: Labellings) -> float:
        """Return the sum of the trees' scores after checking every label.

        If a tree has no labels in the answer, a search verifies that it has no labelling of finite score.

        Raises
        ------
        InfeasibleAnswerError
            If labels are out of range or forbidden, a tree with a labelling has none, or a tree's value is wrong.
        """
        instance = self.instance
        labels, starts = np.asarray(answer.labels), instance.forest.starts
        if labels.shape != (instance.forest.num_nodes,) or not np.issubdtype(labels.dtype, np.integer):
            raise InfeasibleAnswerError(
                f"expected {instance.forest.num_nodes} integer labels, got an array of shape {labels.shape} and type "
                f"{labels.dtype}"
            )
        given, rows = answer.values, instance.pairwise.rows
        alike = labels.dtype == np.int32 and given.dtype == np.float64 and given.shape == (instance.num_trees,)
        if alike and scores_match(instance.forest, instance.scores, rows, labels, given):
            return float(given.sum())  # the usual case: everything is verified
        if labels.min() < NONE or labels.max() >= instance.num_labels:
            raise InfeasibleAnswerError(
                f"expected labels from 0 to {instance.num_labels - 1}, got {labels.min()} to {labels.max()}"
            )
        values = np.empty(instance.num_trees)
        score_labels(instance.forest, instance.scores, rows, labels.astype(np.int32, copy=False), values)
        missing = np.flatnonzero(values == -np.inf)
        for tree in missing[np.maximum.reduceat(labels, starts[:-1])[missing] != NONE].tolist():
            raise InfeasibleAnswerError(
                f"the labelling of tree {tree} has a forbidden label or pair, or has no label at some nodes"
            )
        for tree in missing[have_labelling(instance.forest, instance.scores, rows, missing)].tolist():
            raise InfeasibleAnswerError(f"tree {tree} has no labels, but it has a labelling of finite score")
        with np.errstate(invalid="ignore"):  # -inf minus -inf; equal values are allowed below
            difference = np.abs(values - answer.values)
        near = TOLERANCES.pruning * np.maximum(np.abs(values), instance.scale) + instance.rounding
        wrong = (values != answer.values) & ~(difference <= near)
        for tree in np.flatnonzero(wrong).tolist():
            raise InfeasibleAnswerError(
                f"the labelling of tree {tree} has score {values[tree]:.10g}, but its stated value is "
                f"{answer.values[tree]:.10g}"
            )
        return float(values[values > -np.inf].sum())

    def answer(self, solution: Solution) -> Any:  # Labellings; a subclass may translate them
        if not isinstance(solution, LabelledSolution) or solution.labellings is None:
            raise InputError(f"expected a solution of this problem's own master problem, got {type(solution).__name__}")
        found = solution.labellings
        if self._master is None:
            return found
        # Later rounds may have lowered bounds only, or have found improvements too small to show in a sum over many
        # trees.
        latest = self._master.labellings()
        if (latest.values > found.values).any() and latest.is_complete:
            self.check(latest)
            return latest
        return dataclasses.replace(found, bounds=np.minimum(found.bounds, latest.bounds))


def _parse_start(instance: ChainInstance, start: int | str | ArrayLike) -> int | Ints | None:
    """Return the initial domains in the form that the master expects."""
    if isinstance(start, str):
        if start == "sweep":
            return None
    elif np.ndim(start) == 0:
        if isinstance(start, (int, np.integer)) and start >= 1:
            return int(start)
    else:
        labels = np.asarray(start)
        instance.values(labels)  # raises for invalid labels
        return labels.astype(np.int32)
    raise InputError(f"start must be 'sweep', a number of labels of at least 1, or one label per node, not {start!r}")


def certify(instance: ChainInstance, labels: ArrayLike, rounds: int = 1) -> Labellings:
    """Return given labellings, for example from beam search, with upper bounds on the best scores.

    Parameters
    ----------
    labels
        One per node. Trees without a labelling (label -1) only get a bound.
    rounds
        Maximum number of pricing rounds, at least 1. The first round gives a bound from the reduced costs at the
        messages of the given labels. Further rounds add better labels, until the bound equals the value of the best
        labelling.

    Returns
    -------
    Labellings
        The given labellings with values and bounds; ``gaps`` has the largest possible loss of each.
    """
    given = np.asarray(labels)
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, not {rounds}")
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
    """Return the best labellings of chains: ``decode(scores, transitions)[0]`` are the labels of one.

    Parameters
    ----------
    scores
        For one chain, shape (tokens, labels). For several, a list of such arrays, or one array of shape (chains,
        tokens, labels). Or a :class:`ChainInstance`.
    transitions
        Shape (labels, labels), or a :class:`Pairwise`, which computes its bounds once for many calls.
    lengths
        Tokens of each chain in an array of several; by default all.
    mask
        Mask of the positions that are tokens, shape (chains, tokens), instead of lengths. The tokens of a chain must
        come first.
    first, last
        Additional scores of the labels of the first and of the last token of each chain, shape (labels,).
    options
        Options of :class:`ChainMAP`.

    Returns
    -------
    Labellings
        Labellings in the order of the chains, with values and proved bounds.
    """
    if not isinstance(scores, (ChainInstance, list, tuple)):
        scores = as_scores(cast(ArrayLike, scores))
    several = not isinstance(scores, (ChainInstance, list, tuple)) and np.ndim(scores) == 3
    if not several and (lengths is not None or mask is not None):
        what = "lengths" if mask is None else "mask"
        raise InputError(f"{what}: expected scores of shape (chains, tokens, labels) with this argument")
    if isinstance(scores, ChainInstance):
        if first is not None or last is not None:
            raise InputError("first and last need scores as arrays, not as a ChainInstance")
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
    """Return the number of tokens of each chain according to a mask."""
    if lengths is not None:
        raise InputError("expected lengths or mask, got both")
    try:
        there = as_booleans(mask, "mask", shape=shape)
    except ArrayError as error:
        raise InputError(str(error)) from None
    counts = there.sum(axis=1)
    invalid = np.flatnonzero((there != (np.arange(shape[1]) < counts[:, None])).any(axis=1))
    if len(invalid):
        raise InputError(
            f"mask: the tokens of a chain must be its first positions, but those of chain {invalid[0]} are not"
        )
    return np.asarray(counts, dtype=np.int64)


def _with_ends(
    chains: Sequence[ArrayLike], first: ArrayLike | None, last: ArrayLike | None
) -> Sequence[NDArray[Any]] | Sequence[ArrayLike]:
    """Return the chains with ``first`` and ``last`` added to the scores of their first and last tokens."""
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
                        f"{name}: expected {own.shape[1]} scores, one per label, got the shape {scored.shape}"
                    )
                own[place] += scored
        found.append(own)
    return found


def _cut(scores: NDArray[Any], lengths: ArrayLike | None) -> list[NDArray[Any]]:
    """Return the chains of an array, each cut to its length."""
    if lengths is None:
        return list(scores)
    try:
        counted = as_integers(lengths, "lengths", shape=(len(scores),), low=1, high=scores.shape[1])
    except ArrayError as error:
        raise InputError(str(error)) from None
    return [own[:count] for own, count in zip(scores, counted.tolist(), strict=True)]
