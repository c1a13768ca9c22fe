"""What an ablation varies: methods by name, and sets of them to choose from."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
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
from colgen.cuts.separation import Separation
from colgen.enumeration import Enumeration
from colgen.fixing import Reduction
from colgen.heuristics import Diving, Heuristic, RestrictedMIP
from colgen.pricing.oracles import Pricing, PricingContext, PricingResult
from colgen.problem import Problem
from colgen.settings import check_settings, parts_of, what
from colgen.stabilization import BoxStep, Directional, NoStabilization, Penalty, Wentges

Method: TypeAlias = Mapping[str, Any] | Problem | Callable[[Problem], Problem]
Methods: TypeAlias = Mapping[str, Any]
"""With their names: a dictionary of dictionaries and functions is one of objects to a type checker."""

PARTS: dict[str, type] = {
    "pricing": Pricing,
    "separation": Separation,
    "branching": BranchingRule,
    "reductions": Reduction,
    "enumeration": Enumeration,
}
"""Methods of a problem that a method of an ablation may answer for, and the class of what they return."""

_OURS = ("stop", "time_limit", "relaxation")
"""Settings of ``solve`` that are the same for all methods."""

_SETTINGS = tuple(name for name in inspect.signature(check_settings).parameters if name not in _OURS)


# --- sets ------------------------------------------------------------------------------------------------------------


def best_alone(oracles: Pricing | Iterable[Pricing]) -> list[Pricing]:
    """Oracles that return the best of their columns alone: what several columns a call are worth."""
    return [_best_alone(oracle) for oracle in ((oracles,) if isinstance(oracles, Pricing) else oracles)]


STABILIZATIONS: Methods = {
    "default": {},
    "no stabilization": {"stabilization": NoStabilization()},
    "Wentges, 0.3": {"stabilization": Wentges(0.3)},
    "Wentges, 0.8": {"stabilization": Wentges(0.8)},
    "Wentges, automatic": {"stabilization": Wentges()},
    "Wentges, automatic, patient": {"stabilization": Wentges(patient=True)},
    "Wentges, phase 1 at real costs": {"stabilization": Wentges(real_costs=True)},
    "directional, automatic": {"stabilization": Directional()},
    "directional, by the angle": {"stabilization": Directional(beta=None)},
    "box step": {"stabilization": BoxStep()},
    "penalty, three pieces": {"stabilization": Penalty(3)},
    "penalty, five pieces": {"stabilization": Penalty(5)},
}
"""Which dual values to price at."""

BOUNDINGS: Methods = {
    "default": {},
    "column generation": {"bounding": ColumnGeneration()},
    "volume first": {"bounding": Chain(Volume(200), ColumnGeneration())},
    "bundle first": {"bounding": Chain(Bundle(100), ColumnGeneration())},
    "subgradients first": {"bounding": Chain(Subgradient(200), ColumnGeneration())},
}
"""What nodes are bounded by."""

PRICINGS: Methods = {
    "default": {},
    "one column a call": {"pricing": best_alone},
    "half of the oracles": {"pricing_share": 0.5},
    "a fifth of the oracles": {"pricing_share": 0.2},
}
"""How many columns a call, and how many of the oracles at a time."""

CHOICES: Methods = {
    "default": {},
    "most fractional": {"choice": MostFractional()},
    "pseudo-costs": {"choice": PseudoCostBranching()},
    "strong branching": {"choice": StrongBranching()},
}
"""How the tree chooses what to branch on."""

HEURISTICS: Methods = {
    "default": {},
    "no heuristics": {"heuristics": ()},
    "restricted program": {"heuristics": (RestrictedMIP(),)},
    "diving": {"heuristics": (Diving(),)},
    "diving, limited discrepancy": {"heuristics": (Diving(1, discrepancies=2),)},
    "strong diving": {"heuristics": (Diving(1, strong=5),)},
}
"""Where answers come from."""


def without(problem: Problem, part: str) -> dict[str, Method]:
    """Methods that leave out one after the other of a problem's parts of a kind, and all of them.

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
    own = parts_of(getattr(problem, part)(), PARTS.get(part, Heuristic), problem, part)
    methods: dict[str, Method] = {"default": {}}
    if part == "heuristics":  # a setting of solve already
        for k, each in enumerate(own):
            methods[f"without {type(each).__name__}"] = {part: own[:k] + own[k + 1 :]}
        return methods | {"no heuristics": {part: ()}} if own else methods
    if len(own) > 1:
        for each in own:
            methods[f"without {type(each).__name__}"] = {part: _Except(type(each))}
    return methods | {f"no {part}": {part: ()}} if own else methods


