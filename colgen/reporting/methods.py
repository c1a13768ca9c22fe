"""Variants for ablations: methods by name, and ready sets of them."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from colgen.bounding.bundle import Bundle
from colgen.bounding.chain import Chain
from colgen.bounding.column_generation import ColumnGeneration
from colgen.bounding.subgradient import Subgradient
from colgen.bounding.volume import Volume
from colgen.branching.rules import BranchingRule
from colgen.branching.selection import MostFractional, PseudoCostBranching
from colgen.branching.strong_branching import StrongBranching
from colgen.core.errors import InputError
from colgen.core.renamed import RENAMED, refuse_old
from colgen.core.text import describe
from colgen.cuts.separation import Separation
from colgen.heuristics import Diving, RestrictedMIP
from colgen.method import Method
from colgen.options import parts_of
from colgen.pricing.oracles import Pricing
from colgen.pricing.selected import KEEP_NONE, keep_columns
from colgen.problem import Problem, method_of
from colgen.stabilization import BoxStep, Directional, NoStabilization, Penalty, Wentges

Variant: TypeAlias = Method | Problem | Callable[[Problem], Problem]
"""A method, another problem, or a function from a problem to another."""

Variants: TypeAlias = Mapping[str, Any]
"""Variants by name; a type checker sees a dictionary of methods and functions as one of objects."""

PARTS: dict[str, type] = {
    "pricing": Pricing,
    "separation": Separation,
    "branching": BranchingRule,
    "method": Method,
}
"""Methods of a problem that a variant may replace, and the class of their results."""


# --- sets ------------------------------------------------------------------------------------------------------------


def best_alone(oracles: Pricing | Iterable[Pricing]) -> list[Pricing]:
    """Return oracles that return only the best of their columns."""
    return keep_columns(oracles, KEEP_NONE)


@dataclasses.dataclass(frozen=True)
class Replaced:
    """A variant of a problem in which some methods return other parts."""

    parts: Mapping[str, Any]

    def __call__(self, problem: Problem) -> Problem:
        other = copy.copy(problem)  # only methods of the copy are replaced
        for part, value in self.parts.items():
            own = getattr(other, part)
            other.__dict__[part] = _return_value(value, partial(_fill_method, own, other) if part == "method" else own)
        return other


def replace_parts(**parts: Any) -> Replaced:
    """Return a variant of a problem in which methods return other parts.

    Parameters
    ----------
    **parts
        For each name of a method (``pricing``, ``separation``, ``branching``, ``method``) its new result, or a function
        of the original method's result.

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
            raise InputError(f"{name}: unknown part; expected {', '.join(PARTS)}")
        if callable(value) and not isinstance(value, type):
            continue
        several = isinstance(value, Iterable) and not isinstance(value, type)
        for each in value if several else (value,):
            if not isinstance(each, kind):
                raise InputError(
                    f"{name}: expected a {kind.__name__} or a function of the original one, not {describe(each)}"
                )
    return Replaced(parts)


def _fill_method(method: Callable[[], Method], problem: Problem) -> Method:
    """Return ``method()`` of a problem with defaults for unset fields."""
    return method().fill_from(Problem.method(problem))


def _return_value(value: Any, own: Callable[[], Any]) -> Callable[[], Any]:
    """Return a method that returns a value, or a function of the original result."""
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
"""The dual values for pricing."""

BOUNDINGS: Variants = {
    "default": Method(),
    "column generation": Method(bounding=ColumnGeneration()),
    "volume first": Method(bounding=Chain(Volume(200), ColumnGeneration())),
    "bundle first": Method(bounding=Chain(Bundle(100), ColumnGeneration())),
    "subgradients first": Method(bounding=Chain(Subgradient(200), ColumnGeneration())),
}
"""The bounding of nodes."""

PRICINGS: Variants = {
    "default": Method(),
    "one column a call": replace_parts(pricing=best_alone),
    "half of the oracles": Method(pricing_share=0.5),
    "a fifth of the oracles": Method(pricing_share=0.2),
}
"""The number of columns per call, and the share of oracles per round."""

CHOICES: Variants = {
    "default": Method(),
    "most fractional": Method(choice=MostFractional()),
    "pseudo-costs": Method(choice=PseudoCostBranching()),
    "strong branching": Method(choice=StrongBranching()),
}
"""The choice of branching candidates."""

HEURISTICS: Variants = {
    "default": Method(),
    "no heuristics": Method(heuristics=()),
    "restricted program": Method(heuristics=(RestrictedMIP(),)),
    "diving": Method(heuristics=(Diving(),)),
    "diving, limited discrepancy": Method(heuristics=(Diving(1, discrepancies=2),)),
    "strong diving": Method(heuristics=(Diving(1, strong=5),)),
}
"""The primal heuristics."""


def without(problem: Problem, part: str) -> dict[str, Variant]:
    """Return variants that leave out each part of a kind in turn, and all of them.

    Parameters
    ----------
    part
        ``"separation"`` (families of cuts), ``"branching"`` (rules), ``"heuristics"`` or ``"reductions"``.

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
    """A function that removes the parts of a class."""

    kind: type

    def __call__(self, own: Iterable[Any]) -> list[Any]:
        return [each for each in own if type(each) is not self.kind]


@dataclasses.dataclass(frozen=True)
class _MethodWithout:
    """A function that removes the parts of a class from a field of a method."""

    field: str
    kind: type

    def __call__(self, own: Method) -> Method:
        left: dict[str, Any] = {self.field: _Without(self.kind)(getattr(own, self.field))}
        return dataclasses.replace(own, **left)


# --- applying them ---------------------------------------------------------------------------------------------------


def check_methods(variants: Any, instances: int) -> None:
    """Raise an ``InputError`` for invalid variants, before anything is solved."""
    if not isinstance(variants, Mapping):
        raise InputError(f"methods: expected a mapping from names to methods, not {describe(variants)}")
    if not variants:
        raise InputError("methods: expected at least one method by name")
    for name, variant in variants.items():
        if not isinstance(name, str):
            raise InputError(f"methods: expected names as keys, not {describe(name)}")
        if isinstance(variant, Problem):
            if instances > 1:
                raise InputError(f"{name}: a Problem is one instance, but there are {instances}: expected a Method")
        elif not isinstance(variant, Method) and (isinstance(variant, type) or not callable(variant)):
            raise InputError(f"{name}: expected a Method, a Problem or a function of it, not {describe(variant)}")


def apply_variant(source: Problem | Callable[[], Problem], variant: Variant) -> tuple[Problem, Method]:
    """Return the problem and the method of a variant. Parts that learn are copied, so that runs are independent."""
    if isinstance(variant, Problem):
        return variant, Method()
    problem = source if isinstance(source, Problem) else source()
    method = Method()
    if isinstance(variant, Method):
        method = dataclasses.replace(variant, **{name: copy.deepcopy(getattr(variant, name)) for name in _LEARNING})
    elif isinstance(problem, Problem):
        problem = variant(problem)
    if not isinstance(problem, Problem):
        raise InputError(f"expected a function that makes a problem, but it made {describe(problem)}")
    return problem, method


def keeps_rows(variant: Variant) -> bool:
    """Return whether a variant keeps the rows and the cuts of the problem."""
    return isinstance(variant, Method) or (isinstance(variant, Replaced) and "separation" not in variant.parts)


_LEARNING = ("stabilization", "bounding", "heuristics", "choice")
