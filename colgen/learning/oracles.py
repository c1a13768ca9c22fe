"""Structure oracles: the interface that users implement in one method, and oracles of chains and trees.

An oracle is any object with a method ``best(*scores)`` that returns a structure of largest score.  The score of a
structure is a sum over its parts, Σ_k θ_kᵀ a_k.  Here a_k has the shape of the array of scores θ_k and counts how often
each part occurs.  ``best`` returns one array per argument (the array itself if there is only one), in one of two forms.
Floats or truth values have the shape of the scores.  Integers are places of parts in the flattened scores, repeated as
often as the part occurs.  It returns None if there is no structure.  A score of -inf forbids a part.  An optional
method ``check(*scores)`` raises an error for scores of wrong shapes before ``best`` is called.

Losses, trainers and layers take the correct structure of an example, ``gold``, in the same forms, or as labels.
Labels are an array with one integer per position, such as heads or cluster numbers.  They need an oracle with a method
``from_labels(labels, *scores)``, such as :class:`Chains`, :class:`Trees` and :class:`ProjectiveTrees`.  These oracles
take places only as a tuple of arrays.  For other oracles integers are always places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from colgen.core.columns import Key
from colgen.core.duals import Duals, RowNames
from colgen.core.errors import InputError
from colgen.core.numbers import require_result
from colgen.core.sense import Sense
from colgen.pricing.oracles import Best, NoStructure, OraclePricing, PricingContext
from colgen.solvers.arrays import ArrayError, as_floats, as_integers
from colgen.solvers.chains.viterbi import viterbi
from colgen.solvers.ranking import k_best_of_scores
from colgen.solvers.trees.arborescence import arborescence
from colgen.solvers.trees.arborescence_k_best import k_best_arborescences
from colgen.solvers.trees.batches import best_trees
from colgen.solvers.trees.beliefs import Beliefs, tree_beliefs

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Occurrences: TypeAlias = tuple[Ints, Floats]
"""Places of parts in a flattened array of scores, each once, and their counts."""

_VANISHING = 800.0


@runtime_checkable
class StructureOracle(Protocol):
    """The interface of an oracle of best structures."""

    @property
    def best(self) -> Callable[..., Any]:
        """Function from arrays of scores to a structure of largest score, or None, in the module's forms."""


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure: for each array of scores the parts that occur, and their counts."""

    parts: tuple[Occurrences, ...]

    def score(self, scores: Sequence[Floats]) -> float:
        """Return the structure's score for contiguous arrays; -inf if it has a forbidden part."""
        pairs = zip(scores, self.parts, strict=True)
        return sum(float(theta.ravel()[places] @ counts) for theta, (places, counts) in pairs)

    def array(self, number: int, shape: tuple[int, ...]) -> Floats:
        """Return the counts of the parts of one array of scores, in its shape."""
        result = np.zeros(shape)
        places, counts = self.parts[number]
        result.ravel()[places] = counts
        return result

    @cached_property
    def key(self) -> bytes:
        """Bytes that are equal for equal parts only."""
        return b"".join(
            len(places).to_bytes(8, "little") + places.tobytes() + counts.tobytes() for places, counts in self.parts
        )


def check_scores(scores: Sequence[Any], names: Sequence[str] = ()) -> tuple[Floats, ...]:
    """Return arrays of scores as contiguous 64-bit floats; raise an InputError for entries neither finite nor -inf."""
    try:
        return tuple(
            as_floats(theta, names[k] if k < len(names) else "scores" if k == 0 else f"scores {k}", minus_infinity=True)
            for k, theta in enumerate(scores)
        )
    except ArrayError as error:
        raise InputError(str(error)) from None


def scores_for(oracle: Any, scores: Sequence[Any]) -> tuple[Floats, ...]:
    """Return arrays of scores as an oracle expects them, checked by its ``check(*scores)``, if any."""
    theta = check_scores(scores)
    if not theta:
        raise InputError("scores: expected one array or more")
    if hasattr(oracle, "check"):
        oracle.check(*theta)
    return theta


