"""Every public function of solvers/ rejects NaN, indices out of range, and values that a cast would change.

The table below has a valid call of each; then one argument at a time is replaced by invalid values.  A new public
function fails the first test until it has a line in the table.
"""

import dataclasses
import importlib
import pkgutil
from types import FunctionType, SimpleNamespace

import numpy as np
import pytest

from colgen.problems.dependency.features.factored_scores import empty_table
from colgen.problems.dependency.features.mixed_radix import radix_of
from colgen.solvers.chains.forest import chains
from colgen.solvers.chains.tree_domains import exchange, sweep
from colgen.solvers.derivations.graphs import constituents
from colgen.solvers.flows.many_sinks import ManySinks

FOREST = chains(np.array([2, 1]))
THETA = np.arange(6.0).reshape(3, 2)
TAU = np.arange(4.0).reshape(1, 2, 2)
SPANS = constituents(3, 1)
EXCHANGES = exchange(TAU)
PAIRS = np.array([[0.0, 1.0, -2.0], [1.0, 0.0, 0.5], [-2.0, 0.5, 0.0]])
LABELS = np.array([0, 1, 1])
PROFITS = np.array([0.5, -0.5, 1.0])
ARCS = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 1.5], [0.0, 0.5, 0.0]])
BARE = np.where(np.eye(3, dtype=bool) | (np.arange(3) == 0), -np.inf, ARCS)
CUBE = np.arange(27.0).reshape(3, 3, 3)
TABLE = empty_table(np.array([[0, 1]]), np.array([4, 4]), weights=1, relations=2)
RADIX = radix_of([[0, 1]], np.array([4, 4]), 2)
CHAINS = {"scores": THETA, "offsets": np.array([0, 2, 3]), "transitions": TAU[0]}
GRAPH = {"adjacency": ~np.eye(3, dtype=bool)}
WEIGHTED = GRAPH | {"weights": np.array([1, 2, 0])}
CLUSTERS = {"scores": PAIRS, "labels": LABELS}

KNAPSACKS = {"profits": np.array([[1.0, 2.0]]), "sizes": np.array([[1, 2]]), "capacities": np.array([2])}
CONFLICTING = {
    "profits": np.array([1.0, 2.0]),
    "sizes": np.array([1, 2]),
    "capacity": 2,
    "conflicts": np.array([[False, True], [True, False]]),
}
VISITS = {"starts": np.array([0, 2, 3]), "visits": np.array([0, 1, 2])}

