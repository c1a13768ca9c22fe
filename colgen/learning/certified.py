"""Best segmentations, constituents, alignments, monotone chains and matchings with certificates of their optimality.

    best = certified_best(Segmentations(), (segments, transitions), "proof.jsonl")
    $ colgen check proof.jsonl

The scores are written as integers over a power of two, so nothing is rounded.  The dynamic program runs on the
checker's own hypergraph, in integers: the values of its vertices are the potentials of the certificate.  The potentials
of matchings are those of the Hungarian method, also in integers.

Source: H. W. Kuhn, *The Hungarian method for the assignment problem*, Naval Research Logistics Quarterly 2 (1955).
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
from colgen.certificate.checker_matchings import Matchings as Checked
from colgen.certificate.checker_pricing import NO, UnreadableError
from colgen.certificate.checker_program import KINDS
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
    Matchings,
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
    Matchings: "matchings",
}


def certified_best(oracle: DerivedStructures, scores: Sequence[Any], certificate: Path | str) -> Structure:
    """Return a structure of largest score, and write a certificate that no structure scores more.

    The certificate has been checked.  ``colgen check`` does it again, in a program that shares nothing with the writer.
    Structures are compared in exact arithmetic, so no rounding decides between them.

    Parameters
    ----------
    oracle
        :class:`~colgen.learning.Segmentations`, :class:`~colgen.learning.Constituents`,
        :class:`~colgen.learning.Alignments`, :class:`~colgen.learning.MonotoneChains` or
        :class:`~colgen.learning.Matchings`.
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
            f"MonotoneChains, Matchings), not {type(oracle).__name__}"
        )
    theta = scores_for(oracle, scores)
    check_replaceable(certificate)
    try:
        found = _Certifier(_KINDS[type(oracle)], theta)
        objective = Solution(float(found.value))
        run = FinishedRun(Sense.MAXIMIZE, Termination.OPTIMAL, float("inf"), objective, ())
        write_certificate(certificate, found, Witness(), run)
        check(lines_of(str(certificate)))
    except UnreadableError as error:
        raise InputError(f"scores: too many for a certificate: {error}") from None
    return structure_from(separated(found.proof_of_best.parts, theta), theta)


@dataclass(frozen=True)
class _Proof:
    """The best structure as a column of a certificate, and the potentials that prove it.

    ``parts`` are the places of its parts in the joined arrays of scores.
    """

    column: list[int]
    potentials: Record
    parts: NDArray[np.int64]


class _Certifier(Certifier):
    """Certifies a best structure by its potentials."""

    states_formulation = False

    def __init__(self, kind: str, scores: Sequence[Floats]) -> None:
        super().__init__(Sense.MAXIMIZE, "")
        shift = max(map(places, scores))
        self._kind, self._shapes = kind, [theta.shape for theta in scores]
        self._data = self._instance(2**shift, [to_integer_lists(theta, shift) for theta in scores])
        self._checker: Any = KINDS[kind](0, self._data, 0)
        proof = _matching(self._checker) if kind == "matchings" else self._derivation()
        if proof is None:
            raise InputError("every structure is forbidden by scores of -inf")
        self.proof_of_best = proof
        self.value: Fraction = self._checker.column(proof.column)[0]

    def _instance(self, denominator: int, arrays: Sequence[Any]) -> Record:
        names = ("pairs",) if self._kind == "matchings" else DERIVED[self._kind].arrays
        if self._kind == "constituents" and len(self._shapes[0]) == 2:  # one label
            arrays = [[[[score] for score in row] for row in arrays[0]]]
        return {"kind": self._kind, "denominator": denominator, **dict(zip(names, arrays, strict=True))}

    def _derivation(self) -> _Proof | None:
        """Return a best derivation.

        The checker's hypergraph of scores 1, 2, 3, ... has the numbers of the parts at its edges, and 0 at the others.
        """
        potentials, column = _best_derivation(self._checker)
        ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])
        numbered = [
            (np.arange(end - np.prod(shape), end).reshape(shape) + 1).tolist()
            for end, shape in zip(ends, self._shapes, strict=True)
        ]
        graph = DERIVED[self._kind](0, self._instance(1, numbered), 0)
        stack, parts = [len(graph.vertices) - 1], list[int]()
        for number in column:
            part, tails = graph.vertices[stack.pop()][number]
            stack += reversed(tails)
            parts += [part - 1] if part else []
        return _Proof(column, {"vertices": potentials}, np.array(parts, np.int64)) if column else None

    # --- the certificate ---------------------------------------------------------------------------------------------

    def instance(self) -> Record:
        return self._data

    def formulation(self) -> Record:
        return {"sense": "maximize", "step": None, "rows": [], "pricing": [{"kind": self._kind, "uses": [1, 1]}]}

    def columns(self, solution: Solution) -> list[Any]:
        return [[0, 1, self.proof_of_best.column]]

    def objective(self, solution: Solution) -> Fraction:
        return self.value

    def proof(self, answer: Solution, points: Sequence[WitnessPoint], goal: Fraction) -> Iterable[Record]:
        claim = {"weight": 1, "unit": 1, "duals": [], "counts": [], "least": [as_exact(goal)], "bound": as_exact(-goal)}
        return [{"node": 0, "claim": {**claim, "potentials": self.proof_of_best.potentials}}]


def _best_derivation(graph: Derivations) -> tuple[list[int | None], list[int]]:
    """Return the value of each vertex, None without a derivation, and the edges of a best derivation of the goal."""
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
    return potentials, found


def _matching(checker: Checked) -> _Proof | None:
    """Return a best matching and its potentials, row by row along shortest augmenting paths."""
    count = checker.columns
    rows, columns = [0] * len(checker.pairs), [0] * count
    matched = [-1] * (count + 1)  # the row of each column; the last column stands for the row that is added
    for row in range(len(checker.pairs)):
        matched[count], at = row, count
        loss: list[Any] = [-NO] * count
        before, reached = [count] * count, [count]
        left = set(range(count))
        while matched[at] >= 0:
            i = matched[at]
            for j in left:
                score = checker.pairs[i][j]
                if score != NO and rows[i] + columns[j] - score < loss[j]:
                    loss[j], before[j] = rows[i] + columns[j] - score, at
            at = min(left, key=loss.__getitem__, default=count)
            if at == count or loss[at] == -NO:
                return None
            step = loss[at]
            for j in reached:
                rows[matched[j]] -= step
                if j < count:
                    columns[j] += step
            left.remove(at)
            reached.append(at)
            for j in left:
                loss[j] -= 0 if loss[j] == -NO else step  # large integers cannot be added to infinity
        while at != count:
            matched[at] = matched[before[at]]
            at = before[at]
    chosen = [matched.index(row, 0, count) for row in range(len(rows))]
    return _Proof(chosen, {"rows": rows, "columns": columns}, np.arange(len(rows)) * count + np.array(chosen))
