"""Parse, price and cut on the engine: what a researcher copies or subclasses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike

from colgen import (
    BranchingRule,
    Column,
    Formulation,
    FormulationCache,
    Heuristic,
    HeuristicContext,
    InputError,
    NoStabilization,
    OnTemplateVariable,
    Pricing,
    Problem,
    Separation,
    Solution,
    Stabilization,
)
from colgen.columns import Key
from problems.dependency.sentence import Heads
from problems.grandparent_parsing.instance import Instance, PartScores, as_heads, tree_objective
from problems.grandparent_parsing.model import master
from problems.grandparent_parsing.pricing import GrandparentParts, Parts, SiblingParts
from problems.grandparent_parsing.separation import ArcGP, Cuts, arc_values
from solvers.arborescence import arborescence
from solvers.margin_updates import tree_triples

_SHAPES = FormulationCache()


class GrandparentParsing(Problem):
    """Second-order dependency parsing by column and row generation; fractional optima are closed by branching on arcs.

    The answer is the head of each token.

    Parameters
    ----------
    scores
        An instance, a lazy scorer, or an array of arc scores by head and modifier.
    grandparent_scores, sibling_scores
        If ``scores`` is an array: see :class:`~problems.grandparent_parsing.instance.Instance`.
    siblings
        Whether consecutive siblings are scored; by default if the scores say so.
    formulation
        ``"all"``, or ``"one_gp+no_gp"`` for that outer bound of the source's Table 2.
    connectivity
        ``"cuts"``, separated by minimum cuts; or the source's ``"flow"``.
    tighten
        Raise dual values before pricing.
    single_root
        Whether exactly one token must hang from the root; by default what the scores say.
    warm
        Start from the parts of the best first-order tree as well; False: from the source's initial parts alone.
    """

    def __init__(
        self,
        scores: PartScores | ArrayLike,
        grandparent_scores: ArrayLike | None = None,
        sibling_scores: ArrayLike | None = None,
        *,
        siblings: bool | None = None,
        formulation: str = "all",
        connectivity: str = "cuts",
        tighten: bool = True,
        single_root: bool | None = None,
        warm: bool = True,
    ) -> None:
        if isinstance(scores, PartScores):
            if grandparent_scores is not None or sibling_scores is not None:
                raise InputError("a scorer has the scores of its parts itself: give arrays, or a scorer, not both")
            self.scores: PartScores = scores
        else:
            given = [None if part is None else np.asarray(part) for part in (grandparent_scores, sibling_scores)]
            self.scores = Instance(np.asarray(scores), given[0], given[1], bool(single_root))
        self.tokens = len(self.scores)
        if siblings is None:
            siblings = _has_siblings(self.scores)
        if single_root is None:
            weights = getattr(self.scores, "weights", self.scores)
            single_root = bool(getattr(weights, "single_root", False))
        self.siblings = siblings
        self.single_root = single_root
        self.arc_formulation = formulation
        self.connectivity = connectivity
        self.warm = warm
        self.oracles: list[Parts] = []
        if self.tokens > 1:
            share = 0.5 if siblings else 1.0
            self.oracles.append(
                GrandparentParts(self.scores, rows=formulation == "all", tighten=share if tighten else 0.0)
            )
        if siblings:
            self.oracles.append(SiblingParts(self.scores, tighten=0.5 if tighten else 0.0))

    def master(self) -> pyo.ConcreteModel:
        return master(
            self.tokens,
            formulation=self.arc_formulation,
            connectivity=self.connectivity,
            siblings=self.siblings,
            single_root=self.single_root,
        )

    def formulation(self) -> Formulation:
        shape = (self.tokens, self.arc_formulation, self.connectivity, self.siblings, self.single_root)
        compiled = _SHAPES.get(shape, self.master)
        heads, modifiers = np.array(compiled.column_blocks["z"].indices).T
        scores = self.scores.arcs[heads, modifiers]
        missing = np.isneginf(scores)
        return compiled.with_data(costs={"z": np.where(missing, 0.0, scores)}, upper={"z": np.where(missing, 0.0, 1.0)})

    def pricing(self) -> Sequence[Pricing]:
        return tuple(self.oracles)

    def separation(self) -> Sequence[Separation]:
        rules: list[Separation] = []
        if self.connectivity == "cuts":
            rules.append(Cuts(self.tokens))
        if self.arc_formulation != "all":
            rules.append(ArcGP(self.tokens))
        return rules

    def stabilization(self) -> Stabilization:
        # Raised dual values are complementary to the master's own solution, not to smoothed ones.
        return NoStabilization()

    def branching(self) -> Sequence[BranchingRule]:
        return (OnTemplateVariable(),)

    def heuristics(self) -> Sequence[Heuristic]:
        return (Rounding(self),)

    def initial_columns(self) -> Iterable[Column]:
        """The source's: for each arc (p, c) the part whose grandparent is the root; first and last siblings."""
        arcs = ~np.isneginf(self.scores.arcs)
        columns: list[Column] = []
        for oracle in self.oracles:
            if isinstance(oracle, GrandparentParts):
                triples = [(0, p, c) for p, c in np.argwhere(arcs).tolist() if p > 0 and arcs[0, p]]
            else:
                triples = [t for h, m in np.argwhere(arcs).tolist() for t in ((h, h, m), (h, m, h))]
            columns += oracle.take(np.array(triples, dtype=np.int64).reshape(-1, 3))
        return columns

    def initial_answers(self) -> Iterable[Solution]:
        heads = self._first_tree() if self.warm else None
        if heads is not None:
            yield self.solution(heads)

    def _first_tree(self) -> Heads | None:
        """The best tree by the arcs' scores alone."""
        found = arborescence(self.scores.arcs, single_root=self.single_root)
        return None if found is None else as_heads(found[0])

    def solution(self, heads: Heads) -> Solution:
        """A tree as a solution of the master."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        columns: list[Column] = []
        for oracle in self.oracles:
            columns += oracle.take(tree_triples(vertices, 0 if oracle.kind == "grandparent" else 1))
        variables: dict[Key, float] = {("z", (head, m)): 1.0 for m, head in enumerate(heads, 1)}
        if self.connectivity == "flow":
            below = np.ones(self.tokens + 1)
            depth = [_depth(vertices, m) for m in range(self.tokens + 1)]
            for m in sorted(range(1, self.tokens + 1), key=lambda m: -depth[m]):
                variables["phi", (heads[m - 1], m)] = float(below[m])
                below[heads[m - 1]] += below[m]
        objective = sum(self.scores.arcs[head, m] for m, head in enumerate(heads, 1))
        objective += sum(column.cost for column in columns)
        integer = frozenset(key for key in variables if key[0] == "z")
        return Solution(float(objective), tuple((column, 1.0) for column in columns), variables, integer)

    def answer(self, solution: Solution) -> Heads:
        z = arc_values(solution, self.tokens)
        return tuple(z[:, 1:].argmax(axis=0).tolist())

    @property
    def scored(self) -> dict[str, int]:
        """How many parts of each kind have been scored so far."""
        return {oracle.kind: oracle.scored for oracle in self.oracles}

    @property
    def added(self) -> dict[str, int]:
        """How many columns of each kind have been made so far, the initial ones included."""
        return {oracle.kind: len(oracle.made) for oracle in self.oracles}

    def check(self, heads: Heads) -> float:
        """The score of a tree, recomputed."""
        return tree_objective(self.scores, heads)


def _has_siblings(scores: PartScores) -> bool:
    if isinstance(scores, Instance):
        return scores.sibling_scores is not None
    return "siblings" in getattr(getattr(scores, "weights", None), "parts", ("siblings",))


class Rounding(Heuristic):
    """The best arborescence of a fractional solution."""

    every = 1

    def __init__(self, problem: GrandparentParsing) -> None:
        self.problem = problem

    def search(self, context: HeuristicContext) -> Solution | None:
        problem = self.problem
        z = arc_values(context.relaxation, problem.tokens)
        arcs = problem.scores.arcs
        spread = np.ptp(arcs[~np.isneginf(arcs)]) + 1.0
        weights = np.where(np.isneginf(arcs), -np.inf, z + 1e-6 * arcs / spread)
        found = arborescence(weights, single_root=problem.single_root)
        return None if found is None else problem.solution(as_heads(found[0]))


def _depth(vertices: np.ndarray[tuple[int], np.dtype[np.int64]], vertex: int) -> int:
    depth = 0
    while vertex > 0:
        vertex = int(vertices[vertex])
        depth += 1
    return depth