SAMPLES = {
    "automaton.accepted_labelling": {
        "scores": THETA,
        "transitions": TAU[0],
        "symbols": np.array([[0, 1], [1, 0], [0, 0]]),
        "moves": np.array([[0, 1], [1, -1]]),
        "accepted": np.array([False, True]),
    },
    "arborescence.arborescence": {"weights": ARCS},
    "arborescence.reduced_costs": {"weights": ARCS},
    "arborescence.check_weights": {"weights": ARCS},
    "arborescence_k_best.k_best_arborescences": {"weights": ARCS, "k": 2},
    "contraction.needs_more": GRAPH | {"clique": np.array([0]), "colours": 2},
    "frontier_colouring.is_colourable": GRAPH | {"colours": 2},
    "mycielskian.extend_by_mycielskians": GRAPH | {"clique": np.array([0])},
    "mycielskian.mycielskian_bound": GRAPH | {"enough": 3},
    "batches.best_trees": {
        "arcs": ARCS[np.newaxis],
        "lengths": np.array([2]),
        "siblings": CUBE[np.newaxis],
        "grandchildren": CUBE[np.newaxis],
        "projective": True,
    },
    "eisner_grandsibling.best_tree": {"arcs": ARCS, "grandparents": CUBE, "siblings": CUBE},
    "matrix_tree.tree_sums": {"scores": BARE[np.newaxis]},
    "matrix_tree.tree_tangents": {"scores": BARE[np.newaxis], "directions": ARCS[np.newaxis]},
    "sums.chain_sums": CHAINS,
    "graphs.segmentations": {"tokens": 3, "longest": 2, "labels": 2},
    "graphs.constituents": {"words": 3, "labels": 2},
    "graphs.alignments": {"rows": 2, "columns": 1},
    "graphs.matchings": {"rows": 2, "columns": 3},
    "matchings.best_matching": {"scores": THETA.T},
    "matchings.k_best_matchings": {"scores": THETA.T, "k": 3},
    "ranking.k_best_choices": {"best": lambda prefix, excluded: None, "k": 2},
    "ranking.k_best_of_scores": {"scores": THETA, "best": lambda theta: (1.0, np.argmax(theta, axis=1)), "k": 2},
    "graphs.monotone_chains": {"frames": 3, "states": 2},
    "graphs.projective_trees": {"words": 3, "single_root": True},
    "graphs.labellings": {"tokens": 3, "labels": 2, "stepwise": True},
    "hypergraph.best_derivation": {"graph": SPANS, "scores": np.arange(9.0)},
    "hypergraph.k_best_derivations": {"graph": SPANS, "scores": np.arange(9.0), "k": 2},
    "hypergraph.derivation_sums": {"graph": SPANS, "scores": np.arange(9.0)[np.newaxis]},
    "beliefs.tree_beliefs": {"arcs": BARE, "grandchildren": CUBE, "iterations": 3},
    "rounding.round_inequalities": {
        "coefficients": np.array([[1.0, 2.5], [0.5, -1.0]]),
        "sides": np.array([1.5, 0.3]),
        "rests": np.zeros(2),
        "values": np.array([0.5, 0.4]),
        "upper": np.array([1.0, 2.0]),
    },
    "sparse_means.nearest_labelling": {"scores": THETA, "transitions": TAU[0], "rounding": 1e-12, "beaten": 1e-9},
    "sparse_means.nearest_tree": {"scores": BARE, "rounding": 1e-12, "beaten": 1e-9},
    "beam.beam_search": CHAINS | {"width": 2},
    "capacity.violated_capacity": {
        "flow": np.array([[0.0, 1.0], [0.5, 0.0]]),
        "demands": np.array([3.0, 2.0]),
        "capacity": 4.0,
        "least": 0.05,
        "limit": 5,
    },
    "clustering.local_search": {"scores": PAIRS, "start": LABELS, "kicks": 1},
    "clustering.search": CLUSTERS | {"generator": np.random.default_rng(0), "kicks": 1, "expired": lambda: False},
    "colouring.dsatur": GRAPH,
    "colouring.partialcol": GRAPH | {"colours": 3, "start": np.array([0, 1, -1]), "moves": 9},
    "colouring.evolve": GRAPH | {"colours": 3, "start": np.array([0, 1, 1]), "moves": 9},
    "fewest_colours.fewest_colours": GRAPH | {"most": 2},
    "conflicts.best_compatible": CONFLICTING,
    "conflicts.maximal_compatible": CONFLICTING | {"least": 1.0},
    "conflicts.first_fit": {
        "sizes": np.array([1, 2]),
        "capacity": 2,
        "conflicts": np.array([[False, True], [True, False]]),
        "order": np.array([1, 0]),
    },
    "connectivity.find_inseparable": {"weights": PAIRS, "threshold": 0.5},
    "contraction.contract": CLUSTERS | {"smallest": 2},
    "contraction.merge_scores": {"scores": PAIRS, "groups": LABELS},
    "contraction.find_contractible": {
        "scores": PAIRS,
        "weights": np.ones(3),
        "items": np.array([0, 1]),
        "others": np.array([2]),
    },
    "counted.best_counted": KNAPSACKS
    | {"weights": np.array([[1, 1]]), "divisors": np.array([2]), "charges": np.array([0.5]), "above": np.array([0.0])},
    "counting.counts_along": VISITS | {"weights": np.array([[1, 1, 0]]), "divisors": np.array([2])},
    "covering.cover": {
        "starts": np.array([0, 2, 3]),
        "items": np.array([0, 1, 2]),
        "costs": np.array([3, 2]),
        "values": np.array([1, 1, 1]),
        "target": 5,
    },
    "dual_proof.settle": {"scores": PAIRS, "start": LABELS, "kicks": 1},
    "equilibrium.equilibrium": {
        "search": ManySinks(3, np.array([0, 1, 0]), np.array([1, 2, 2]), np.array([0]), np.array([2])).search,
        "costs": np.array([1.0, 1.0, 3.0]),
        "capacities": np.array([1.0, 2.0, 3.0]),
        "demands": np.array([2.0]),
    },
    "factored_scores.empty_table": {
        "templates": np.array([[0, 1]]),
        "sizes": np.array([4, 4]),
        "weights": 1,
        "relations": 2,
    },
    "factored_scores.table_of": {"table": TABLE, "keys": np.array([3, 5]), "values": np.ones((2, 1), np.float32)},
    "forest.chains": {"lengths": np.array([2, 1])},
    "forest.check_forest": {"forest": FOREST, "tables": 1},
    "forest.from_parents": {
        "starts": np.array([0, 2, 3]),
        "parent": np.array([1, -1, -1]),
        "table": np.array([0, 0, 0]),
    },
    "dual_state.start": {"arcs": BARE, "bounds": np.zeros((3, 3)), "entering": np.zeros((3, 3))},
    "min_cut.violated_cuts": {"weights": ARCS, "tolerance": 1e-6},
    "near_paths.near_shortest_paths": {
        "vertices": 3,
        "tails": np.array([0, 1, 0]),
        "heads": np.array([1, 2, 2]),
        "costs": np.array([1.0, 1.0, 3.0]),
        "source": 0,
        "sink": 2,
        "slack": 1.0,
        "limit": 5,
    },
    "persistency.find_persistent": {"scores": PAIRS, "kicks": 1},
    "persistency.contract_only": {"scores": PAIRS, "kicks": 1},
    "steps.positive_sum": {"scores": PAIRS},
    "rank_one.memories_needed": VISITS | {"weights": np.array([[1, 1, 0]]), "divisors": np.array([2])},
    "rank_one.violated_rank_one": {
        "starts": np.array([0, 2, 4, 6]),
        "rows": np.array([0, 1, 1, 2, 0, 2]),
        "amounts": np.ones(6, dtype=int),
        "values": np.full(3, 0.5),
        "sides": np.ones(3, dtype=int),
        "least": 0.02,
        "limit": 5,
    },
    "small_partition.best_small_partition": {"scores": PAIRS},
    "small_trees.best_small_tree": {"arcs": BARE, "grandchildren": CUBE, "siblings": CUBE},
    "multidimensional.best_sets_within": {
        "profits": np.array([[1.0, 2.0]]),
        "sizes": np.array([[1.0, 2.0], [0.5, 0.0]]),
        "capacities": np.array([2.5, 1.0]),
    },
    "shortest_paths.shortest_paths": {
        "tails": np.array([0, 1, 0]),
        "heads": np.array([1, 2, 2]),
        "costs": np.array([[1.0, -1.0, 3.0]]),
        "nodes": 3,
        "source": 0,
        "sink": 2,
    },
    "sequences.schedule": {
        "durations": np.array([2, 1, 3]),
        "costs": np.arange(21.0).reshape(3, 7),
        "machines": 2,
        "rounds": 3,
        "seed": 1,
    },
    "simplex_projection.project": {"q": PROFITS},
    "stable_counted.heaviest_counted": WEIGHTED
    | {"amounts": np.array([[1, 1, 0], [0, 3, 1]]), "divisors": np.array([2, 3]), "charges": np.array([1, 2])},
    "stable_listing.maximal": WEIGHTED,
    "stable_search.heavy": WEIGHTED | {"number": 4},
    "stable_set.as_graph": GRAPH,
    "stable_set.as_weights": {"weights": np.array([3, 1, 2]), "n": 3},
    "stable_set.heaviest": WEIGHTED,
    "star_dual.star_bound": CLUSTERS,
    "subset_ascent.ascend": {"scores": PAIRS, "profits": PROFITS, "items": np.array([0, 2])},
    "subset_tabu.tabu": {"scores": PAIRS, "profits": PROFITS, "items": np.array([0, 2]), "flips": 5},
    "subset.search": {"scores": PAIRS, "profits": PROFITS},
    "subset.promising": {"scores": PAIRS, "profits": PROFITS},
    "transitivity.violated_triangles": {"x": np.eye(3), "tolerance": 1e-6},
    "tree_domains.exchange": {"tables": TAU},
    "tree_domains.sweep": {"forest": FOREST, "scores": THETA, "tables": TAU[0], "exchanges": EXCHANGES},
    "tree_labels.runner_up": {
        "forest": FOREST,
        "scores": THETA,
        "tables": TAU[0],
        "domains": sweep(FOREST, THETA, TAU[0], EXCHANGES),
    },
    "tree_parts.given_parts": {"vertices": 3, "grandparents": CUBE, "siblings": CUBE},
    "roots.roots_beyond": {"forest": FOREST, "shares": np.ones(3)},
    "tree_pruning.prune_by_bounds": {"forest": FOREST, "scores": THETA, "tables": TAU},
    "tree_starts.margins": {"arc": ARCS},
    "triangle_packing.pack_triangles": CLUSTERS,
    "triangle_dual.triangle_bound": CLUSTERS | {"visits": 10},
    "triangle_dual.keep_apart": {"scores": PAIRS, "apart": np.eye(3, dtype=bool)},
    "mixed_radix.radix_of": {"templates": [[0, 1]], "sizes": np.array([4, 4]), "relations": 2},
    "sparse_rows.check_vector": {"numbers": np.array([0, 2]), "values": np.array([1.0, 2.0]), "size": 3},
    "tuple_index.index_of": {"radix": RADIX, "keys": np.array([3, 5])},
    "tuple_scores.table_of": {"radix": RADIX, "keys": np.array([3, 5]), "weights": np.ones((2, 1), np.float32)},
    "two_partition.violated_stars": {"x": np.eye(3), "size": 3, "tolerance": 1e-6, "starts": 1},
    "viterbi.check_chains": CHAINS,
    "viterbi.viterbi": CHAINS,
    "viterbi.plain": CHAINS,
    "viterbi.two_best": CHAINS,
    "zero_one.best_sets": KNAPSACKS,
    "zero_one.best_with_each": KNAPSACKS,
    "zero_one.validate": KNAPSACKS,
}

