"""Writing certificates: the certifier of the problem is called for the nodes of the finished tree."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from colgen.certificate.certifier import Certifier, Record, as_exact
from colgen.certificate.checker_instances import formulates
from colgen.certificate.witness import Witness, WitnessPoint
from colgen.core.errors import InputError
from colgen.core.files import writing
from colgen.core.result import NodeRecord, Termination
from colgen.core.sense import Sense
from colgen.core.solution import Solution
from colgen.core.tolerances import TOLERANCES

VERSION = 1

_START = b'{"certificate":'

_LEVEL = 1
"""Compression level; the default of zlib takes 5 times as long for a file smaller by 1/6."""


@dataclass(frozen=True)
class FinishedRun:
    """The end of a run. ``own_bound`` is False if the bound is that of another solver, which is trusted."""

    sense: Sense
    termination: Termination
    bound: float
    answer: Solution | None
    nodes: Sequence[NodeRecord]
    own_bound: bool = True


@dataclass
class CertificateCounts:
    """Counts of a written certificate.

    ``short`` lists the nodes for which the run claims more than exact arithmetic proves.
    """

    leaves: int = 0
    trusted: int = 0
    short: list[int] = field(default_factory=list)


def write_certificate(path: Path | str, certifier: Certifier, witness: Witness, run: FinishedRun) -> CertificateCounts:
    """Write the proof of a run. Files whose name ends in ``.gz`` are compressed.

    The checker refuses trusted claims if it makes the formulation from the instance. A certificate with such claims is
    written without the instance, and is trusted as a whole.
    """
    counts = _write(path, certifier, witness, run)
    if counts.trusted and formulates(certifier.instance()["kind"]):
        short = counts.short
        counts = _write(path, Certifier(certifier.sense, certifier.name), witness, run)
        counts.short = short
    return counts


def _write(path: Path | str, certifier: Certifier, witness: Witness, run: FinishedRun) -> CertificateCounts:
    counts = CertificateCounts()
    with writing(path, "wb") as file:
        packed = gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) if str(path).endswith(".gz") else None
        for line in _lines(certifier, witness, run, counts):
            (packed or file).write(line.encode() + b"\n")
        if packed is not None:
            packed.close()
    return counts


def check_replaceable(path: Path | str) -> None:
    """Raise an ``InputError`` unless a path is free or an older certificate: it may be the name of an instance."""
    if not os.path.isfile(path):
        return
    with contextlib.suppress(OSError, EOFError, zlib.error), open(path, "rb") as raw:
        start = raw.read(2)
        raw.seek(0)
        packed = start == b"\x1f\x8b"
        start = (gzip.GzipFile(fileobj=raw) if packed else raw).read(len(_START))
        if not start or start == _START:
            return
    raise InputError(f"certificate: {path} exists and is not a certificate: remove it or use another file name")


def _text(record: Record) -> str:
    return json.dumps(record, separators=(",", ":"))


def _lines(certifier: Certifier, witness: Witness, run: FinishedRun, counts: CertificateCounts) -> Iterator[str]:
    yield _text({"certificate": "colgen", "version": VERSION})
    # In the form of the digest, because the instance may be most of the file.
    instance = json.dumps(certifier.instance(), sort_keys=True, separators=(",", ":"))
    yield f'{{"instance":{instance},"sha256":"{hashlib.sha256(instance.encode()).hexdigest()}"}}'
    formulation = certifier.formulation()
    yield _text({"formulation": formulation if certifier.states_formulation else None})
    step = None if formulation["step"] is None else Fraction(formulation["step"])
    sign, objective = int(run.sense.sign), None
    if run.answer is None:
        yield _text({"answer": None})
    else:
        objective = certifier.objective(run.answer)
        columns = certifier.columns(run.answer)
        kinds = [columns] if isinstance(columns, str) else [formulation["pricing"][k]["kind"] for k, *_ in columns]
        counts.trusted += kinds.count("trusted")
        yield _text({"answer": {"objective": as_exact(objective), "columns": columns}})
    goal = None if objective is None else sign * objective
    done = run.termination in (Termination.OPTIMAL, Termination.INFEASIBLE)
    tree = _Tree(certifier, witness, run, goal, counts)
    number, bounds, unknown = 4, list[Fraction | None](), False
    for record in tree.prove() if done else tree.prove_root():
        number += 1
        if "claim" in record:
            counts.leaves += 1
            claim = record["claim"]
            if claim is None:
                unknown = True
            else:
                worth = claim["trusted"] if "trusted" in claim else claim["bound"]
                bounds.append(None if worth is None else sign * Fraction(worth))
        yield _text(record)
    least = min((bound for bound in bounds if bound is not None), default=None)
    if least is not None and step is not None:
        least = math.ceil(least / step) * step
    if goal is not None and (least is None or least > goal):
        least = goal
    proves = "infeasible" if least is None else "optimal" if least == goal else "bound"
    if unknown:
        least, proves = None, "nothing" if goal is None else "answer"
    end = {
        "proves": proves,
        "objective": None if objective is None else as_exact(objective),
        "bound": None if least is None else as_exact(sign * least),
        "lines": number + 1,
        "leaves": counts.leaves,
    }
    yield _text({"end": end})


class _ShortError(Exception):
    """A leaf is not proved without fixings."""


class _Tree:
    """The tree of a run, node by node."""

    def __init__(
        self, certifier: Certifier, witness: Witness, run: FinishedRun, goal: Fraction | None, counts: CertificateCounts
    ) -> None:
        self._certifier, self._witness, self._goal, self._counts = certifier, witness, goal, counts
        self._run = run
        step = certifier.formulation()["step"]
        # Bounds that may have been sufficient in floating point.
        near = TOLERANCES.diagnostic * max(1.0, abs(float(goal or 0))) if step is None else float(Fraction(step))
        self._enough = -math.inf if goal is None else float(goal) - near * (1.0 + TOLERANCES.diagnostic)
        self._children: dict[int, list[NodeRecord]] = {}
        for record in run.nodes:
            if record.parent is not None:
                self._children.setdefault(record.parent, []).append(record)
        self._tried: dict[int, tuple[int, int]] = {}
        for parent, children in self._children.items():
            children.sort(key=lambda record: record.number)
            self._tried.update((record.number, (parent, k)) for k, record in enumerate(children))

    def prove_root(self) -> Iterator[Record]:
        """Yield the best proved bound of the root, for a run that was stopped.

        Bounds in floating point that were found after reductions depend on these, which are not in the certificate. So
        the point with the best such bound need not prove the best exact bound.
        """
        if not self._run.own_bound:
            yield self._trust(0)
            return
        certifier, state = self._certifier, self._certifier.start()
        sign = self._run.sense.sign
        points = [p for p in self._witness.of(0) if p.costs_count and not p.fixes] or self._empty_point()
        goal = self._best_bound(points)
        for point in sorted(points, key=lambda p: -sign * p.bound):
            claim = certifier.claim(state, point, goal)
            if claim is not None:
                yield {"node": 0, "claim": claim}
                return
        claims = [c for p in points if (c := certifier.claim(state, p, Fraction(-(10**30)))) is not None]
        best = max(claims, key=lambda claim: sign * Fraction(claim["bound"]), default=None)
        yield self._trust(0) if best is None else {"node": 0, "claim": best}

    def _best_bound(self, points: Sequence[WitnessPoint]) -> Fraction:
        """Return the best bound of points in floating point, for minimization, rounded up to the step."""
        bound = max((self._run.sense.sign * p.bound for p in points), default=-math.inf)
        if not math.isfinite(bound):
            return Fraction(-(10**30))
        step = self._certifier.formulation()["step"]
        if step is None:
            return Fraction(bound)
        return math.ceil(bound / Fraction(step) - TOLERANCES.integrality) * Fraction(step)

    def prove(self) -> Iterable[Record]:
        """Return the whole proof, without fixings if possible: each takes the checker several dynamic programs."""
        if not self._run.own_bound:
            return [self._trust(0)]
        answer, goal = self._run.answer, self._goal
        if answer is not None and goal is not None:
            own = self._certifier.proof(answer, self._witness.of(0), goal)
            if own is not None:
                return self._own(own)
        if not self._certifier.checks_nodes:
            return self._prove_nodes(fixing=False)
        trusted = self._counts.trusted
        with contextlib.suppress(_ShortError):
            return list(self._prove_nodes(fixing=False))
        self._counts.trusted = trusted
        return self._prove_nodes(fixing=True)

    def _own(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            if "claim" in record and not self._reaches(record["claim"]):
                self._counts.short.append(record["node"])
            yield record

    def _prove_nodes(self, *, fixing: bool) -> Iterator[Record]:
        """Yield the proof of the tree.

        A node whose own dual values suffice is a leaf, even if the run has branched there.
        """
        certifier, goal = self._certifier, self._goal
        stack: list[tuple[int, Any, tuple[WitnessPoint, ...]]] = [(0, certifier.start(), ())]
        while stack:
            node, state, above = stack.pop()
            children = self._children.get(node, [])
            claim, tried = None, list[WitnessPoint]()
            before = self._witness.of(self._tried[node]) if node in self._tried else ()
            for point in (*before, *self._witness.of(node)):
                if point.fixes:
                    fixed = certifier.fix(state, point, goal) if fixing else None
                    if fixed is not None:
                        record, state = fixed
                        yield {"node": node, "fix": record}
                    continue
                tried.append(point)
                if self._promises(point):
                    claim = certifier.claim(state, point, goal)
                    if claim is not None:
                        break
            if claim is None and not children:
                points = (*reversed(tried), *above) or self._empty_point()
                claim = next((c for p in points if (c := certifier.claim(state, p, goal)) is not None), None)
            if claim is not None:
                if not self._reaches(claim):
                    self._counts.short.append(node)
                yield {"node": node, "claim": claim}
            elif children:
                decisions = [child.path.own for child in children]
                split = certifier.split(state, decisions)
                if split is None:
                    self._counts.trusted += 1
                order = range(len(children)) if split is None else split.order
                states = [None] * len(children) if split is None else split.states
                numbers = [children[k].number for k in order]
                yield {"node": node, "split": "trusted" if split is None else split.record, "children": numbers}
                near = (*tried[-1:], *above)[:2]
                stack += [(number, below, near) for number, below in zip(numbers, states, strict=True)]
            else:
                if certifier.checks_nodes and not fixing:
                    raise _ShortError
                if certifier.checks_nodes:
                    self._counts.short.append(node)
                yield self._trust(node)

    def _empty_point(self) -> tuple[WitnessPoint, ...]:
        """Return a point without dual values for claims that need none."""
        return () if self._certifier.needs_duals else (WitnessPoint(None, self._run.bound),)

    def _reaches(self, claim: Record) -> bool:
        """Return whether the bound of a claim reaches the goal."""
        bound, step = claim.get("bound"), self._certifier.formulation()["step"]
        if bound is None or self._goal is None:
            return True
        worth = self._run.sense.sign * Fraction(bound)
        return (worth if step is None else math.ceil(worth / Fraction(step)) * Fraction(step)) >= self._goal

    def _promises(self, point: WitnessPoint) -> bool:
        """Return whether the bound in floating point suggests that a claim holds."""
        if not point.costs_count:
            return True
        return self._goal is not None and self._run.sense.sign * point.bound >= self._enough

    def _trust(self, node: int) -> Record:
        """Return a claim without a reason. Without any bound the node is left open."""
        bound = self._goal
        if self._run.termination not in (Termination.OPTIMAL, Termination.INFEASIBLE):
            if not math.isfinite(self._run.bound):
                return {"node": node, "claim": None}
            found = self._run.sense.sign * Fraction(self._run.bound)
            bound = found if bound is None else min(found, bound)
        self._counts.trusted += 1
        return {"node": node, "claim": {"trusted": None if bound is None else as_exact(self._run.sense.sign * bound)}}