def check_shapes(oracle: Any, arrays: Sequence[Floats], shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise an InputError if arrays of scores do not have these shapes, given by name."""
    if len(arrays) != len(shapes):
        raise InputError(
            f"{type(oracle).__name__}: expected an array for each of {', '.join(shapes)}, got {len(arrays)} arrays"
        )
    for array, (name, shape) in zip(arrays, shapes.items(), strict=True):
        if array.shape != shape:
            raise InputError(f"{name}: expected the shape {shape}, got {array.shape}")


def check_tree_shapes(oracle: Any, arrays: Sequence[Floats], parts: Sequence[str]) -> None:
    """Raise an InputError unless scores of arcs have the shape (N, N), N ≥ 2, and those of parts (N, N, N)."""
    size = len(arrays[0]) if arrays and arrays[0].ndim else 0
    if size < 2:
        raise InputError(f"scores: expected the shape (N, N), the root and one word or more, got {arrays[0].shape}")
    check_shapes(oracle, arrays, {"scores": (size, size), **dict.fromkeys(parts, (size,) * 3)})


def check_derivative(given: Any, shape: tuple[int, ...]) -> Floats:
    """Return derivatives with respect to a mean as floats; raise an InputError if they do not have its shape."""
    try:
        found: Floats = as_floats(given, "derivatives", shape=shape)
    except ArrayError as error:
        raise InputError(str(error)) from None
    return found


def check_derivatives(given: Sequence[Any], means: Sequence[Floats]) -> list[Floats]:
    """Return derivatives with respect to each mean; those that are omitted or None are zeros."""
    if len(given) > len(means):
        raise InputError(f"expected at most {len(means)} arrays, one for each of the means, got {len(given)}")
    found = [np.zeros(mean.shape) for mean in means]
    for number, derivative in enumerate(given):
        if derivative is not None:
            found[number] = check_derivative(derivative, means[number].shape)
    return found


def best_structure(oracle: StructureOracle, scores: Sequence[Any]) -> Structure:
    """Return a structure of largest score, checked.

    Raises
    ------
    InputError
        If scores are invalid, or the oracle returns no structure, a forbidden one, or an invalid result.
    """
    return decode(oracle, scores_for(oracle, scores))


def decode(oracle: StructureOracle, scores: Sequence[Floats]) -> Structure:
    """Return a structure of largest score, checked, for scores that have been checked."""
    found = find_best(oracle, scores)
    if found is None:
        raise InputError(f"every structure is forbidden: {type(oracle).__name__}.best found none")
    return found


def find_best(oracle: StructureOracle, scores: Sequence[Floats]) -> Structure | None:
    """Return a structure of largest score, checked, or None if there is none, for scores that have been checked."""
    answer = oracle.best(*scores)
    if answer is None:
        return None
    name = type(oracle).__name__
    found = structure_from(answer, scores, f"{name}.best")
    for theta, (places, _) in zip(scores, found.parts, strict=True):
        values = theta.ravel()[places]
        if np.isneginf(values).any():
            where = np.unravel_index(places[np.argmin(values)], theta.shape)
            raise InputError(
                f"{name}.best returned the forbidden part {tuple(map(int, where))}, whose score is -inf: every "
                "structure is forbidden, or the oracle ignores -inf"
            )
    return found


def structure_from(answer: Any, scores: Sequence[Floats], name: str = "the structure") -> Structure:
    """Return a structure from arrays in either form of the module, checked.  ``name`` is used in messages."""
    if isinstance(answer, Structure):
        sizes = [theta.size for theta in scores]
        if len(answer.parts) != len(sizes) or any(
            len(places) and not 0 <= places.min() <= places.max() < size
            for (places, _), size in zip(answer.parts, sizes, strict=True)
        ):
            raise InputError(f"{name}: expected a structure over arrays with {sizes} parts, got one over others")
        return answer
    arrays = answer if isinstance(answer, tuple) else (answer,)
    if len(arrays) != len(scores):
        raise InputError(f"{name}: expected {len(scores)} arrays, one per array of scores, got {len(arrays)}")
    return Structure(tuple(_occurrences(array, theta, name) for array, theta in zip(arrays, scores, strict=True)))


def gold_structure(oracle: Any, given: Any, scores: Sequence[Floats]) -> Structure:
    """Return the gold structure of an example, checked, from labels or from arrays of its parts."""
    if hasattr(oracle, "from_labels") and not isinstance(given, Structure):
        labels = as_labels(given)
        if labels is not None:
            given = oracle.from_labels(labels, *scores)
    return structure_from(given, scores, "gold")


def as_labels(given: Any) -> NDArray[Any] | None:
    """Return a sequence of integers as an array, and None for anything else."""
    if isinstance(given, tuple) and not all(isinstance(entry, (int, np.integer)) for entry in given):
        return None
    try:
        array = np.asarray(given)
    except (ValueError, TypeError):
        return None
    return array if array.ndim == 1 and array.dtype.kind in "iu" else None


def check_labels(labels: Any, size: int, low: int | None = None, high: int | None = None) -> Ints:
    """Return the labels of a gold structure after checking their number and range."""
    bounds = "" if low is None else f" of {low} or more" if high is None else f" from {low} to {high}"
    try:
        found: Ints = as_integers(labels, "gold", shape=(size,), low=low, high=high)
    except ArrayError:
        raise InputError(f"gold: expected {size} numbers{bounds}, got {np.asarray(labels).tolist()[:20]}") from None
    return found


def check_heads(heads: Any, size: int) -> Ints:
    """Return the heads of a gold tree by position, checked for cycles; that of the root 0 is ignored."""
    given = check_labels(heads, size).copy()
    given[:1] = 0
    found = check_labels(given, size, 0, size - 1)
    above = found
    for _ in range(size.bit_length()):
        above = above[above]
    if above.any():
        raise InputError(
            f"gold: expected the heads of a tree, but those above position {int(np.argmax(above > 0))} form a cycle"
        )
    return found


def first_places(structure: Any) -> Ints:
    """Return the places of a structure's parts in the first array of scores, from any form with places."""
    given = structure.parts[0] if isinstance(structure, Structure) else structure
    if isinstance(given, tuple) and given and not isinstance(given[0], (int, np.integer)):
        given = given[0]
    try:
        places: Ints = as_integers(given, "positions", shape=("parts",), low=0)
    except ArrayError as error:
        raise InputError(str(error)) from None
    return places


def at_each_position(positions: Ints, values: Ints, size: int) -> Ints:
    """Return values by position, after checking that each position has one."""
    if not np.array_equal(np.sort(positions), np.arange(size)):
        raise InputError(f"positions: expected the places of a structure with one part at each of {size} positions")
    result = np.empty(size, dtype=np.int64)
    result[positions] = values
    return result


def _occurrences(answer: Any, theta: Floats, name: str) -> Occurrences:
    array = np.asarray(answer)
    if array.dtype.kind in "iu":
        if array.ndim != 1 or (array.shape == theta.shape and array.size > 1):
            raise InputError(
                f"{name}: integers must be places in the flattened scores, in one axis and not as many as there are "
                "scores; an array of counts must be of floats or truth values"
            )
        if array.size and not (array.min() >= 0 and array.max() < theta.size):
            raise InputError(f"{name}: expected places from 0 to {theta.size - 1}, got {array.min()} to {array.max()}")
        places, counts = np.unique(array, return_counts=True)
        return places.astype(np.int64), counts.astype(np.float64)
    if array.dtype.kind not in "bf" or array.shape != theta.shape:
        raise InputError(
            f"{name}: expected floats or truth values in the shape of the scores, {theta.shape}, or integers as places "
            f"in them, got {array.dtype} of shape {array.shape}"
        )
    flat = array.ravel()
    places = np.flatnonzero(flat).astype(np.int64)
    counts = flat[places].astype(np.float64)
    if not np.isfinite(counts).all():
        raise InputError(f"{name}: expected finite numbers")
    return places, counts


# --- oracles ---------------------------------------------------------------------------------------------------------


class Chains:
    """Labellings of a chain: scores of labels, shape (tokens, labels), and of transitions, shape (labels, labels).

    Transitions may also be given per step, shape (tokens, labels, labels), of which the last is ignored.  Add scores of
    starting and ending with a label to those of the first and last token.
    """

    def best(self, scores: Floats, transitions: Floats) -> tuple[Ints, Ints] | None:
        """Return a labelling of largest score by Viterbi's algorithm."""
        tokens, num = scores.shape
        labels, values = viterbi(scores, np.array([0, tokens]), transitions)
        if values[0] == -np.inf:
            return None
        return self.structure(labels.astype(np.int64), num, transitions.ndim == 3)

    def check(self, *arrays: Floats) -> None:
        tokens, num = arrays[0].shape if arrays[0].ndim == 2 else (0, 0)
        if not tokens or not num:
            raise InputError(f"scores: expected the shape (tokens, labels), one or more of each, got {arrays[0].shape}")
        stepwise = len(arrays) > 1 and arrays[1].ndim == 3
        transitions = (tokens, num, num) if stepwise else (num, num)
        check_shapes(self, arrays, {"scores": (tokens, num), "transitions": transitions})

    def from_labels(self, labels: Any, scores: Floats, transitions: Floats) -> tuple[Ints, Ints]:
        """Return places of the parts of a labelling, after checking it."""
        tokens, num = scores.shape
        return self.structure(check_labels(labels, tokens, 0, num - 1), num, transitions.ndim == 3)

    @staticmethod
    def structure(labels: Ints, num: int, stepwise: bool = False) -> tuple[Ints, Ints]:
        """Return places of a labelling's parts."""
        tokens = np.arange(len(labels))
        steps = labels[:-1] * num + labels[1:]
        return tokens * num + labels, steps + tokens[:-1] * num * num if stepwise else steps

    @staticmethod
    def labels(positions: Any, num: int) -> Ints:
        """Return the labels of a structure, shape (tokens,): the inverse of :meth:`structure` for ``num`` labels.

        ``positions`` are the places of its labels, or a structure in the forms of :meth:`best` or :class:`Structure`.
        """
        places = first_places(positions)
        return at_each_position(places // num, places % num, len(places))


class Trees:
    """Dependency trees, projective or not: scores of arcs, shape (N, N), by head and modifier, with the root 0.

    Parameters
    ----------
    single_root
        Whether exactly one arc leaves the root.
    """

    def __init__(self, *, single_root: bool = False) -> None:
        self.single_root = single_root

    def best(self, scores: Floats) -> tuple[Ints] | None:
        """Return a tree of largest score by the algorithm of Chu, Liu and Edmonds."""
        found = arborescence(scores, single_root=self.single_root)
        return None if found is None else self.structure(found[0])

    def k_best(self, k: int, scores: Floats) -> list[tuple[Ints]]:
        """Return the k trees of largest score, best first, or all that are allowed if there are fewer."""
        try:
            ranked = k_best_arborescences(scores, k, single_root=self.single_root)
        except ArrayError as error:
            raise InputError(str(error)) from None
        return [self.structure(heads) for heads, _ in ranked]

    def check(self, *arrays: Floats) -> None:
        check_tree_shapes(self, arrays, ())

    def from_labels(self, labels: Any, scores: Floats) -> tuple[Ints]:
        """Return places of the arcs of a tree, given its heads, after checking it."""
        return self.structure(check_heads(labels, len(scores)))

    @staticmethod
    def structure(heads: Ints) -> tuple[Ints]:
        """Return places of a tree's arcs; ``heads[0]`` is ignored."""
        words = np.arange(1, len(heads))
        return (heads[1:] * len(heads) + words,)

    @staticmethod
    def heads(positions: Any) -> Ints:
        """Return the heads of a tree by position, -1 for the root, shape (N,): the inverse of :meth:`structure`.

        ``positions`` are the places of its arcs, or a structure in the forms of :meth:`best` or :class:`Structure`.
        """
        places = first_places(positions)
        size = len(places) + 1
        words = at_each_position(places % size - 1, places // size, size - 1)
        return np.concatenate([[-1], words])


class SecondOrder:
    """Base class of oracles of trees that also score adjacent siblings or grandchildren.

    Shapes are (N, N) for arcs, (N, N, N) by head, sibling and modifier, and (N, N, N) by grandparent, head and
    modifier.  The axes are those of ``colgen.problems.grandparent_parsing.parse``.  Siblings are adjacent modifiers on
    one side, the sibling nearer to the head; sibling = head: the modifier is the nearest.  Arcs from the root have
    their grandchild scores at [0, 0, modifier].  Other entries are ignored.  Subclasses implement ``best``.

    Parameters
    ----------
    parts
        Names of the scored parts other than arcs, in the order of the scores: ``"siblings"``, ``"grandchildren"``.
    single_root
        Whether exactly one arc leaves the root.

    Raises
    ------
    InputError
        If a name is unknown or repeated.
    """

    projective = False

    def __init__(self, *parts: str, single_root: bool = False) -> None:
        if len(set(parts)) < len(parts) or not set(parts) <= {"siblings", "grandchildren"}:
            raise InputError(f"expected parts among 'siblings' and 'grandchildren', each once, got {parts}")
        self.parts, self.single_root = parts, single_root

    def check(self, *arrays: Floats) -> None:
        check_tree_shapes(self, arrays, self.parts)

    def from_labels(self, labels: Any, scores: Floats, *others: Floats) -> tuple[Ints, ...]:
        """Return places of the parts of a tree, given its heads, after checking it."""
        return self.structure(check_heads(labels, len(scores)))

    def structure(self, heads: Ints) -> tuple[Ints, ...]:
        """Return places of a tree's arcs, and of its parts in the order of their names."""
        size = len(heads)
        places: dict[str, list[int]] = {"siblings": [], "grandchildren": []}
        for m in range(1, size):
            h = int(heads[m])
            step = 1 if m < h else -1  # towards the head
            s = next((k for k in range(m + step, h, step) if heads[k] == h), h)
            g = int(heads[h]) if h > 0 else 0
            places["siblings"].append((h * size + s) * size + m)
            places["grandchildren"].append((g * size + h) * size + m)
        return *Trees.structure(heads), *(np.array(places[name]) for name in self.parts)

    heads = staticmethod(Trees.heads)

    def k_best(self, k: int, scores: Floats, *others: Floats) -> list[tuple[Ints, ...]]:
        """Return the k trees of largest score, best first, or all that are allowed if there are fewer."""
        arcs = scores.copy()

        def best(by_head: Floats) -> tuple[float, Ints] | None:
            arcs[:, 1:] = by_head.T
            found = self.best(arcs, *others)
            if found is None:
                return None
            value = sum(
                float(theta.ravel()[places].sum()) for theta, places in zip((arcs, *others), found, strict=True)
            )
            return value, self.heads(found)[1:]

        try:
            ranked = k_best_of_scores(np.ascontiguousarray(scores[:, 1:].T), best, k)
        except ArrayError as error:
            raise InputError(str(error)) from None
        return [self.structure(np.concatenate([[-1], heads])) for _, heads in ranked]

    def best(self, scores: Floats, *others: Floats) -> tuple[Ints, ...] | None:
        """Return a tree of largest score, or None if there is none."""
        raise NotImplementedError

    def beliefs(self, scores: Floats, *others: Floats) -> Beliefs:
        """Return approximate sums over all trees with grandchildren, by loopy belief propagation."""
        if self.parts != ("grandchildren",):
            raise InputError(f"beliefs: expected trees whose parts are ('grandchildren',), got {self.parts}")
        return tree_beliefs(scores, *others, projective=self.projective, single_root=self.single_root)


class ProjectiveTrees(SecondOrder):
    """Projective dependency trees: scores of arcs, and optionally of adjacent siblings and grandchildren.

    For shapes and parameters see :class:`SecondOrder`.
    """

    projective = True

    def best(self, scores: Floats, *others: Floats) -> tuple[Ints, ...] | None:
        """Return a tree of largest score by Eisner's algorithm or one of its higher-order variants."""
        given = {name: theta[np.newaxis] for name, theta in zip(self.parts, others, strict=True)}
        found = best_trees(scores[np.newaxis], projective=True, single_root=self.single_root, **given)
        return self.structure(found.heads[0]) if found.heads.max() >= 0 else None  # enormous scores may sum to -inf


def penalized(scores: Floats, others: Sequence[Floats]) -> tuple[tuple[Floats, ...], float]:
    """Return scores with -inf replaced by a finite penalty, and the penalty (-inf if not needed).

    At these scores every tree without a forbidden part is better than every tree with one.  The latter vanish in sums
    over all trees.  A sum below half of the penalty consists of forbidden trees only.
    """
    if not any(np.isneginf(theta).any() for theta in others):
        return tuple(others), -np.inf
    size = len(scores)
    largest = sum(float(np.abs(theta[theta > -np.inf]).max(initial=0.0)) for theta in (scores, *others))
    # A tree scores at most size * largest, there are fewer than size ** size trees, and exp(-_VANISHING) is zero.
    worst = -2.0 * size * (largest + np.log(size)) - _VANISHING
    return tuple(np.maximum(theta, worst) for theta in others), worst


class PricedStructures:
    """Structures of a pricing problem: scores are dual values of rows, a structure is a column.

    The best structure maximises θᵀa - c, where a are its column's coefficients and c its cost.  A second array of one
    entry scores the cost: 1 if costs count.

    Parameters
    ----------
    pricing
        The pricing problem, an :class:`~colgen.OraclePricing`; its ``best`` and ``encode`` are called.
    rows
        Names of the master's rows, in the order of the scores.
    """

    def __init__(self, pricing: OraclePricing, rows: Sequence[Key]) -> None:
        self.pricing = pricing
        self._names = RowNames()
        self._names.extend(list(rows))

    def best(self, scores: Floats, weight: Floats) -> tuple[Floats, Floats] | None:
        """Return the column of least reduced cost with the scores as dual values."""
        context = PricingContext(Sense.MINIMIZE, cost_weight=float(weight[0]))
        best = self.pricing.best(Duals(scores.copy(), self._names), context)
        found = require_result(
            best, f"{type(self.pricing).__name__}.best()", "a structure, or NO_STRUCTURE if there is none"
        )
        if isinstance(found, NoStructure):
            return None
        column = self.pricing.encode(found.structure if isinstance(found, Best) else found)
        counts = np.zeros(len(scores))
        for key, value in column.coefficients.items():
            if key not in self._names.position:
                name = type(self.pricing).__name__
                raise InputError(f"{name}.encode: the column has the row {key}, which has no score")
            counts[self._names.position[key]] += value
        return counts, np.array([-float(column.cost)])


class EnumeratedStructures:
    """Structures given one by one, each an array in the scores' shape; for tests and small models."""

    def __init__(self, structures: Sequence[Any]) -> None:
        self.structures = [np.asarray(structure, dtype=np.float64) for structure in structures]

    def best(self, scores: Floats) -> Floats | None:
        """Return the first structure of largest score."""
        values = [float(scores[a != 0.0] @ a[a != 0.0]) for a in self.structures]
        k = int(np.argmax(values)) if values else -1
        return self.structures[k] if k >= 0 and values[k] > -np.inf else None

    def check(self, *arrays: Floats) -> None:
        check_shapes(self, arrays, {"scores": self.structures[0].shape if self.structures else arrays[0].shape})