INDICES = {
    "heads",
    "tails",
    "offsets",
    "start",
    "labels",
    "groups",
    "items",
    "others",
    "parent",
    "starts",
    "templates",
    "rows",
    "visits",
}
"""Arguments that index something."""

TRUSTING = {
    "bits": "takes what kernels hold",
    "bases": "takes data of backends",
    "interior": "takes validated programs",
    "retries": "takes validated backends",
    "kernels": "how kernels are compiled",
    "kinds": "takes numbers of a vocabulary",
    "compressed": "kernels, which reject other types of arguments",
    "identity": "kernels, which reject other types of arguments",
    "units": "kernels, which reject other types of arguments",
    "arrays": "the validation itself",
    "stopping": "nothing to check",
    "compiling": "a clock without arguments",
    "exponentials": "exponentials of compiled code",
    "work": "a counter of amounts that searches compute",
    "vectors": "intrinsics of compiled code",
    "knapsack": "tests of its own",
    "bounded": "takes a named tuple of arcs; tests of its own",
    "arc_values": "takes validated networks",
    "listing": "takes validated networks",
    "network": "tests of its own",
    "counted_network": "takes networks; tests of its own",
    "network_arguments": "the arguments of the packings",
    "subsets": "takes validated searches",
    "highs": "models are validated by the engine",
    "mip": "models are validated by the engine",
    "named": "takes models of HiGHS and files; tests of its own",
    "options": "tests of its own",
    "scaling": "models are validated by the engine",
    "exchanges": "columns are validated by the engine",
    "walks": "tests of its own",
    "ruin": "takes a named tuple of arrays; tests of its own",
    "tours": "states of routes, made from validated arrays",
    "elementary_path": "tests of its own",
    "colour_coding": "tests of its own",
    "path_beam": "tests of its own",
    "lp": "models are validated by the engine",
    "eisner": "takes validated Parts",
    "eisner_hypergraph": "takes validated Parts",
    "eisner_k_best": "takes arguments of kernels, made from Parts",
    "kernel_cache": "takes kernels",
}
"""Modules whose functions take only named tuples and objects, or whose validation is tested elsewhere."""

