"""colgen: column and row generation with bounds that prove how good an answer is.

State a master problem in Pyomo, write an oracle for its pricing problem, call :func:`solve`.
"""

from importlib.metadata import PackageNotFoundError, version

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

try:
    __version__ = version("colgen")
except PackageNotFoundError:  # a checkout on the path that was never installed
    __version__ = "0"

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
