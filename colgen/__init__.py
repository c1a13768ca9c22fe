"""colgen: column and row generation with bounds that prove how good an answer is.

State a master problem in Pyomo, write an oracle for its pricing problem, call :func:`solve`.
Importing the package has no side effects (promise 11).
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colgen.bounding.column_generation import ColumnGeneration
    from colgen.branching.component_bounds import OnComponents
    from colgen.branching.rules import BranchingRule, OnOriginalVariable, OnTemplateVariable, RyanFoster
    from colgen.branching.selection import MostFractional
    from colgen.branching.strong_branching import StrongBranching
    from colgen.checkpoint.file import Checkpoint
    from colgen.core.column_batch import Columns
    from colgen.core.columns import Column, Row
    from colgen.core.decision import Decision
    from colgen.core.duals import Duals
    from colgen.core.errors import ColgenError, InfeasibleAnswerError, InputError
    from colgen.core.pool import Pool
    from colgen.core.result import Iteration, Result, Termination
    from colgen.core.sense import Sense
    from colgen.core.solution import Solution
    from colgen.core.stop import DepthLimit, GapLimit, IterationLimit, MemoryLimit, NodeLimit, TimeLimit
    from colgen.core.warm_start import WarmStart
    from colgen.cuts.capacity import RoundedCapacity
    from colgen.cuts.rank_one import RankOne
    from colgen.cuts.separation import Separation, SeparationContext
    from colgen.decomposition.decomposing import decompose
    from colgen.decomposition.reading.compact_model import CompactModel
    from colgen.decomposition.reading.files import read
    from colgen.heuristics import Diving, Heuristic, HeuristicContext, RestrictedMIP
    from colgen.many import solve_many
    from colgen.master.linear_master import LinearMaster
    from colgen.method import Method
    from colgen.model.marks import artificial, exchange
    from colgen.model.rows import Rows
    from colgen.networks.statement import Paths
    from colgen.options import Parallel, Record
    from colgen.pricing.labelling import Labelling
    from colgen.pricing.oracles import NO_STRUCTURE, Best, OraclePricing, Pricing, PricingContext, PricingResult, Stages
    from colgen.problem import Problem
    from colgen.reporting import plotting
    from colgen.reporting.ablation import ablation
    from colgen.reporting.comparison import compare, compare_all
    from colgen.solving import solve
    from colgen.stabilization import Directional, NoStabilization, Stabilization, Wentges

_HOMES = {
    "bounding.column_generation": "ColumnGeneration",
    "branching.component_bounds": "OnComponents",
    "branching.rules": "BranchingRule OnOriginalVariable OnTemplateVariable RyanFoster",
    "branching.selection": "MostFractional",
    "branching.strong_branching": "StrongBranching",
    "checkpoint.file": "Checkpoint",
    "core.column_batch": "Columns",
    "core.columns": "Column Row",
    "core.decision": "Decision",
    "core.duals": "Duals",
    "core.errors": "ColgenError InfeasibleAnswerError InputError",
    "core.pool": "Pool",
    "core.result": "Iteration Result Termination",
    "core.sense": "Sense",
    "core.solution": "Solution",
    "core.stop": "DepthLimit GapLimit IterationLimit MemoryLimit NodeLimit TimeLimit",
    "core.warm_start": "WarmStart",
    "cuts.capacity": "RoundedCapacity",
    "cuts.rank_one": "RankOne",
    "cuts.separation": "Separation SeparationContext",
    "decomposition.decomposing": "decompose",
    "decomposition.reading.compact_model": "CompactModel",
    "decomposition.reading.files": "read",
    "heuristics": "Diving Heuristic HeuristicContext RestrictedMIP",
    "many": "solve_many",
    "master.linear_master": "LinearMaster",
    "method": "Method",
    "model.marks": "artificial exchange",
    "model.rows": "Rows",
    "networks.statement": "Paths",
    "options": "Parallel Record",
    "pricing.labelling": "Labelling",
    "pricing.oracles": "Best NO_STRUCTURE OraclePricing Pricing PricingContext PricingResult Stages",
    "problem": "Problem",
    "reporting.ablation": "ablation",
    "reporting.comparison": "compare compare_all",
    "solving": "solve",
    "stabilization": "Directional NoStabilization Stabilization Wentges",
}
"""The public names of each module. A module is imported when one of its names is first used, so that a command that
needs none of them starts at once and handles signals before anything heavy is loaded."""

_HOME_OF = {name: f"colgen.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name == "plotting":  # a module that notebooks import from here
        value = importlib.import_module("colgen.reporting.plotting")
    elif name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'colgen' has no attribute {name!r}{_moved(name)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "__version__"])


def _moved(name: str) -> str:
    """Return a hint for a name that was moved or removed; empty for any other name."""
    from colgen.core.renamed import GONE, MOVED

    if name in GONE:
        return f": write {GONE[name]}"
    return f": write from {MOVED[name]} import {name}" if name in MOVED else ""


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("colgen")
    except PackageNotFoundError:  # a checkout on the path that is not installed
        return "0"


if "pyomo.opt" in sys.modules:  # registers colgen as a Pyomo solver; not worth loading Pyomo for
    importlib.import_module("colgen.decomposition")


__all__ = [
    "Best",
    "BranchingRule",
    "Checkpoint",
    "ColgenError",
    "Column",
    "ColumnGeneration",
    "Columns",
    "CompactModel",
    "Decision",
    "DepthLimit",
    "Directional",
    "Diving",
    "Duals",
    "Rows",
    "GapLimit",
    "Heuristic",
    "HeuristicContext",
    "InfeasibleAnswerError",
    "InputError",
    "Iteration",
    "IterationLimit",
    "Labelling",
    "LinearMaster",
    "MemoryLimit",
    "Method",
    "MostFractional",
    "NO_STRUCTURE",
    "NoStabilization",
    "NodeLimit",
    "OnComponents",
    "OnOriginalVariable",
    "OnTemplateVariable",
    "OraclePricing",
    "Parallel",
    "Paths",
    "Pool",
    "Pricing",
    "PricingContext",
    "PricingResult",
    "Problem",
    "RankOne",
    "Record",
    "RestrictedMIP",
    "Result",
    "RoundedCapacity",
    "Row",
    "RyanFoster",
    "Sense",
    "Separation",
    "SeparationContext",
    "Solution",
    "Stabilization",
    "Stages",
    "StrongBranching",
    "Termination",
    "TimeLimit",
    "WarmStart",
    "Wentges",
    "ablation",
    "artificial",
    "compare",
    "compare_all",
    "decompose",
    "exchange",
    "plotting",
    "read",
    "solve",
    "solve_many",
]