VALIDATED_BY_CLASSES = "colgen.solvers.paths.labelling.", "colgen.solvers.linear.backends."
"""Packages whose classes validate their arguments, in their own tests; packages of backends may not be installed."""

STRUCTURES = {
    "stable_search.lists_of",
    "stable_set.begin",
    "stable_set.run",
    "clustering.clustering_score",
    "contraction.passes",
    "persistency.leave_undecided",
    "steps.initial_state",
    "steps.price_packing",
    "steps.restrict",
    "steps.renumber",
    "steps.apply_step",
    "steps.apply_steps",
    "probing.required_bound",
    "probing.join_numbers",
    "probing.find_joins",
    "probing.part_pair",
    "star_dual.evaluate",
    "star_dual.recompute_bound",
    "star_dual.add_violated",
    "triangle_dual.step_sizes",
    "tree_bound.bound_at",
    "exchange_bounds.allocate_edge_scratch",
    "pair_prices.allocate_pairs",
    "pair_prices.allocate_side",
    "hashed_keys.room_for_keys",
    "growing_arcs.least_kept",  # takes averages of weights
    "growing_arcs.lengthen",  # takes arrays of its caller
    "growing_arcs.owned",
    "label_scores.rows_of",  # takes the keys of a model
    "tree_prices.allocate_scratch",
    "triangle_dual.find_near_clustering",
    "triangle_dual.recompute_bound",
    "arc_scores.arc_index",  # takes the table of a model
    "blocks.blocks_of",  # takes the keys of a model
    "joined_keys.joined_of",  # takes numbers of a vocabulary
    "label_scores.label_index",  # takes the scores of a model
    "relation_scores.relation_index",  # likewise
    "reserved.sparse_zeros",  # takes a shape
    "score_bounds.bound_table",
    "grandparent_dual.descend",
    "tree_messages.no_messages",
    "tree_labels.best_flips",  # writes to an array of its caller
    "magnitudes.low_step",  # takes validated instances
    "magnitudes.largest",  # checks every number itself: NaN is a valid result
    "token_bounds.token_bounds",
    "screening.bound_many",
    "tree_bound.bound_node",
    "tree_bound.drop_arcs",  # writes to an array of its caller
    "subset_ascent.select_best",  # takes results of searches
    "tree_bound.meets",
    "tree_parts.all_parts",
    "tree_parts.lazy_parts",
    "triple_lists.lists_of",  # takes the table of a model
    "roots.root_shares",
    "eisner_grandsibling.best_of_parts",  # takes validated scores
    "eisner_sums.projective_sums",  # takes validated parts
    "matrix_tree.sample_trees",  # takes a generator; tree_sums validates the scores
    "mycielskian.grow_clique",  # takes a validated graph
    "topological.levels",  # takes the arcs of a graph
    "topological.topological_ranks",  # takes the arcs of a graph
    "weak_duality.least_by_duals",  # takes data of programs
    "proximal.proximal_point",  # takes points of subproblems
    "integer_labels.best_scores",  # takes validated forests
    "deadlines.watching",  # takes a budget
    "labels.start",  # takes the graph and memory of a search
    "labels.nothing",  # likewise
    "labels.enlarge",  # takes labels
    "states.graph",  # takes validated states; Acyclic validates the arcs
}
"""Functions that take results of other functions here."""


