"""The problem template of parse, price and cut, to copy or subclass."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colgen import (
    BranchingRule,
    Column,
    Columns,
    Duals,
    InputError,
    LinearMaster,
    Method,
    NoStabilization,
    Pricing,
    PricingResult,
    Problem,
    Result,
    Row,
    Rows,
    Sense,
    Separation,
    Solution,
)
from colgen.certificate.certifier import Certifier
from colgen.claims import is_plain
from colgen.core.budget import Budget
from colgen.core.columns import Key
from colgen.core.decision import Decision
from colgen.core.errors import InfeasibleAnswerError
from colgen.core.pool import Pool
from colgen.core.row_batch import RowBatch
from colgen.core.warm_start import Basis, WarmStart
from colgen.master.column_pool import NOWHERE, Origins
from colgen.master.linking import Linking
from colgen.master.program import SavedBasis
from colgen.master.protocol import LinkingRows, MasterSolution, NodeSwitch, Precision, RestrictedMaster
from colgen.problems.dependency.exact import TreeScores
from colgen.problems.dependency.features.factored_scores import tree_triples
from colgen.problems.dependency.proof import TreeCertifier
from colgen.problems.dependency.scorer import SentenceScorer
from colgen.problems.dependency.sentence import Heads, check_tree
from colgen.problems.grandparent_parsing.branching import OnArc, TreeArcFixing
from colgen.problems.grandparent_parsing.dual import ITERATIONS, CombinatorialDual
from colgen.problems.grandparent_parsing.instance import (
    Floats,
    GrandparentInstance,
    Ints,
    Mask,
    PartScores,
    as_heads,
    drop_forbidden_answer,
    from_scores,
    has_siblings,
    identity_of_scores,
    refuse_pairs,
    refuse_projective,
    tree_objective,
)
from colgen.problems.grandparent_parsing.kernels.deadlines import watching
from colgen.problems.grandparent_parsing.model import arc_ends, master
from colgen.problems.grandparent_parsing.pricing import (
    SLICE,
    Arcs,
    GrandparentParts,
    PartOracle,
    SiblingParts,
    TreeDuals,
    vertices_of,
)
from colgen.problems.grandparent_parsing.rounding import TreeRounding
from colgen.problems.grandparent_parsing.separation import ArcGP, TreeCuts, arc_values
from colgen.problems.grandparent_parsing.standard import StandardScores, is_single_root, standard_scores
from colgen.problems.grandparent_parsing.starting import FirstTree, begin_at, first_tree
from colgen.problems.grandparent_parsing.tightening import Tightening
from colgen.solvers.trees.arborescence import arborescence

_STARTS = ("dual", "tree", "parts")

_PART = 2.0**-10
"""Scores of parts can be as small as this share of the unit; the linear program must resolve them."""


class GrandparentParsing(Problem):
    """Second-order dependency parsing by column and row generation, with branching on arcs.

    The answer is a tuple with the head of each token.

    Parameters
    ----------
    scores
        An instance, a lazy scorer, or an array of arc scores by head and modifier.
    grandparent_scores, sibling_scores
        If ``scores`` is an array: see :class:`~colgen.problems.grandparent_parsing.instance.GrandparentInstance`.
    siblings
        Whether consecutive siblings are scored; by default, if the scores include them.
    formulation
        ``"all"``, or ``"one_gp+no_gp"`` for that outer bound in Table 2 of Riedel et al. (2012).
    connectivity
        ``"cuts"``, separated by minimum cuts; or ``"flow"``, as in Riedel et al. (2012).
    start
        * ``"dual"``: solve the combinatorial dual first (:mod:`colgen.problems.grandparent_parsing.dual`).  If its
          bound exceeds its tree's score, the linear program starts with the tree's parts, the parts that its dual
          values do not price out, and the most promising arcs.  All other arcs are columns.
        * ``"tree"``: the parts of the best first-order tree, and all arcs.
        * ``"parts"``: the initial parts of Riedel et al. (2012), and all arcs.  Without sibling parts the first basis
          is that of the best first-order tree (:mod:`colgen.problems.grandparent_parsing.starting`).

        The default is ``"dual"`` if the dual covers the full relaxation: formulation ``"all"``, cuts, no sibling parts,
        and no subclass that may add rows or columns.  Otherwise it is ``"tree"``.
    tighten
        Raise dual values before pricing.
    single_root
        Whether exactly one token must be attached to the root; by default taken from the scores.
    """

    plain: ClassVar[bool] = True
    """Whether this class solves the template's own program; each subclass declares it for itself."""

    iterations = ITERATIONS
    """Limit on iterations of the combinatorial dual."""

    takes_pairs = False
    """Whether the class supports scores of arbitrary modifier pairs, and projective trees."""

    projective = False
    """Whether the tree must be projective."""

    def __init__(
        self,
        scores: PartScores | ArrayLike,
        grandparent_scores: ArrayLike | None = None,
        sibling_scores: ArrayLike | None = None,
        *,
        siblings: bool | None = None,
        formulation: str = "all",
        connectivity: str = "cuts",
        start: str | None = None,
        tighten: bool = True,
        single_root: bool | None = None,
    ) -> None:
        if isinstance(scores, GrandparentInstance | SentenceScorer | PartScores):
            if grandparent_scores is not None or sibling_scores is not None:
                raise InputError(
                    "a scorer includes the scores of its parts: pass either a scorer or arrays of scores, not both"
                )
            self.scores: PartScores = scores
        else:
            given = [None if part is None else np.asarray(part) for part in (grandparent_scores, sibling_scores)]
            self.scores = GrandparentInstance(np.asarray(scores), given[0], given[1], bool(single_root))
        if not self.takes_pairs:
            refuse_projective(self.scores, type(self).__name__)
            refuse_pairs(self.scores, type(self).__name__)
        self.tokens = len(self.scores)
        if siblings is None:
            siblings = has_siblings(self.scores)
        if single_root is None:
            single_root = is_single_root(self.scores)
        self.siblings = siblings
        self.single_root = single_root
        self.arc_formulation = formulation
        self.connectivity = connectivity
        self.tighten = tighten
        self.start = self._check_start(start)
        self.dual: CombinatorialDual | None = None
        self.first: FirstTree | None = None
        self._master: _Master | None = None
        self._budget = Budget()

    def _check_start(self, start: str | None) -> str:
        """Return the start; raise where the combinatorial dual would bound a different program."""
        plain = self.arc_formulation == "all" and self.connectivity == "cuts" and not self.siblings
        if start is None:
            return "dual" if plain and is_plain(self) else "tree"
        if start not in _STARTS:
            raise InputError(f"start must be one of {', '.join(_STARTS)}, not {start!r}")
        if start == "dual" and not plain:
            raise InputError("start='dual' needs siblings=False, formulation='all' and connectivity='cuts'")
        if start == "dual" and not is_plain(self):
            raise InputError(
                f"start='dual' is not available in the subclass {type(self).__name__}: choose 'tree' or 'parts', or "
                "declare plain = True in the class if it solves the same program"
            )
        return start

    @property
    def identity(self) -> Any:
        settings = self.siblings, self.single_root, self.arc_formulation, self.connectivity, self.start, self.tighten
        return identity_of_scores(self.scores), settings, self.projective, self.iterations

    @cached_property
    def standard(self) -> StandardScores:
        """The standard scores, which are the costs of the columns."""
        return standard_scores(self.scores, single_root=self.single_root)

    @property
    def scale(self) -> float:  # type: ignore[override]
        return self.standard.unit

    @property
    def offset(self) -> float:
        return self.standard.constant

    @cached_property
    def present(self) -> Mask:
        """Arcs that are variables of the template, by head and modifier; the others are columns."""
        arcs = ~np.isneginf(self.scores.arcs)
        return arcs if self._feasible_dual is None else arcs & self._feasible_dual.candidates()

    @property
    def _feasible_dual(self) -> CombinatorialDual | None:
        """The combinatorial dual, if it was solved and found a tree."""
        return self.dual if self.dual is not None and self.dual.is_feasible else None

    @cached_property
    def _reached(self) -> Mask:
        """Arcs that the master contains or has contained; shared by the oracles."""
        reached: Mask = ~np.isneginf(self.scores.arcs)
        return reached

    @cached_property
    def oracles(self) -> list[Pricing]:
        """The oracles of arcs, grandparent parts and sibling parts that this problem needs."""
        parts = GrandparentParts(
            self.standard,
            rows=self.arc_formulation == "all",
            present=self._reached,
            single_root=self.single_root,
            batches=is_plain(self),
            charges=self.arc_formulation == "all" and self.start != "dual" and is_plain(self),
        )
        found: list[Pricing] = [parts]
        if self.tokens > 1 and self.start == "dual":
            found.insert(0, Arcs(parts, self._holds, single_root=self.single_root))
        if self.siblings:
            found.append(SiblingParts(self.standard, present=self._reached))
        return found

    @property
    def part_oracles(self) -> list[PartOracle]:
        return [oracle for oracle in self.oracles if isinstance(oracle, PartOracle)]

    def _holds(self, key: Key) -> bool:
        return self._has_program and self._master is not None and key in self._master.table.position

    def master(self) -> Rows | RestrictedMaster:
        return self.rows() if self._feasible_dual is None else _Master(self)

    def rows(self) -> Rows:
        """Return the rows over the arcs that are present, with their scores."""
        rows = self._all_rows().copy()
        rows.offset, rows.solved_by = self.offset, partial(_Master, self)
        scores = self.standard.arcs[arc_ends(self.tokens)]
        missing = np.isneginf(scores)
        rows.change_variables("z", cost=np.where(missing, 0.0, scores), upper=np.where(missing, 0.0, 1.0))
        return self._drop_absent(rows) if self.start == "dual" else rows

    def _all_rows(self) -> Rows:
        return master(
            self.tokens,
            formulation=self.arc_formulation,
            connectivity=self.connectivity,
            siblings=self.siblings,
            single_root=self.single_root,
        )

    def _drop_absent(self, filled: Rows) -> Rows:

        def keep_mask(keys: Sequence[tuple[str, Any]], blocks: Sequence[str]) -> Mask:
            return np.array([block not in blocks or self.present[index] for block, index in keys], dtype=np.bool_)

        return filled.subset(keep_mask(filled.row_keys, ("one_gp",)), keep_mask(filled.column_keys, ("z", "no_part")))

    def begin(self) -> Sequence[Row]:
        """Reset the oracles for a new master and return its initial cut rows."""
        self._reached[:] = self.present
        for oracle in self.oracles:
            if isinstance(oracle, Arcs):
                oracle.begin()
        if self._feasible_dual is None:
            return ()
        for oracle in self.part_oracles:
            if isinstance(oracle, GrandparentParts):
                oracle.store_scores(*self._feasible_dual.scored_parts())
        cuts = TreeCuts(self.tokens)  # these cuts prove the dual's bound
        return [cuts.row(members) for members in self._feasible_dual.sets()]

    def require(self) -> None:
        """Raise if the budget is spent, to stop the run."""
        self._budget.require()

    def pricing(self) -> Sequence[Pricing]:
        return tuple(self.oracles)

    def separation(self) -> Sequence[Separation]:
        rules: list[Separation] = []
        if self.connectivity == "cuts":
            rules.append(TreeCuts(self.tokens))
        if self.arc_formulation != "all":
            rules.append(ArcGP(self.tokens))
        return rules

    def method(self) -> Method:
        master = self._master
        return Method(
            # Raised dual values are complementary to the master's solution, not to smoothed dual values.
            stabilization=Tightening(master) if self.tighten and master is not None else NoStabilization(),
            heuristics=(TreeRounding(self),),
            reductions=() if master is None else (TreeArcFixing(master, self.rule),),
        )

    @property
    def rule(self) -> OnArc:
        return OnArc(lambda: self.present)

    def branching(self) -> Sequence[BranchingRule]:
        return (self.rule,)

    def certifier(self) -> Certifier:
        if self.siblings or not is_plain(self):  # the checker does not cover these programs
            return super().certifier()

        def scores() -> TreeScores:
            given = self.scores
            instance = given if isinstance(given, GrandparentInstance) else from_scores(given, siblings=False)
            return TreeScores(instance.arcs, instance.grandparent_scores, (), self.single_root, False)

        return TreeCertifier(getattr(self.scores, "name", ""), scores, self.answer)

    def warm_start(self, budget: Budget) -> WarmStart:
        self._budget = budget
        changed = not is_plain(self)
        if self.start == "dual" and not changed:
            with watching(lambda: budget.expired):
                self.dual = CombinatorialDual(self.standard, single_root=self.single_root, iterations=self.iterations)
            duals = TreeDuals(self.dual.pi)
            if not self.dual.is_feasible:
                return WarmStart(duals)
            found = self.dual.solution()
            if self.standard.known is not None:
                # The dual's tree may contain raised scores.  The known tree is better than any such tree.
                known = self.solution(self.standard.known)
                found = found if found.objective > known.objective else known
            return WarmStart(duals, (found,), self._first_columns())
        # The source starts without a tree.  Provide one if a time limit may strike first, or if scores were raised.
        free = budget.deadline == math.inf and self.standard.known is None
        if self.start == "parts" and (changed or free):
            return WarmStart(columns=self._first_columns())
        heads = self._first_tree()
        answers = () if heads is None else (self.solution(heads),)
        return WarmStart(None if changed else TreeDuals(None), answers, self._first_columns())

    def _first_columns(self) -> Iterable[Column]:
        """Yield or return the initial columns.

        These are parts that the combinatorial dual does not price out; or, as in Riedel et al. (2012), for each arc the
        part with the root as grandparent, and first and last siblings.
        """
        if self.start == "parts" and self.tokens > 1 and not self.siblings and is_plain(self):
            (oracle,) = self.part_oracles
            assert isinstance(oracle, GrandparentParts)
            blocks = {block: self._all_rows().row_blocks[block] for block in oracle.linked}
            parents, children = np.nonzero(self.present & self.present[0][:, None])
            triples = np.stack([np.zeros_like(parents), parents, children], axis=1)[parents > 0]
            heads = self._first_tree() if self.arc_formulation == "all" else None
            if heads is not None:
                self.first = first_tree(heads, oracle)
                near = np.concatenate([self.first.own, self.first.better])
                triples = np.concatenate([triples, near[near[:, 0] > 0]])  # parts of the root are included already
            rows = {name: (block.indices, block.positions) for name, block in blocks.items()}
            return oracle.batch(triples, rows)
        return self._first_single_columns()

    def _first_single_columns(self) -> Iterator[Column]:
        if self.start == "tree" or (self.start == "dual" and self._feasible_dual is None):
            return
        for oracle in self.part_oracles:
            if not isinstance(oracle, GrandparentParts):
                triples = [t for h, m in np.argwhere(self.present).tolist() for t in ((h, h, m), (h, m, h))]
            elif self.start == "parts":
                triples = [(0, p, c) for p, c in np.argwhere(self.present).tolist() if p > 0 and self.present[0, p]]
            else:
                known = [] if self._feasible_dual is None else self._feasible_dual.improving().tolist()
                triples = [(g, p, c) for g, p, c in known if self.present[g, p] and self.present[p, c]]
            yield from oracle.make_columns(np.array(triples, dtype=np.int64).reshape(-1, 3), self._budget)

    def _first_tree(self) -> Heads | None:
        """Return the known tree, or the best tree by arc scores alone."""
        if self.standard.known is not None:
            return self.standard.known
        found = arborescence(self.standard.arcs, single_root=self.single_root)
        return None if found is None else as_heads(found[0])

    def solution(self, heads: Heads) -> Solution:
        vertices = np.array([-1, *heads], dtype=np.int64)
        columns: list[Column] = []
        for oracle in self.oracles:
            if isinstance(oracle, Arcs):
                columns += [oracle.column((h, m)) for m, h in enumerate(heads, 1) if not self.present[h, m]]
            elif isinstance(oracle, PartOracle):
                columns += oracle.make_columns(tree_triples(vertices, 0 if oracle.kind == "grandparent" else 1))
        variables: dict[Key, float] = {("z", (h, m)): 1.0 for m, h in enumerate(heads, 1) if self.present[h, m]}
        integer = frozenset(variables)
        objective = sum(self.standard.arcs[h, m] for m, h in enumerate(heads, 1) if self.present[h, m])
        objective += sum(column.cost for column in columns) + self.standard.constant
        if self.connectivity == "flow":
            below = np.ones(self.tokens + 1)
            depth = [_depth(vertices, m) for m in range(self.tokens + 1)]
            for m in sorted(range(1, self.tokens + 1), key=lambda m: -depth[m]):
                variables["phi", (heads[m - 1], m)] = float(below[m])
                below[heads[m - 1]] += below[m]
        return Solution(float(objective), tuple((column, 1.0) for column in columns), variables, integer)

    def standard_score(self, heads: Heads) -> float:
        """Return the standard score of a tree; parts scored before are looked up."""
        vertices = np.array([-1, *heads], dtype=np.int64)
        total = self.standard.arcs[vertices[1:], np.arange(1, len(vertices))].sum()
        for oracle in self.part_oracles:
            total += oracle.score(tree_triples(vertices, 0 if oracle.kind == "grandparent" else 1)).sum()
        return float(total)

    def answer(self, solution: Solution) -> Heads:
        z = arc_values(solution, self.tokens)
        return tuple(z[:, 1:].argmax(axis=0).tolist())

    @property
    def scored(self) -> dict[str, int]:
        """Number of parts of each type that have been scored."""
        found = {oracle.kind: oracle.scored for oracle in self.part_oracles}
        if self._feasible_dual is not None and not self._has_program:
            found["grandparent"] += self._feasible_dual.scored
        return found

    @property
    def added(self) -> dict[str, int]:
        """Number of parts of each type in use: columns, or all parts that the combinatorial dual scored."""
        own = 0 if self.dual is None else self.dual.scored
        return {oracle.kind: max(len(oracle.made), own) for oracle in self.part_oracles}

    @property
    def _has_program(self) -> bool:
        return self._master is not None and self._master.has_program

    def finish(self, result: Result) -> Result:
        return drop_forbidden_answer(self.scores, result, siblings=self.siblings)

    def check(self, heads: Heads) -> float:
        """Return the score of a tree, recomputed after checking the tree and its arcs."""
        try:
            check_tree(heads, self.tokens, single_root=self.single_root)
        except InputError as error:
            raise InfeasibleAnswerError(str(error)) from error
        score = tree_objective(self.scores, heads, siblings=self.siblings)
        if score == -math.inf:
            raise InfeasibleAnswerError("the tree contains an arc whose score is -inf")
        return score


