"""Best segmentations, constituency trees, alignments and monotone chains with a certificate of their optimality.

    best = certified_best(Segmentations(), (segments, transitions), "proof.jsonl")
    $ colgen check proof.jsonl

The scores are written as integers over a power of two, so nothing is rounded.  The dynamic program runs on the
checker's own hypergraph, in integers: the values of its vertices are the potentials of the certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker import check
from colgen.certificate.checker_derivations import DERIVED, Derivations
from colgen.certificate.checker_files import lines_of
from colgen.certificate.checker_pricing import NO, UnreadableError
from colgen.certificate.scaling import places, to_integer_lists
from colgen.certificate.witness import Witness, WitnessPoint
from colgen.certificate.writing import FinishedRun, check_replaceable, write_certificate
from colgen.core.errors import InputError
from colgen.core.result import Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.learning.derivations import (
    Alignments,
    Constituents,
    DerivedStructures,
    MonotoneChains,
    Segmentations,
    separated,
)
from colgen.learning.oracles import Structure, scores_for, structure_from

Floats: TypeAlias = NDArray[np.float64]

_KINDS: dict[type, str] = {
    Segmentations: "segmentations",
    Constituents: "constituents",
    Alignments: "alignments",
    MonotoneChains: "monotone chains",
}


def certified_best(oracle: DerivedStructures, scores: Sequence[Any], certificate: Path | str) -> Structure:
    """Return a structure of largest score, and write a certificate that no structure scores more.

    The certificate has been checked.  ``colgen check`` does it again, in a program that shares nothing with the writer.
    Structures are compared in exact arithmetic, so no rounding decides between them.

    Parameters
    ----------
    oracle
        :class:`~colgen.learning.Segmentations`, :class:`~colgen.learning.Constituents`,
        :class:`~colgen.learning.Alignments` or :class:`~colgen.learning.MonotoneChains`.
    scores
        Its arrays of scores; -inf forbids a part.
    certificate
        The file, compressed if its name ends in ``.gz``.  An older certificate is overwritten, no other file.

    Raises
    ------
    InputError
        If the oracle is another one, scores are invalid or too many, every structure is forbidden, or another file has
        the name.
    OSError
        If the file cannot be written.
    """
    if type(oracle) not in _KINDS:
        raise InputError(
            "expected an oracle whose best structures have certificates (Segmentations, Constituents, Alignments, "
            f"MonotoneChains), not {type(oracle).__name__}"
        )
    theta = scores_for(oracle, scores)
    check_replaceable(certificate)
    try:
        found = _Certifier(_KINDS[type(oracle)], theta)
        if found.best.value is None:
            raise InputError("every structure is forbidden by scores of -inf")
        objective = found.best.value
        run = FinishedRun(
            Sense.MAXIMIZE, Termination.OPTIMAL, float("inf"), Solution(float(Fraction(objective, found.unit))), ()
        )
        write_certificate(certificate, found, Witness(), run)
        check(lines_of(str(certificate)))
    except UnreadableError as error:
        raise InputError(f"scores: too many for a certificate: {error}") from None
    return structure_from(separated(found.parts(), theta), theta)


@dataclass(frozen=True)
class _Best:
    """The value of each vertex, None without a derivation, and the edges of a best derivation of the goal."""

    potentials: list[int | None]
    edges: list[int]

    @property
    def value(self) -> int | None:
        return self.potentials[-1]

    @classmethod
    def of(cls, graph: Derivations) -> _Best:
        potentials, chosen = list[int | None](), list[int]()
        for edges in graph.vertices:
            most, arg = None, -1
            for number, (score, tails) in enumerate(edges):
                below: list[Any] = [potentials[tail] for tail in tails]
                if score == NO or None in below:
                    continue
                value = sum(below, score)
                if most is None or value > most:
                    most, arg = value, number
            potentials.append(most)
            chosen.append(arg)
        found, stack = list[int](), [len(chosen) - 1] if potentials[-1] is not None else []
        while stack:
            v = stack.pop()
            found.append(chosen[v])
            stack += reversed(graph.vertices[v][chosen[v]][1])
        return cls(potentials, found)


class _Certifier(Certifier):
    """Certifies a best derivation by the values of all vertices."""

    states_formulation = False

    def __init__(self, kind: str, scores: Sequence[Floats]) -> None:
        super().__init__(Sense.MAXIMIZE, "")
        shift = max(map(places, scores))
        self.unit = 2**shift
        self._kind, self._names = kind, DERIVED[kind].arrays
        self._shapes = [theta.shape for theta in scores]
        arrays = [to_integer_lists(theta, shift) for theta in scores]
        self._data = {"kind": kind, "name": self.name, "denominator": self.unit, **self._named(arrays)}
        self._graph = DERIVED[kind](0, self._data, 0)
        self.best = _Best.of(self._graph)

    def _named(self, arrays: Sequence[Any]) -> Record:
        if self._kind == "constituents" and len(self._shapes[0]) == 2:  # one label
            arrays = [[[[score] for score in row] for row in arrays[0]]]
        return dict(zip(self._names, arrays, strict=True))

    def parts(self) -> NDArray[np.int64]:
        """Return the places of the parts of the best derivation in the joined arrays of scores.

        The checker's hypergraph of scores 1, 2, 3, ... has the numbers of the parts at its edges, and 0 at the others.
        """
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in self._shapes)])
        numbered = [
            (np.arange(end - np.prod(shape), end).reshape(shape) + 1).tolist()
            for end, shape in zip(ends[1:], self._shapes, strict=True)
        ]
        graph = DERIVED[self._kind](0, {**self._data, **self._named(numbered)}, 0)
        stack, found = [len(graph.vertices) - 1], list[int]()
        for number in self.best.edges:
            part, tails = graph.vertices[stack.pop()][number]
            stack += reversed(tails)
            found += [part - 1] if part else []
        return np.array(found, np.int64)

    # --- the certificate ---------------------------------------------------------------------------------------------

    def instance(self) -> Record:
        return self._data

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": self._kind, "uses": [1, 1]}]}

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, self.best.edges]]

    def objective(self, solution: Solution) -> Fraction:
        return self._graph.column(self.best.edges)[0]

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record]:
        claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(goal)], "bound": as_exact(-goal)}
        return [{"node": 0, "claim": {**claim, "potentials": {"vertices": self.best.potentials}}}]