def modules():
    """Yield all modules of solvers, and the private kernels and features of problems."""
    packages = ["colgen.solvers", "colgen.problems.dependency.features"]
    packages += [
        f"colgen.problems.{problem}.kernels" for problem in ("chain_map", "grandparent_parsing", "nonlocal_parsing")
    ]
    for name in packages:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.ispkg and not module.name.startswith(VALIDATED_BY_CLASSES):
                yield module.name


def public_functions():
    for path in modules():
        module = path.rsplit(".", 1)[1]
        if module in TRUSTING:
            continue
        loaded = importlib.import_module(path)
        for name, function in vars(loaded).items():
            # compiled kernels are dispatchers, not functions; imported functions belong to their own modules
            if isinstance(function, FunctionType) and function.__module__ == loaded.__name__ and name[0] != "_":
                yield f"{module}.{name}", function


FUNCTIONS = dict(public_functions())


def test_every_public_function_has_a_line():
    assert sorted(FUNCTIONS.keys() - SAMPLES.keys() - STRUCTURES) == []
    assert sorted((SAMPLES.keys() | STRUCTURES) - FUNCTIONS.keys()) == []


def spoilt(name, value):
    """Yield invalid values of an argument."""
    array = np.asarray(value)
    if not isinstance(value, (np.ndarray, list)):
        yield "a fraction", 1.5 if array.dtype.kind == "i" else np.nan
        yield "not a number", np.nan
        yield "a string", "1"
        yield "nothing", None
        return
    where = (*(0,) * (array.ndim - 1), -1)  # not on a diagonal, which may be ignored

    def changed(entry, dtype):
        other = array.astype(dtype)
        other[where] = entry
        return other

    if array.dtype != bool:
        yield "NaN", changed(np.nan, float)
    yield "complex numbers", array.astype(complex)
    yield "objects", changed(None, object)
    yield "strings", array.astype(str)
    yield "records", np.zeros(array.shape, dtype=[("a", float)])
    yield "another dimension", array[np.newaxis]
    yield "no dimension", 3.5
    if array.ndim == 2 and array.shape[0] == array.shape[1] and name in ("scores", "weights", "x"):
        yield "no square", array[:, :-1]
    if array.dtype.kind == "i":
        yield "a fraction", changed(0.5, float)
        yield "too large for an integer", changed(1e308, float)
        yield "more than 64 bits", changed(2**70, object)
        if name in INDICES:
            yield "far out of range", changed(10**6, int)
            yield "negative", changed(-7, int)