class _LazyRows(LinkingRows):
    """Rows of a master that builds its linear program on first use; dual values of trees do not need it."""

    def __init__(self, master: _Master) -> None:
        self._master = weakref.ref(master)

    def __len__(self) -> int:
        return 0

    def __contains__(self, key: object) -> bool:
        return key in self._delegate()

    def signed(self, duals: Any) -> Any:
        return duals if isinstance(duals, TreeDuals) else self._delegate().signed(duals)

    def guess(self, duals: Any) -> Any:
        return duals if isinstance(duals, TreeDuals) else self._delegate().guess(duals)

    def linking(self) -> Linking | None:
        return self._delegate().linking()

    def _delegate(self) -> LinkingRows:
        master = self._master()
        assert master is not None  # the master owns these rows
        master.build_program()
        return master.rows


class _LazyNode(NodeSwitch):
    """Nodes of a master that builds its linear program on first use."""

    def __init__(self, master: _Master) -> None:
        self._master = weakref.ref(master)
        self.begins_feasible = False

    def begin_feasible(self) -> None:
        self.begins_feasible = True

    def apply(self, decisions: Sequence[Decision]) -> None:
        self._delegate().apply(decisions)

    def restore(self, basis: SavedBasis | Basis) -> None:
        self._delegate().restore(basis)

    def _delegate(self) -> NodeSwitch:
        master = self._master()
        assert master is not None  # the master owns this node
        master.build_program()
        return master.node


