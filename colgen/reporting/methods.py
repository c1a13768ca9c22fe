"""Variants for ablations: methods by name, and sets of them to choose from."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np

from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.column_generation import ColumnGeneration
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.branching.rules import BranchingRule
from colgen.branching.selection import MostFractional, PseudoCostBranching
from colgen.branching.strong_branching import StrongBranching
from colgen.core.duals import OwnDuals
from colgen.core.errors import InputError
from colgen.core.renamed import RENAMED, refuse_old
from colgen.core.text import describe
from colgen.cuts.separation import Separation
from colgen.heuristics import Diving, RestrictedMIP
from colgen.method import Method
from colgen.options import parts_of
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problem import Problem, method_of
from colgen.stabilization import BoxStep, Directional, NoStabilization, Penalty, Wentges

Variant: TypeAlias = Method | Problem | Callable[[Problem], Problem]
"""A method, another problem, or what makes another problem of the problem."""

Variants: TypeAlias = Mapping[str, Any]
"""Variants by name: a dictionary of methods and functions is one of objects to a type checker."""

PARTS: dict[str, type] = {
    "pricing": Pricing,
    "separation": Separation,
    "branching": BranchingRule,
    "method": Method,
}
"""Methods of a problem that a variant may replace, and the class of what they return."""


# --- sets ------------------------------------------------------------------------------------------------------------


def best_alone(oracles: Pricing | Iterable[Pricing]) -> list[Pricing]:
    """Oracles that return the best of their columns alone: what several columns a call are worth."""
    return [_best_alone(oracle) for oracle in ((oracles,) if isinstance(oracles, Pricing) else oracles)]


@dataclasses.dataclass(frozen=True)
class Replaced:
    """A variant of a problem: some of its methods return other parts."""

    parts: Mapping[str, Any]

    def __call__(self, problem: Problem) -> Problem:
        other = copy.copy(problem)  # the methods of one object are replaced, and those of the caller's left alone
        for part, value in self.parts.items():
            own = getattr(other, part)
            other.__dict__[part] = _answering(value, partial(_filled, own, other) if part == "method" else own)
        return other


def replace_parts(**parts: Any) -> Replaced:
    """Return a variant of a problem whose methods return other parts.

    Parameters
    ----------
    **parts
        By the name of the method (``pricing``, ``separation``, ``branching``, ``method``): what it returns, or a
        function of what the problem's own method returns.

    Raises
    ------
    InputError
        If there is no such method, or it cannot return this.
    """
    for name, value in parts.items():
        kind = PARTS.get(name)
        if name in RENAMED["replace_parts"]:
            refuse_old(replace_parts, [name])
        if kind is None:
            raise InputError(f"{name}: there is no such part; there are: {', '.join(PARTS)}")
        if callable(value) and not isinstance(value, type):
            continue
        several = isinstance(value, Iterable) and not isinstance(value, type)
        for each in value if several else (value,):
            if not isinstance(each, kind):
                raise InputError(
                    f"{name}: expected a {kind.__name__}, or a function of the problem's own, not {describe(each)}"
                )
    return Replaced(parts)


def _filled(method: Callable[[], Method], problem: Problem) -> Method:
    """Return what ``method()`` of a problem returns, with defaults where that is None."""
    return method().fill_from(Problem.method(problem))


def _answering(value: Any, own: Callable[[], Any]) -> Callable[[], Any]:
    """A method of a problem that returns a value, or what a function makes of its own result."""
    if callable(value) and not isinstance(value, type):
        return lambda: value(own())
    return lambda: value


STABILIZATIONS: Variants = {
    "default": Method(),
    "no stabilization": Method(stabilization=NoStabilization()),
    "Wentges, 0.3": Method(stabilization=Wentges(0.3)),
    "Wentges, 0.8": Method(stabilization=Wentges(0.8)),
    "Wentges, automatic": Method(stabilization=Wentges()),
    "Wentges, automatic, patient": Method(stabilization=Wentges(patient=True)),
    "Wentges, phase 1 at real costs": Method(stabilization=Wentges(real_costs=True)),
    "directional, automatic": Method(stabilization=Directional()),
    "directional, by the angle": Method(stabilization=Directional(beta=None)),
    "box step": Method(stabilization=BoxStep()),
    "penalty, three pieces": Method(stabilization=Penalty(3)),
    "penalty, five pieces": Method(stabilization=Penalty(5)),
}
"""Which dual values to price at."""

BOUNDINGS: Variants = {
    "default": Method(),
    "column generation": Method(bounding=ColumnGeneration()),
    "volume first": Method(bounding=Chain(Volume(200), ColumnGeneration())),
    "bundle first": Method(bounding=Chain(Bundle(100), ColumnGeneration())),
    "subgradients first": Method(bounding=Chain(Subgradient(200), ColumnGeneration())),
}
"""What nodes are bounded by."""

PRICINGS: Variants = {
    "default": Method(),
    "one column a call": replace_parts(pricing=best_alone),
    "half of the oracles": Method(pricing_share=0.5),
    "a fifth of the oracles": Method(pricing_share=0.2),
}
"""How many columns a call, and how many of the oracles at a time."""

CHOICES: Variants = {
    "default": Method(),
    "most fractional": Method(choice=MostFractional()),
    "pseudo-costs": Method(choice=PseudoCostBranching()),
    "strong branching": Method(choice=StrongBranching()),
}
"""How the tree chooses what to branch on."""

HEURISTICS: Variants = {
    "default": Method(),
    "no heuristics": Method(heuristics=()),
    "restricted program": Method(heuristics=(RestrictedMIP(),)),
    "diving": Method(heuristics=(Diving(),)),
    "diving, limited discrepancy": Method(heuristics=(Diving(1, discrepancies=2),)),
    "strong diving": Method(heuristics=(Diving(1, strong=5),)),
}
"""Where answers come from."""


def without(problem: Problem, part: str) -> dict[str, Variant]:
    """Return variants that leave out one after the other of a problem's parts of a kind, and all of them.

    Parameters
    ----------
    part
        ``"separation"`` (the families of cuts), ``"branching"`` (the rules), ``"heuristics"`` or ``"reductions"``.

    Raises
    ------
    InputError
        If it is another kind.
    """
    if part not in ("separation", "branching", "heuristics", "reductions"):
        raise InputError(f"part: expected 'separation', 'branching', 'heuristics' or 'reductions', not {part!r}")
    of_method, nothing = part in ("heuristics", "reductions"), dict[str, Any]({part: ()})
    own: Sequence[Any]
    if of_method:
        own = getattr(method_of(problem), part)
    else:
        own = parts_of(getattr(problem, part)(), PARTS[part], problem, part)
    none = Method(**nothing) if of_method else replace_parts(**nothing)
    variants: dict[str, Variant] = {"default": Method()}
    for kind in map(type, own if len(own) > 1 else ()):
        left: dict[str, Any] = {"method": _MethodWithout(part, kind)} if of_method else {part: _Without(kind)}
        variants[f"without {kind.__name__}"] = replace_parts(**left)
    return variants | {f"no {part}": none} if own else variants


@dataclasses.dataclass(frozen=True)
class _Without:
    """A function that leaves out the parts of a class."""

    kind: type

    def __call__(self, own: Iterable[Any]) -> list[Any]:
        return [each for each in own if type(each) is not self.kind]


@dataclasses.dataclass(frozen=True)
class _MethodWithout:
    """A function that leaves out the parts of a class in a field of a method."""

    field: str
    kind: type

    def __call__(self, own: Method) -> Method:
        left: dict[str, Any] = {self.field: _Without(self.kind)(getattr(own, self.field))}
        return dataclasses.replace(own, **left)


def _best_alone(oracle: Pricing) -> Pricing:
    """A copy of an oracle that returns the best of its columns alone; of those that are new, if the best is not."""
    other = copy.copy(oracle)
    other.__class__ = _alone(type(oracle))
    return other


@lru_cache(maxsize=100)
def _alone(kind: type[Pricing]) -> type[Pricing]:
    """The class of such copies, by which identical oracles are still seen to be so."""

    def price(self: Pricing, duals: OwnDuals, context: PricingContext) -> PricingResult:
        found = kind.price(self, duals, context)
        if len(found.columns) <= 1:
            return found
        costs = np.asarray(context.reduced_costs(found.columns, duals), dtype=float)
        order = np.argsort(-context.sense.gains(costs), kind="stable").tolist()
        kept = [order[0]]
        if not context.is_new(found.columns[order[0]]):
            kept += [k for k in order[1:] if context.is_new(found.columns[k])][:1]
        return dataclasses.replace(found, columns=[found.columns[k] for k in kept], reduced_costs=None)

    return type(kind.__name__, (kind,), {"price": price, "__module__": kind.__module__})


# --- applying them ---------------------------------------------------------------------------------------------------


def check_methods(variants: Any, instances: int) -> None:
    """Refuse what is no set of variants, before anything is solved.

    Raises
    ------
    InputError
        With the variant's name.
    """
    if not isinstance(variants, Mapping):
        raise InputError(f"methods: expected a mapping from names to methods, not {describe(variants)}")
    if not variants:
        raise InputError("methods: expected one method or more, by name")
    for name, variant in variants.items():
        if not isinstance(name, str):
            raise InputError(f"methods: expected names as keys, not {describe(name)}")
        if isinstance(variant, Problem):
            if instances > 1:
                raise InputError(f"{name}: a problem stands for one instance, here are {instances}: expected a Method")
        elif not isinstance(variant, Method) and (isinstance(variant, type) or not callable(variant)):
            raise InputError(f"{name}: expected a Method, a Problem or a function of it, not {describe(variant)}")


def applied(source: Problem | Callable[[], Problem], variant: Variant) -> tuple[Problem, Method]:
    """Return the problem and the method of a variant; parts that learn are copied, so that no run teaches another.

    Raises
    ------
    InputError
        If a function makes no problem.
    """
    if isinstance(variant, Problem):
        return variant, Method()
    problem = source if isinstance(source, Problem) else source()
    method = Method()
    if isinstance(variant, Method):
        method = dataclasses.replace(variant, **{name: copy.deepcopy(getattr(variant, name)) for name in _LEARNING})
    elif isinstance(problem, Problem):
        problem = variant(problem)
    if not isinstance(problem, Problem):
        raise InputError(f"expected a function that makes a problem; it made {describe(problem)}")
    return problem, method


def keeps_rows(variant: Variant) -> bool:
    """Whether a variant leaves the problem its rows and its cuts."""
    return isinstance(variant, Method) or (isinstance(variant, Replaced) and "separation" not in variant.parts)


_LEARNING = ("stabilization", "bounding", "heuristics", "choice")