CASES = [
    (name, argument, what, value)
    for name, sample in SAMPLES.items()
    for argument, given in sample.items()
    if isinstance(given, (np.ndarray, list, int, float)) and not isinstance(given, bool)
    for what, value in spoilt(argument, given)
]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sample_call_is_valid(name):
    arguments = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in SAMPLES[name].items()}
    FUNCTIONS[name](**arguments)


@pytest.mark.parametrize(("name", "argument", "what", "value"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_invalid_arguments_are_rejected(name, argument, what, value):
    arguments = {key: one.copy() if isinstance(one, np.ndarray) else one for key, one in SAMPLES[name].items()}
    with pytest.raises((ValueError, TypeError), match=r"expected|must be") as caught:
        FUNCTIONS[name](**arguments | {argument: value})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_convertible_arguments_give_the_same_results():
    """Lists, and arrays that are not contiguous."""
    for name, sample in SAMPLES.items():
        if name in ("clustering.search", "dual_state.start", "tree_pruning.prune_by_bounds"):
            continue  # a used generator; uninitialised memory
        expected = FUNCTIONS[name](**sample)
        lists = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in sample.items()}
        strided = {k: np.repeat(v, 2, -1)[..., ::2] if isinstance(v, np.ndarray) else v for k, v in sample.items()}
        for arguments in (lists, strided):
            found = FUNCTIONS[name](**arguments)
            assert _flat(found) == _flat(expected), name


def _flat(value):
    if isinstance(value, (tuple, list)):
        return [_flat(one) for one in value]
    if isinstance(value, np.ndarray):
        return repr(np.where(np.isnan(value), 0, value).tolist()) if value.dtype.kind == "f" else repr(value.tolist())
    if isinstance(value, SimpleNamespace):
        return _flat(vars(value))
    if dataclasses.is_dataclass(value):
        return [_flat(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return repr(value) if type(value).__repr__ is not object.__repr__ else type(value).__name__