class _Master(LinearMaster):
    """A linear master that is built when it is first needed; bounds from dual values of trees do not need it.

    Batches of a hundred thousand parts or more are priced and added in slices, so that the run can stop between slices
    when its budget is spent.
    """

    sense = Sense.MAXIMIZE

    def __init__(self, problem: GrandparentParsing, rows: Rows | None = None) -> None:
        self._problem = problem
        problem._master = self
        self._waiting: list[Column] = []
        self.node = _LazyNode(self)
        self.rows = _LazyRows(self)  # type: ignore[assignment]
        self._arcs: list[tuple[int, int, int]] = []
        self._seen = 0
        if rows is not None:
            self.build_program(rows)

    def __getattr__(self, name: str) -> Any:
        # An attribute of the linear master is missing because the program has not been built yet.
        if name.startswith("__") or self.has_program:
            raise AttributeError(name)
        self.build_program()
        return getattr(self, name)

    @property
    def has_program(self) -> bool:
        return "formulation" in vars(self)

    @property
    def is_built(self) -> bool:
        return self.has_program and super().is_built

    def build_program(self, rows: Rows | None = None) -> None:
        """Build the rows and columns; the default rows are the problem's."""
        begins_feasible = isinstance(self.node, _LazyNode) and self.node.begins_feasible
        cuts, rows = self._problem.begin(), self._problem.rows() if rows is None else rows
        super().__init__(rows, dual_first=True, scale=_PART * self._problem.standard.unit)
        if cuts:
            super().add((), cuts)
        self.add(self._waiting)
        if begins_feasible or self._problem.start != "dual":
            self.node.begin_feasible()  # trees of arcs from the root need no other parts

    def solve(self, budget: Budget | None = None) -> MasterSolution:
        if self._problem.first is not None and not self.is_built:
            begin_at(self, self._problem.first)
        return super().solve(budget)

    def pool(self, duals: Any) -> Pool | None:
        return super().pool(duals) if self.has_program else None

    @property
    def precision(self) -> Precision:  # type: ignore[override]
        standard = self._problem.standard
        return super().precision if self.has_program else Precision(standard.unit, standard.constant)

    @property
    def num_columns(self) -> int:
        return super().num_columns if self.has_program else len(self._waiting)

    def bound(self, duals: Any, pricing: Sequence[Pricing], results: Sequence[PricingResult]) -> float:
        if not isinstance(duals, TreeDuals):
            return super().bound(duals, pricing, results)
        return sum((result.total or 0.0 for result in results), self._problem.standard.constant)

    def find(self, columns: Sequence[Column]) -> NDArray[np.integer[Any]]:
        return super().find(columns) if self.has_program else np.full(len(columns), NOWHERE, dtype=np.int64)

    def _arc_columns(self) -> tuple[Sequence[Ints], Ints]:
        """Return heads and modifiers of the arcs in the master, and their column positions."""
        keys = self.table.position
        if self._problem.start != "dual":  # all arcs are variables of the template
            block = self.formulation.column_blocks["z"]
            return arc_ends(self._problem.tokens), block.positions
        if self._seen < len(keys):
            for key, position in itertools.islice(keys.items(), self._seen, None):
                if isinstance(key, tuple) and key[0] == "z":
                    self._arcs.append((*key[1], position))
            self._seen = len(keys)
            found = np.array(self._arcs, dtype=np.int64).T
            self._arc_arrays = (found[0], found[1]), found[2]
        return self._arc_arrays

    def _arc_places(self) -> Ints:
        """Return the column position of each arc by head and modifier, -1 where absent."""
        (heads, modifiers), positions = self._arc_columns()
        found = np.full((self._problem.tokens + 1,) * 2, -1)
        found[heads, modifiers] = positions
        return found

    def price(self, columns: Sequence[Column], duals: Duals) -> Floats:
        if len(columns) <= SLICE:
            return super().price(columns, duals)
        found = []
        for start in range(0, len(columns), SLICE):
            self._problem.require()
            found.append(super().price(columns[start : start + SLICE], duals))
        return np.concatenate(found)

    def add(self, columns: Sequence[Column], rows: Sequence[Row] = (), origins: Origins = -1) -> int:
        whose = np.broadcast_to(origins, len(columns))
        if not self.has_program and not rows and not (whose >= 0).any():
            self._waiting += columns
            return len(columns)
        batch = columns if isinstance(columns, Columns) else Columns.of(columns)
        added = self._add_slice(batch, rows, whose) if not len(batch) else 0
        for begin, end in itertools.pairwise(self._slices(whose)):
            if begin:
                self._problem.require()
            here = batch if end - begin == len(batch) else batch[begin:end]
            added += self._add_slice(here, rows, whose[begin:end])
            rows = ()
        return added

    def _slices(self, origins: Ints) -> Iterator[int]:
        """Yield the boundaries of slices of columns; no slice spans two oracles."""
        begin = 0
        for end in [*(np.flatnonzero(np.diff(origins)) + 1).tolist(), len(origins)]:
            yield from range(begin, end, SLICE)
            begin = end
        yield len(origins)

    def _add_slice(self, columns: Columns, rows: Sequence[Row], origins: Ints) -> int:
        added = super().add(columns, rows, origins)
        if self._problem.arc_formulation == "all":
            linked = self.rows.names.position  # includes the rows that came with the columns
            parts = [key for key in columns.keys or () if key is not None and key[0] == "grandparent"]
            self._link([key for key in parts if ("gp_arc", key[1]) not in linked])
        return added

    def _link(self, parts: Sequence[Key]) -> None:
        """Add the rows u_gpc ≤ z_gp of parts in the master."""
        if not parts:
            return
        position = self.table.position
        keys: list[Key] = [("gp_arc", key[1]) for key in parts]
        arcs = self._arc_places()
        ends = vertices_of([key[1] for key in parts], 3)
        entries = np.stack([arcs[ends[:, 0], ends[:, 1]], [position[key] for key in parts]], axis=1).ravel()
        values = np.tile([-1.0, 1.0], len(keys))
        self.rows.add_batch(RowBatch(keys, 2 * np.arange(len(keys) + 1), entries, values, upper=0.0))


def _depth(vertices: np.ndarray[tuple[int], np.dtype[np.int64]], vertex: int) -> int:
    depth = 0
    while vertex > 0:
        vertex = int(vertices[vertex])
        depth += 1
    return depth
