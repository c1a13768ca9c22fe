"""Instances of parsing with non-local factors: local parts, factors, files, generators, the check of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colgen import InputError
from colgen.core.array_files import reading
from colgen.core.files import writing
from colgen.problems.dependency.sentence import check_tree, is_projective
from colgen.problems.nonlocal_parsing.factors import Factors
from colgen.problems.nonlocal_parsing.kernels.products import value
from colgen.solvers.arrays import ArrayError, as_booleans, as_floats
from colgen.solvers.trees.eisner import Parts
from colgen.solvers.trees.eisner_items import FIRST

Bools = NDArray[np.bool_]

_PARTS = ("arcs", "siblings", "outermost", "grandchildren", "triples", "kinds")


@dataclass(frozen=True, eq=False)
class NonlocalInstance:
    """The scores of a sentence's trees: local parts plus non-local factors.

    Parameters
    ----------
    parts
        Scores for the dynamic program, see :class:`colgen.solvers.trees.eisner.Parts`.
    factors
        Scores that the dynamic program does not support; None for none.
    allowed
        Allowed arcs, shape (N, N); by default all.
    single_root
        Whether the root must have exactly one modifier.
    projective
        Whether the tree must be projective; if not, the local parts must be arcs.
    step
        A number of which every tree's score is a multiple; None if unknown.
    words
        The words for output; by default numbers.

    Raises
    ------
    InputError
        If the parts of the instance do not match.
    """

    parts: Parts
    factors: Factors | None = None
    allowed: Bools | None = None
    single_root: bool = True
    projective: bool = True
    step: float | None = None
    words: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        size = self.parts.size
        factors = Factors.of(size) if self.factors is None else self.factors
        if factors.size != size:
            raise InputError(f"expected factors over {size} positions, not {factors.size}")
        object.__setattr__(self, "factors", factors)
        try:
            object.__setattr__(self, "allowed", self.parts.allowed(self.allowed))
        except ValueError as error:
            raise InputError(str(error)) from None
        if not self.projective and self.parts.order != FIRST:
            raise InputError("projective=False supports arc scores only; remove the other local parts")
        if self.step is not None and not (0.0 < self.step < np.inf):
            raise InputError(f"step: expected a positive number, not {self.step}")
        object.__setattr__(self, "words", tuple(self.words) or tuple(map(str, range(1, size))))
        if len(self.words) != self.num_words:
            raise InputError(f"expected {self.num_words} words, not {len(self.words)}")

    @property
    def num_words(self) -> int:
        return self.parts.size - 1

    @property
    def nonlocal_factors(self) -> Factors:
        """The factors, possibly empty."""
        assert self.factors is not None  # set in __post_init__
        return self.factors

    @property
    def usable(self) -> Bools:
        """The allowed arcs, shape (N, N)."""
        assert self.allowed is not None  # set in __post_init__
        return self.allowed

    def objective(self, heads: Sequence[int]) -> float:
        """Return the score of a tree, given by the head of each word."""
        tree = np.array([-1, *heads], dtype=np.int64)
        factors = self.nonlocal_factors
        return self.parts.score(tree) + float(value(factors.start, factors.arcs, factors.scores, tree))

    def check(self, heads: Sequence[int]) -> float:
        """Return the score of a tree after checking that it is valid: allowed arcs, projective and rooted as required.

        Raises
        ------
        ValueError
            If it is invalid.
        """
        check_tree(heads, self.num_words, single_root=self.single_root)
        if self.projective and not is_projective(heads):
            raise ValueError("the tree is not projective")
        for m, h in enumerate(heads, 1):
            if not self.usable[h, m]:
                raise ValueError(f"the arc ({h}, {m}) is not allowed")
        return self.objective(heads)


# --- files -----------------------------------------------------------------------------------------------------------


def write(instance: NonlocalInstance, path: Path | str) -> None:
    """Write an instance as an ``.npz`` file."""
    parts, factors = instance.parts, instance.nonlocal_factors
    arrays = {name: getattr(parts, name) for name in _PARTS if getattr(parts, name) is not None}
    with writing(path, "wb") as file:
        np.savez_compressed(
            file,
            **arrays,
            start=factors.start,
            factor_arcs=factors.arcs,
            scores=factors.scores,
            allowed=instance.usable,
            single_root=np.array(instance.single_root),
            projective=np.array(instance.projective),
            step=np.array(instance.step or 0.0),
            words=np.array(instance.words),
        )


def read(path: Path | str) -> NonlocalInstance:
    """Read an ``.npz`` file that :func:`write` wrote.

    Only ``arcs`` is required: scores by head (rows) and modifier (columns), the root first.

    Raises
    ------
    InputError
        If the file has other contents.
    """
    path = Path(path)
    with reading(path, "scores of a sentence's trees", ["arcs"]) as held:
        parts = Parts(**{name: held[name] for name in _PARTS if name in held})
        factors = None
        if "scores" in held:
            if not {"start", "factor_arcs"} <= held.keys():
                raise InputError(f"{path}: expected the arrays 'start' and 'factor_arcs' with 'scores'")
            factors = Factors(parts.size, held["start"], held["factor_arcs"], held["scores"])
        named = [name for name in ("single_root", "projective") if name in held]
        flags = {name: bool(as_booleans(held[name], name, shape=())) for name in named}
        return NonlocalInstance(
            parts,
            factors,
            held.get("allowed"),
            **flags,
            step=float(as_floats(held["step"], "step", shape=(), low=0.0)) or None if "step" in held else None,
            words=_words(held["words"]) if "words" in held else (),
            name=path.stem,
        )


def _words(array: NDArray[Any]) -> tuple[str, ...]:
    if array.ndim != 1 or array.dtype.kind != "U":
        raise ArrayError(f"words: expected a list of strings, got {array.dtype} of shape {array.shape}")
    return tuple(array.tolist())


# --- generators ------------------------------------------------------------------------------------------------------


def random(
    num_words: int,
    seed: int,
    *,
    order: int = 1,
    num_factors: int | None = None,
    strength: float = 1.0,
    whole: bool = False,
    single_root: bool = True,
    projective: bool = True,
) -> NonlocalInstance:
    """Return an instance with normal scores of local parts, and factors of two to four arcs that fit into one tree.

    Parameters
    ----------
    order
        The parser whose local parts are scored, such as :data:`colgen.solvers.trees.eisner.FIRST`. For triples, words
        have three kinds.
    num_factors
        Number of factors; by default ten per word.
    strength
        Standard deviation of the factors' scores.
    whole
        Use integers from -3 to 3 instead.
    """
    rng = np.random.default_rng(seed)
    size = num_words + 1

    def scores(*shape: int) -> NDArray[np.float64]:
        return rng.integers(-3, 4, shape).astype(np.float64) if whole else rng.normal(size=shape)

    parts = Parts(
        scores(size, size),
        scores(size, size, size) if order > 1 else None,
        scores(size, size, size) if order == 3 else None,
        scores(size, size, size) if order == 4 else None,
        scores(2, 2, 4, 4, 4, 4) if order == 4 else None,
        rng.integers(0, 3, size) if order == 4 else None,
    )
    count = 10 * num_words if num_factors is None else num_factors
    factors = []
    for _ in range(count):
        length = int(rng.integers(2, 5))
        modifiers = rng.permutation(np.arange(1, size))[:length]
        arcs = [(int(h), int(m)) for m in modifiers if (h := rng.integers(0, size)) != m]
        if len(arcs) > 1:
            score = float(rng.integers(-3, 4)) if whole else strength * float(rng.normal())
            factors.append((arcs, score))
    return NonlocalInstance(
        parts,
        Factors.of(size, factors),
        single_root=single_root,
        projective=projective,
        step=1.0 if whole else None,
        name=f"random, {num_words} words, seed {seed}",
    )