@dataclasses.dataclass(frozen=True)
class _Except:
    """A problem's own parts, but for those of a class."""

    kind: type

    def __call__(self, own: Any) -> list[Any]:
        return [each for each in own if type(each) is not self.kind]


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


def check_methods(methods: Any, instances: int) -> None:
    """Refuse what is no set of methods, before anything is solved.

    Raises
    ------
    InputError
        With the method's name.
    """
    if not isinstance(methods, Mapping):
        raise InputError(f"methods: expected a mapping from names to settings of solve, not {what(methods)}")
    if not methods:
        raise InputError("methods: expected one method or more, by name")
    for name, method in methods.items():
        if not isinstance(name, str):
            raise InputError(f"methods: expected names as keys, not {what(name)}")
        if isinstance(method, Problem):
            if instances > 1:
                raise InputError(f"{name}: a problem stands for one instance, here are {instances}: say settings")
        elif isinstance(method, Mapping):
            _check_settings(name, method)
        elif isinstance(method, type) or not callable(method):
            raise InputError(f"{name}: expected settings of solve, as a dictionary, or a Problem, not {what(method)}")


def _check_settings(name: str, method: Mapping[str, Any]) -> None:
    for setting in method:
        if setting in _OURS:
            raise InputError(f"{name}: {setting} is the same for all methods: say it to ablation")
        if setting not in _SETTINGS and setting not in PARTS:
            known = ", ".join((*_SETTINGS, *PARTS))
            raise InputError(f"{name}: there is no setting {setting!r}; there are: {known}")
        _check_part(name, setting, method[setting])
    try:
        check_settings(**{setting: value for setting, value in method.items() if setting not in PARTS})
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _check_part(name: str, part: str, value: Any) -> None:
    """Refuse what a method of a problem could not return; what a function makes of it is seen when it is asked."""
    kind = PARTS.get(part)
    if kind is None or (callable(value) and not isinstance(value, type)) or (part == "enumeration" and value is None):
        return
    several = isinstance(value, Iterable) and part != "enumeration" and not isinstance(value, type)
    for each in value if several else (value,):
        if not isinstance(each, kind):
            raise InputError(f"{name}: {part}: expected a {kind.__name__}, or a function of the own, not {what(each)}")


def applied(source: Problem | Callable[[], Problem], method: Method) -> tuple[Problem, dict[str, Any]]:
    """The problem of a method, and what ``solve`` is told; parts that learn are copied, so that no run teaches another.

    Raises
    ------
    InputError
        If a function makes no problem.
    """
    if isinstance(method, Problem):
        return method, {}
    problem = source if isinstance(source, Problem) else source()
    if isinstance(problem, Problem) and not isinstance(method, Mapping):
        problem, method = method(problem), {}
    if not isinstance(problem, Problem):
        raise InputError(f"expected a function that makes a problem; it made {what(problem)}")
    settings = {k: copy.deepcopy(v) if k in _LEARNING else v for k, v in method.items() if k not in PARTS}
    parts = {k: v for k, v in method.items() if k in PARTS}
    if parts:
        problem = copy.copy(problem)  # the methods of one object are replaced, and those of the caller's left alone
        for part, value in parts.items():
            problem.__dict__[part] = _answering(value, getattr(problem, part))
    return problem, settings


def keeps_rows(method: Method) -> bool:
    """Whether a method leaves the problem its rows and its cuts."""
    return isinstance(method, Mapping) and "separation" not in method


_LEARNING = ("stabilization", "bounding", "heuristics", "choice")


def _answering(value: Any, own: Callable[[], Any]) -> Callable[[], Any]:
    """A method of a problem that answers with a value, or with what a function makes of its own answer."""
    if callable(value) and not isinstance(value, type):
        return lambda: value(own())
    return lambda: value
