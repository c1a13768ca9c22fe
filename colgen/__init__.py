"""colgen: column and row generation with bounds that prove how good an answer is.

State a master problem in Pyomo, write an oracle for its pricing problem, call :func:`solve`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colgen.branching import (
        Apart,
        Bound,
        BranchingRule,
        Decision,
        OnOriginalVariable,
        OnTemplateVariable,
        RyanFoster,
        TemplateBound,
        Together,
    )
    from colgen.columns import Column, Key, Row
    from colgen.comparison import Compared, Comparison, compare, solve_complete
    from colgen.duals import Duals
    from colgen.enumeration import Enumerated, Enumeration
    from colgen.errors import ColgenError, InputError
    from colgen.executor import Executor, seeds_from
    from colgen.formulation import Formulation, FormulationCache, artificial, compile_model
    from colgen.heuristics import Diving, Heuristic, HeuristicContext, RestrictedMIP
    from colgen.linear_master import LinearMaster
    from colgen.master import MasterSolution, MasterStatus, RestrictedMaster
    from colgen.pricing import Best, OraclePricing, Pricing, PricingContext, PricingResult, Stages
    from colgen.problem import Problem, solve
    from colgen.proof import Proof
    from colgen.reduction import Reduction, ReductionContext
    from colgen.result import Certificate, Iteration, Result, Termination
    from colgen.sense import Sense
    from colgen.separation import Separation
    from colgen.solution import Solution
    from colgen.stabilization import NoStabilization, Stabilization, Wentges
    from colgen.stop import AnyOf, GapLimit, IterationLimit, MemoryLimit, Stalled, TimeLimit

_HOMES = {
    "branching": "Apart Bound BranchingRule Decision OnOriginalVariable OnTemplateVariable RyanFoster "
    "TemplateBound Together",
    "columns": "Column Key Row",
    "comparison": "Compared Comparison compare solve_complete",
    "duals": "Duals",
    "enumeration": "Enumerated Enumeration",
    "errors": "ColgenError InputError",
    "executor": "Executor seeds_from",
    "formulation": "Formulation FormulationCache artificial compile_model",
    "heuristics": "Diving Heuristic HeuristicContext RestrictedMIP",
    "linear_master": "LinearMaster",
    "master": "MasterSolution MasterStatus RestrictedMaster",
    "pricing": "Best OraclePricing Pricing PricingContext PricingResult Stages",
    "problem": "Problem solve",
    "proof": "Proof",
    "reduction": "Reduction ReductionContext",
    "result": "Certificate Iteration Result Termination",
    "sense": "Sense",
    "separation": "Separation",
    "solution": "Solution",
    "stabilization": "NoStabilization Stabilization Wentges",
    "stop": "AnyOf GapLimit IterationLimit MemoryLimit Stalled TimeLimit",
}
"""The public names of each module.  A module is imported when one of its names is first asked for, so that a command
that needs none of them starts at once, and listens to signals before anything heavy is loaded."""

_HOME_OF = {name: f"colgen.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'colgen' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("colgen")
    except PackageNotFoundError:  # a checkout on the path that was never installed
        return "0"


__all__ = [
    "AnyOf",
    "Apart",
    "Best",
    "Bound",
    "BranchingRule",
    "Certificate",
    "ColgenError",
    "Column",
    "Compared",
    "Comparison",
    "Decision",
    "Diving",
    "Duals",
    "Enumerated",
    "Enumeration",
    "Executor",
    "Formulation",
    "FormulationCache",
    "GapLimit",
    "Heuristic",
    "HeuristicContext",
    "InputError",
    "Iteration",
    "IterationLimit",
    "Key",
    "LinearMaster",
    "MasterSolution",
    "MasterStatus",
    "MemoryLimit",
    "NoStabilization",
    "OnOriginalVariable",
    "OnTemplateVariable",
    "OraclePricing",
    "Pricing",
    "PricingContext",
    "PricingResult",
    "Problem",
    "Proof",
    "Reduction",
    "ReductionContext",
    "RestrictedMIP",
    "RestrictedMaster",
    "Result",
    "Row",
    "RyanFoster",
    "Sense",
    "Separation",
    "Solution",
    "Stabilization",
    "Stages",
    "Stalled",
    "TemplateBound",
    "Termination",
    "TimeLimit",
    "Together",
    "Wentges",
    "artificial",
    "compare",
    "compile_model",
    "seeds_from",
    "solve",
    "solve_complete",
]
