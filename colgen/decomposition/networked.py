"""Models with path blocks: branch, price and cut over paths that labelling prices."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from colgen.branching.rules import BranchingRule, OnSumOfVariables, RyanFoster
from colgen.branching.strong_branching import StrongBranching
from colgen.certificate.certifier import Certifier
from colgen.core.budget import Budget
from colgen.core.columns import Codec, Column, Key
from colgen.core.errors import InfeasibleAnswerError, InputError
from colgen.core.result import Result, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.warm_start import WarmStart
from colgen.cuts.separation import Separation
from colgen.decomposition.answers import Values, require_sum, step_of
from colgen.decomposition.decomposed import Decomposed
from colgen.decomposition.multicommodity import FlowModel
from colgen.decomposition.network_certificates import NetworkCertifier, can_certify
from colgen.decomposition.reading.compact_model import MASTER, CompactModel, Floats, Ints, Partition, PyomoSource
from colgen.decomposition.reading.identical_blocks import subproblems
from colgen.decomposition.splitting import Splitting
from colgen.enumeration import FewPathsLeft, PathEnumeration, PathListing
from colgen.heuristics import Diving, Heuristic, RestrictedMIP
from colgen.method import Method
from colgen.networks.block import Path, PathBlock
from colgen.networks.branching import ArcFixing, OnCosts, PathRules
from colgen.networks.flow_block import FlowBlock
from colgen.networks.graph import reached
from colgen.networks.heuristics import RuinAndRecreate
from colgen.networks.partitions import Partitions
from colgen.networks.pricing import LARGE, PathPricing
from colgen.networks.separation import AfterNumbers, ArcBounds, rank_one, rounded_capacities
from colgen.networks.statement import Paths, flow_columns
from colgen.networks.visits import VisitRows, visit_rows
from colgen.networks.windows import obstacles
from colgen.pricing.oracles import Pricing
from colgen.problem import Problem
from colgen.solvers.paths.acyclic import Acyclic
from colgen.stabilization import Wentges

_ROUNDING = 1e-9
"""A side that misses an integer by at most this is that integer."""


class PathValues(Values):
    """Values of a model's variables by name, and the paths that they are the sum of.

    Attributes
    ----------
    paths
        The paths in use, each with its number of uses and the levels of its resources at each vertex.
    """

    def __init__(self, compact: CompactModel, array: Floats, kept: Ints, paths: Sequence[UsedPath]) -> None:
        super().__init__(compact, array, kept)
        self.paths = tuple(paths)

    def __repr__(self) -> str:
        return f"PathValues({list(self.paths)})"


@dataclasses.dataclass(frozen=True)
class UsedPath:
    """A path of an answer.

    Attributes
    ----------
    graph
        Name of the path block.
    vertices
        Names of the visited vertices, with source and sink.
    arcs
        Numbers of the arcs in the user's graph.
    amount
        How often the path is used.
    levels
        Levels of each resource at the vertices after the source.
    """

    graph: str
    vertices: tuple[Hashable, ...]
    arcs: tuple[int, ...]
    amount: float
    levels: dict[str, tuple[float, ...]]

    def __repr__(self) -> str:
        times = "" if self.amount == 1.0 else f"{self.amount:g} × "
        return f"{times}{self.graph}: {' → '.join(map(str, self.vertices))}"


class NetworkModel(Decomposed):
    """A model with path blocks; other blocks of the model are priced as in :class:`Decomposed`.

    The answer maps the names of the model's variables to values; its attribute ``paths`` lists the paths in use,
    sorted by graph and arcs.
    """

    def __init__(self, splitting: Splitting, compact: CompactModel, *, recognize: bool = True) -> None:
        super().__init__(splitting, compact, recognize=recognize)
        self.blocks = splitting.paths
        steps = [self.objective_step, *(block.penalty_step for block in self.blocks if block.has_penalties)]
        known = [step for step in steps if step is not None]
        self.objective_step = step_of(np.array(known)) if len(known) == len(steps) else None
        for block, rows in zip(self.blocks, self.visits.of_vertex, strict=True):
            if self._all_integer:
                once = [row >= 0 and self._packing.get(self._keys[row]) == 1.0 for row in rows.tolist()]
                block.count_as_one(np.where(once, rows, -1))
            block.solver  # noqa: B018  # invalid rules are refused before any work

    # --- structure of the rows ---------------------------------------------------------------------------------------

    @cached_property
    def visits(self) -> VisitRows:
        """The rows that count visits of vertices."""
        return visit_rows(self.blocks, len(self.splitting.linking))

    @cached_property
    def _keys(self) -> list[Key]:
        return list(self.splitting.row_keys[: len(self.splitting.linking)])

    @cached_property
    def _packing(self) -> dict[Key, float]:
        """Upper sides of the rows that count visits and have no negative term; integers if the paths are."""
        splitting, f = self.splitting, self.compact.formulation
        negative = self._rows_with_negative_terms()
        found: dict[Key, float] = {}
        for row in self.visits.rows.tolist():
            side = float(f.row_upper[splitting.linking[row]])
            if math.isfinite(side) and side >= 0.0 and not negative[row]:
                found[self._keys[row]] = float(math.floor(side + _ROUNDING)) if self._all_integer else side
        return found

    def _rows_with_negative_terms(self) -> np.ndarray:
        """Return which linking rows have a term of another variable that may be negative."""
        splitting, f = self.splitting, self.compact.formulation
        others = np.ones(len(f.costs), dtype=np.bool_)
        for block in self.blocks:
            others[block.columns[block.columns >= 0]] = False
        entries = csr_array(self.compact.rows[splitting.linking, :])
        owner = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
        columns, data = entries.indices, entries.data
        least = np.where(data > 0.0, data * f.lower[columns], data * np.where(data < 0.0, f.upper[columns], 0.0))
        bad = others[columns] & (data != 0.0) & ~(least >= 0.0)
        return np.bincount(owner[bad], minlength=entries.shape[0]) > 0

    def _most(self, block: PathBlock, of_vertex: Ints) -> float:
        """Return an upper bound on the number of paths of a block: its count, or the visits that they share."""
        network = block.network
        sides = np.array([*(self._packing.get(key, -1.0) for key in self._keys), -1.0])
        tracked = (of_vertex >= 0) & (sides[of_vertex] >= 0)
        free = ~tracked[network.heads]
        if reached(network.num_vertices, network.tails[free], network.heads[free], network.source)[network.sink]:
            return block.count[1]
        return min(block.count[1], float(sides[np.unique(of_vertex[tracked])].sum()))

    @cached_property
    def _needed_bounds(self) -> tuple[Floats, ...]:
        """For each block the upper bounds of arcs that rows do not imply; infinite for the others."""
        found = []
        for block, of_vertex in zip(self.blocks, self.visits.of_vertex, strict=True):
            network = block.network
            side = np.full(network.num_vertices, math.inf)
            for vertex in np.flatnonzero(of_vertex >= 0).tolist():
                side[vertex] = self._packing.get(self._keys[of_vertex[vertex]], math.inf)
            most = block.count[1] if block.is_simple else math.inf  # a walk may use an arc several times
            implied = np.minimum(np.minimum(side[network.tails], side[network.heads]), most)
            upper = np.full(len(block.graph.tails), math.inf)
            needed = block.upper < implied
            upper[block.arc_of[needed]] = block.upper[needed]
            found.append(upper)
        return tuple(found)

    @property
    def _are_bounded(self) -> bool:
        return any(np.isfinite(upper).any() for upper in self._needed_bounds)

    @cached_property
    def _mirrors(self) -> list[Ints] | None:
        """For each block the arc that each arc becomes in a reversed path, if a path and its reverse share a column."""
        alike = self._all_integer and self.visits.complete and not self._are_bounded
        if not alike or any((rows >= 0).any() for rows in self._alternatives):
            return None
        found = [block.mirror for block in self.blocks]
        known = [mirror for mirror in found if mirror is not None]
        return known if len(known) == len(found) else None

    @cached_property
    def _paths(self) -> PathRules:
        return PathRules(self.blocks, self._mirrors)

    # --- parts -------------------------------------------------------------------------------------------------------

    @cached_property
    def oracles(self) -> tuple[PathPricing, ...]:
        """The oracles of the path blocks."""
        found = list[PathPricing]()
        for block, of_vertex in zip(self.blocks, self.visits.of_vertex, strict=True):
            visits = {int(v): self._keys[of_vertex[v]] for v in np.flatnonzero(of_vertex >= 0)}
            visits = {v: key for v, key in visits.items() if key in self._packing}  # cuts and pairs use no others
            key = self.splitting.count_key(block)
            once = [row for row, side in self._packing.items() if side == 1.0]
            mirror = None if self._mirrors is None else self._mirrors[len(found)]
            found.append(PathPricing(block, self._keys, key, visits, self._most(block, of_vertex), once, mirror))
        return tuple(found)

    def pricing(self) -> Sequence[Pricing]:
        return (*super().pricing(), *self._priced)

    @property
    def _priced(self) -> tuple[PathPricing, ...]:
        """The oracles of blocks that may have a path."""
        return tuple(oracle for oracle in self.oracles if oracle.multiplicity > 0.0)

    def separation(self) -> Sequence[Separation]:
        found: list[Separation] = [ArcBounds(self.blocks, self._needed_bounds)] if self._are_bounded else []
        if not self._all_integer or all(isinstance(block.solver, Acyclic) for block in self.blocks):
            return found  # labels would have to remember cuts, and nothing else
        cuts: list[Separation] = [*rounded_capacities(self.blocks, self._partitioned, self._paths.between)]
        for name in dict.fromkeys(key[0] for key in self._packing):
            sides = {key[1]: int(side) for key, side in self._packing.items() if key[0] == name and side > 0.0}
            if len(sides) > 2:
                cuts.append(rank_one(name, sides, self._visited(name)))
        if cuts and self._lists_paths:
            return [*found, AfterNumbers(self.blocks, *cuts, enough=FewPathsLeft(self._priced))]
        return [*found, AfterNumbers(self.blocks, *cuts)] if cuts else found

    @cached_property
    def _partitioned(self) -> list[Ints]:
        """For each block the row that exactly one visit covers, by vertex; -1 for none."""
        f, linking = self.compact.formulation, self.splitting.linking
        exact = (f.row_lower[linking] == 1.0) & (f.row_upper[linking] == 1.0)
        static = set(self.splitting.static.tolist())
        entries = csr_array(self.compact.rows[linking, :])
        pure = [static.isdisjoint(entries.indices[i:j].tolist()) for i, j in pairwise(entries.indptr.tolist())]
        exact = np.append(exact & np.array(pure, dtype=np.bool_), False)
        return [np.where(exact[each], each, -1) for each in self.visits.of_vertex]

    @property
    def _alternatives(self) -> list[Ints]:
        """For each block the row that exactly one visit of several vertices covers, by vertex; -1 for none."""
        return [np.where(np.bincount(each + 1)[each + 1] > 1, each, -1) for each in self._partitioned]

    @property
    def _all_integer(self) -> bool:
        return all(block.integer for block in self.blocks)

    def _visited(self, name: str) -> Any:
        """Return the function that lists the rows of one constraint that a path visits, in order."""
        of: list[dict[int, Hashable]] = []
        for block, of_vertex in zip(self.blocks, self.visits.of_vertex, strict=True):
            mine = {}
            for vertex in np.flatnonzero(of_vertex >= 0).tolist():
                key = self._keys[of_vertex[vertex]]
                if key[0] == name and key in self._packing:
                    mine[int(block.vertex_of[vertex])] = key[1]
            of.append(mine)

        def visited(column: Column) -> Sequence[Hashable]:
            path = column.structure
            if not isinstance(path, Path):
                return ()
            mine = of[path.number]
            heads = self.blocks[path.number].graph.heads[list(path.arcs)].tolist()
            return [mine[head] for head in heads if head in mine]

        return visited

    def branching(self) -> Sequence[BranchingRule]:
        number, *others = self._paths.rules()
        rules = [OnSumOfVariables(self._sums()), *super().branching(), number]
        if self._all_integer and any((each >= 0).any() for each in self._alternatives):
            rules.append(OnCosts(self.blocks, self._alternatives))
        rules += others
        for name in dict.fromkeys(key[0] for key in self._packing):
            keys = [key for key in self.splitting.compact.formulation.row_keys if key[0] == name]
            if self._all_integer and all(self._packing.get(key) == 1 for key in keys):
                rules.append(RyanFoster(name))
        return rules

    def _sums(self) -> dict[Key, tuple[Key, ...]]:
        """Return the integer variables outside of paths that have the same component and the same cost."""
        f = self.splitting.compact.formulation
        groups: dict[Key, list[Key]] = {}
        for k in self.splitting.static.tolist():
            if f.integer[k]:
                key = f.column_keys[k]
                groups.setdefault((f"sum of {key[0]}", float(f.costs[k])), []).append(key)
        return {name: tuple(keys) for name, keys in groups.items() if len(keys) > 1}

    def method(self) -> Method:
        """Return smoothing, strong branching, fixing of arcs, and enumeration where paths differ by visits alone.

        Otherwise the restricted master gets its time after dives, whose columns it combines: rosters of 16 nurses are
        then proved in a quarter of the time.  It also comes after dives if it is large: its first answers are poor, and
        an answer limits the work of dives.  For paths of one graph, ruin and recreate finds better answers than dives,
        without which routing takes 5% less time.
        """
        if not self._all_integer:
            return Method(heuristics=(Diving(2), RestrictedMIP(1.0)))
        lists, large = self._lists_paths, len(self._keys) > LARGE
        dives = Diving(2, proper=self._partitioned_block if large else None)
        unlisted = RestrictedMIP(1.0), dives, RestrictedMIP(5.0)
        partitions = self._partitions
        later = () if partitions is None else (RuinAndRecreate(self._improved, partitions.num_rows),)
        listed: tuple[Heuristic, ...] = (dives, RestrictedMIP(60.0)) if large else (RestrictedMIP(5.0), dives)
        if later and len(self.blocks) == 1 and not large:
            listed = (RestrictedMIP(5.0),)
        acyclic = any(isinstance(block.solver, Acyclic) for block in self.blocks)
        listing = (PathListing(self._priced),) if lists and not acyclic else ()
        return Method(
            stabilization=Wentges(0.5, after_rows=False),
            choice=StrongBranching(),
            heuristics=(*later, *(listed if lists else unlisted)),
            reductions=(*listing, ArcFixing(self._priced)),
            enumeration=PathEnumeration(self._priced) if lists else None,
        )

    @property
    def _partitioned_block(self) -> str | None:
        """The block of all rows that count visits if each needs exactly one, else None."""
        splitting, f = self.splitting, self.compact.formulation
        rows = splitting.linking[self.visits.rows]
        names = {self._keys[row][0] for row in self.visits.rows.tolist()}
        exact = (f.row_lower[rows] == 1.0).all() and (f.row_upper[rows] == 1.0).all()
        return str(names.pop()) if exact and len(names) == 1 else None

    @property
    def _lists_paths(self) -> bool:
        """Whether a path can be replaced by any other with the same visits, and costs the sum of its arcs."""
        return self._only_visits_count and not any(block.has_penalties for block in self.blocks)

    @property
    def _only_visits_count(self) -> bool:
        """Whether a path can be replaced by any other with the same visits."""
        once = all(side <= 1 for side in self._packing.values()) and len(self._packing) == len(self.visits.rows)
        inner = all(
            block.graph.is_acyclic or (np.delete(of, [block.network.source, block.network.sink]) >= 0).all()
            for block, of in zip(self.blocks, self.visits.of_vertex, strict=True)
        )
        return self.visits.complete and once and inner and not (self._are_bounded or self.splitting.subproblems)

    def warm_start(self, budget: Budget) -> WarmStart:
        """Return heuristic paths if rows that partition visits, and no others, link the paths."""
        if self.splitting.subproblems:
            return super().warm_start(budget)
        partitions = self._partitions
        if partitions is None:
            return WarmStart()
        columns, answers = dict[Path, Column](), list[Solution]()
        for paths in partitions.start(lambda: budget.expired):
            answer, mine = self._as_answer(paths)
            columns |= {column.structure: column for column in mine}
            answers += [] if answer is None else [answer]
        best = min(answers, key=lambda each: each.objective, default=None)
        return WarmStart(answers=() if best is None else (best,), columns=list(columns.values()))

    @cached_property
    def _partitions(self) -> Partitions | None:
        """The search for paths if only rows that partition visits link them."""
        alone = not (self.splitting.subproblems or len(self.splitting.static))
        if not (alone and self._all_integer and self.visits.complete):
            return None
        found = Partitions(self.blocks, self._partitioned)
        return found if found.are_supported else None

    def _improved(self, start: Solution | None, **search: Any) -> Solution | None:
        """Return paths improved by ruin and recreate, from nothing without a start."""
        assert self._partitions is not None
        paths = [] if start is None else [column.structure for column, _ in start.columns]
        return self._as_answer(self._partitions.improve(paths, **search))[0]

    def _as_answer(self, paths: Sequence[Path]) -> tuple[Solution | None, list[Column]]:
        """Return heuristic paths as an answer, None if they are none, and the columns of valid ones."""
        columns = [self.oracles[path.number].encode(path) for path in paths if not self._fault(path)]
        found = Solution(sum(column.cost for column in columns), [(column, 1.0) for column in columns])
        with contextlib.suppress(InfeasibleAnswerError):
            return dataclasses.replace(found, objective=self.check(self.answer(found))), columns
        return None, columns

    def _fault(self, path: Path) -> str | None:
        return self.blocks[path.number].fault(path.arcs)

    def certifier(self) -> Certifier:
        """Return a certifier of models whose paths partition rows."""
        f, linking = self.compact.formulation, self.splitting.linking
        once = bool((f.row_lower[linking] == 1.0).all() and (f.row_upper[linking] == 1.0).all())
        counted = self._all_integer and self._only_visits_count and len(self.visits.rows) == len(linking)
        if not (once and counted and not f.offset and not len(self.splitting.static) and can_certify(self.blocks)):
            return Problem.certifier(self)
        return self.certified_by(NetworkCertifier)

    def certified_by(self, certifier: Callable[..., NetworkCertifier]) -> NetworkCertifier:
        """Return a certifier of the paths, made by its class."""
        return certifier(self.compact.source.name, self.blocks, self.visits.of_vertex, self._keys, self._without_cuts)

    def _without_cuts(self) -> Problem:
        return _WithoutCuts(self.splitting, self.compact)

    # --- paths and answers -------------------------------------------------------------------------------------------

    def path(self, graph: str | Paths, vertices: Sequence[Hashable]) -> Column:
        """Return the column of a path, for ``WarmStart(columns=[...])``.

        Parameters
        ----------
        graph
            The path block or its name.
        vertices
            The vertices of the path from source to sink.  The cheapest of parallel arcs is taken.

        Raises
        ------
        InputError
            If the block does not contain the path; the message gives the reason.
        """
        block = next((block for block in self.blocks if graph is block.statement or graph == block.name), None)
        if block is None:
            raise InputError(f"path: expected one of {', '.join(block.name for block in self.blocks)}, not {graph!r}")
        numbers = block.arcs_through(vertices)
        fault = "it uses an arc that the graph does not have" if numbers is None else block.fault(numbers)
        if numbers is None or fault:
            raise InputError(f"path {tuple(vertices)} of {block.name!r}: {fault}")
        return self.oracles[block.number].encode(block.path(numbers))

    def answer(self, solution: Solution) -> PathValues:
        splitting = self.splitting
        values = splitting.compact.to_user(splitting.values(solution))
        paths = [
            (column.structure, amount) for column, amount in solution.columns if isinstance(column.structure, Path)
        ]
        paths.sort(key=lambda each: (each[0].number, each[0].arcs))
        return PathValues(self.compact, values, splitting.linking, [self._used(*each) for each in paths])

    def _used(self, path: Path, amount: float) -> UsedPath:
        block = self.blocks[path.number]
        steps = block.follow(path.arcs)
        assert steps is not None
        levels = {name: tuple(each[1] for each in values) for name, values in block.levels(steps).items()}
        return UsedPath(block.name, path.vertices, path.arcs, amount, levels)

    def finish(self, result: Result) -> Result:
        """Load the answer; the notes of an infeasible model name a vertex that must be visited and cannot be."""
        result = super().finish(result)
        if result.termination is not Termination.INFEASIBLE:
            return result
        reasons = self._unserved()
        others = [note for note in result.notes if not (reasons and note.startswith("No column was generated"))]
        return dataclasses.replace(result, notes=(*others, *reasons))

    def _unserved(self) -> list[str]:
        """Return which rows require a visit that no path can make, and why; the first three."""
        f, linking = self.compact.formulation, self.splitting.linking
        static = set(self.splitting.static.tolist())
        entries = csr_array(self.compact.rows[linking, :])
        reasons = [obstacles(block.graph, block.statement._resources, np.unique(block.arc_of)) for block in self.blocks]
        found = [
            f"{block.name}: no path reaches the sink: {reason[block.graph.sink]}"
            for block, reason in zip(self.blocks, reasons, strict=True)
            if block.count[0] > 0.0 and reason[block.graph.sink]
        ]
        for row in np.flatnonzero(f.row_lower[linking] > 0.0).tolist():
            columns = entries.indices[entries.indptr[row] : entries.indptr[row + 1]]
            if not static.isdisjoint(columns.tolist()):
                continue
            why = []
            for block, of_vertex, reason in zip(self.blocks, self.visits.of_vertex, reasons, strict=True):
                for vertex in dict.fromkeys(block.vertex_of[of_vertex == row].tolist()):
                    name = block.graph.vertices[vertex]
                    why.append(f"{name!r} in {block.name}: {reason[vertex]}" if reason[vertex] else "")
            if why and all(why):
                name = self.compact.constraint_name(linking[row])
                found.append(f"no path makes the visit that {name!r} requires: {'; '.join(why)}")
        return found[:3]

    def check(self, answer: Values) -> float:
        """Return the objective and penalties, after checking the paths, their sum, and the model's constraints."""
        objective = super().check(answer)
        assert isinstance(answer, PathValues)
        flow = np.zeros(len(answer.array))
        by_name = {block.name: block for block in self.blocks}
        for path in answer.paths:
            block = by_name[path.graph]
            fault = block.fault(path.arcs)
            if fault:
                raise InfeasibleAnswerError(f"{path}: {fault}")
            np.add.at(flow, block.columns[list(path.arcs)], path.amount)
            steps = block.follow(path.arcs)
            assert steps is not None
            objective += path.amount * block.penalty(steps)
        for block in self.blocks:
            mine = block.columns[block.columns >= 0]
            require_sum(block.name, answer.array[mine], flow[mine])
        return objective

    @property
    def identity(self) -> Any:
        return (*super().identity, [(b.name, b.count, b.costs, b.network.tails, b.network.heads) for b in self.blocks])

    def codec(self) -> Codec:
        """Store paths as the number of their block and their arcs, and points of other blocks as usual."""
        other = super().codec()

        def write(structure: Any) -> Any:
            if isinstance(structure, Path):
                return structure.number, structure.arcs
            return structure if other.write is None else other.write(structure)

        return Codec(lambda data: self._read_path(*data) if len(data) == 2 else other.read(data), write)

    def _read_path(self, number: int, arcs: Sequence[int]) -> Column | None:
        """Return the column of a path, or None if no block contains it."""
        if not 0 <= number < len(self.blocks) or self.blocks[number].fault(arcs):
            return None
        return self.oracles[number].encode(self.blocks[number].path(arcs))


class _WithoutCuts(NetworkModel):
    """The model without cuts."""

    def separation(self) -> Sequence[Separation]:
        return ()


def network_model(
    compact: CompactModel,
    statements: Sequence[Paths],
    others: Partition | None,
    *,
    aggregate: bool = True,
    recognize: bool = True,
) -> NetworkModel | FlowModel:
    """Return a model with path blocks and, if given, other blocks as a problem."""
    f, source = compact.formulation, compact.source
    if f.sense is not Sense.MINIMIZE:
        raise InputError("the model has path blocks: expected an objective to minimise; negate it")
    position = {id(v): k for k, v in enumerate(source.variables)} if isinstance(source, PyomoSource) else {}
    width, height = len(f.costs), compact.rows.shape[0]
    blocks, flows, owner = list[PathBlock](), list[FlowBlock](), np.full(width, MASTER)
    partition = others or Partition((), np.full(width, MASTER), np.full(height, MASTER))
    for number, paths in enumerate(statements):
        name = paths.name if paths.parent_block() is not None else f"paths {number + 1}"
        columns = flow_columns(paths, position, width, name)
        mine = columns[columns >= 0]
        taken = (owner[mine] >= 0) | (partition.of_column[mine] != MASTER)
        if taken.any():
            raise InputError(f"{name}: the variable {compact.names[mine[np.argmax(taken)]]!r} is in two blocks")
        owner[mine] = number
        low = mine[f.lower[mine] > 0.0]  # sums of paths are never negative
        if len(low):
            raise InputError(
                f"{name}: the variable {compact.names[low[0]]!r} has the lower bound {f.lower[low[0]]:g}, expected 0: "
                "state it as a constraint"
            )
        if paths._commodities is None:
            blocks.append(PathBlock(number, paths, name, columns, f, partition.linking))
        else:
            flows.append(FlowBlock(number, paths, name, columns, f, partition.linking))
    if flows:
        if blocks or others is not None:
            raise InputError("the model has a path block with commodities: expected no blocks of another kind in it")
        owned = Partition(tuple(block.name for block in flows), owner, partition.of_row)
        return FlowModel(Splitting(compact, owned, ()), compact, tuple(flows))
    subs = subproblems(compact, partition, aggregate=aggregate) if others is not None else ()
    return NetworkModel(Splitting(compact, partition, subs, tuple(blocks)), compact, recognize=recognize)
