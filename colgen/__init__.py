"""colgen: column and row generation with bounds that prove how good an answer is.

State a master problem in Pyomo, write an oracle for its pricing problem, call :func:`solve`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from colgen.bounding.bundle import Bundle
    from colgen.bounding.chain import Chain
    from colgen.bounding.column_generation import ColumnGeneration
    from colgen.bounding.protocol import Bounded, Bounding, NodeState, OneRound, Outcome, Parts
    from colgen.bounding.subgradient import Subgradient
    from colgen.bounding.volume import Volume
    from colgen.branching.component_bounds import OnComponents, OnPairs
    from colgen.branching.rules import (
        Bound,
        BranchingRule,
        Candidate,
        OnOriginalVariable,
        OnTemplateVariable,
        RyanFoster,
        TemplateBound,
    )
    from colgen.branching.selection import Choice, Chosen, MostFractional, PseudoCostBranching
    from colgen.branching.strong_branching import StrongBranching
    from colgen.checkpoint.file import Checkpoint
    from colgen.core.budget import Budget, OutOfBudget
    from colgen.core.column_batch import Columns
    from colgen.core.column_files import load_columns, save_columns
    from colgen.core.columns import Column, Key, Row, RowFamily
    from colgen.core.decision import Apart, Decision, Together
    from colgen.core.duals import Duals
    from colgen.core.errors import ColgenError, InfeasibleAnswerError, InputError
    from colgen.core.pool import Pool
    from colgen.core.result import Certificate, Iteration, NodeVisit, Result, Termination
    from colgen.core.sense import Sense
    from colgen.core.solution import Complete, Solution
    from colgen.core.stop import AnyOf, DepthLimit, GapLimit, IterationLimit, MemoryLimit, NodeLimit, Stalled, TimeLimit
    from colgen.core.terms import Box, Count, Linear, Term
    from colgen.core.warm_start import Basis, WarmStart
    from colgen.cuts.capacity import RoundedCapacity
    from colgen.cuts.cut import Cuts
    from colgen.cuts.rank_one import RankOne
    from colgen.cuts.separation import Separation, SeparationContext
    from colgen.decomposition.decomposed import Decomposed, decompose
    from colgen.decomposition.detection import FoundBlocks, find_blocks
    from colgen.enumeration import Enumerated, Enumeration, PathEnumeration
    from colgen.fixing import ReducedCostFixing, Reduction, ReductionContext
    from colgen.heuristics import Diving, Exchanging, Heuristic, HeuristicContext, RestrictedMIP
    from colgen.many import OneOfMany, solve_many
    from colgen.master.lagrangian_master import LagrangianMaster
    from colgen.master.linear_master import LinearMaster
    from colgen.master.protocol import MasterSolution, MasterStatus, RestrictedMaster
    from colgen.master.quadratic_master import QuadraticMaster
    from colgen.method import Method
    from colgen.model.formulation import Formulation, FormulationCache, artificial, compile_model, exchange
    from colgen.options import Parallel, Record
    from colgen.parallel.executor import Executor, seeds_from
    from colgen.pricing.labelling import Labelling
    from colgen.pricing.oracles import (
        NO_STRUCTURE,
        Best,
        NoStructure,
        OraclePricing,
        PricedMarginals,
        Pricing,
        PricingContext,
        PricingResult,
        Stages,
    )
    from colgen.problem import Problem
    from colgen.reporting import plotting
    from colgen.reporting.ablation import Ablated, Ablation, ablation
    from colgen.reporting.compared import Compared, solve_complete
    from colgen.reporting.comparison import Comparison, compare, compare_all
    from colgen.reporting.live_log import LogFile
    from colgen.reporting.methods import replace_parts
    from colgen.solving import solve
    from colgen.stabilization import BoxStep, Directional, NoStabilization, Penalty, Stabilization, Wentges

_HOMES = {
    "core.budget": "Budget OutOfBudget",
    "core.decision": "Apart Decision Together",
    "branching.rules": "Bound BranchingRule OnOriginalVariable OnTemplateVariable RyanFoster TemplateBound Candidate",
    "branching.component_bounds": "OnComponents OnPairs",
    "branching.selection": "Choice Chosen MostFractional PseudoCostBranching",
    "branching.strong_branching": "StrongBranching",
    "core.column_batch": "Columns",
    "core.column_files": "load_columns save_columns",
    "core.columns": "Column Key Row RowFamily",
    "reporting.ablation": "Ablated Ablation ablation",
    "reporting.compared": "Compared solve_complete",
    "reporting.live_log": "LogFile",
    "reporting.comparison": "Comparison compare compare_all",
    "core.duals": "Duals",
    "enumeration": "Enumerated Enumeration PathEnumeration",
    "core.pool": "Pool",
    "core.errors": "ColgenError InfeasibleAnswerError InputError",
    "parallel.executor": "Executor seeds_from",
    "model.formulation": "Formulation FormulationCache artificial compile_model exchange",
    "heuristics": "Diving Exchanging Heuristic HeuristicContext RestrictedMIP",
    "master.linear_master": "LinearMaster",
    "master.protocol": "MasterSolution MasterStatus RestrictedMaster",
    "pricing.labelling": "Labelling",
    "pricing.oracles": "Best NO_STRUCTURE NoStructure OraclePricing PricedMarginals Pricing PricingContext "
    "PricingResult Stages",
    "decomposition.decomposed": "Decomposed decompose",
    "decomposition.detection": "FoundBlocks find_blocks",
    "problem": "Problem",
    "solving": "solve",
    "many": "OneOfMany solve_many",
    "core.warm_start": "Basis WarmStart",
    "bounding.protocol": "Bounded Bounding NodeState OneRound Outcome Parts",
    "bounding.bundle": "Bundle",
    "bounding.chain": "Chain",
    "bounding.column_generation": "ColumnGeneration",
    "master.lagrangian_master": "LagrangianMaster",
    "master.quadratic_master": "QuadraticMaster",
    "fixing": "ReducedCostFixing Reduction ReductionContext",
    "core.result": "Certificate Iteration NodeVisit Result Termination",
    "core.sense": "Sense",
    "core.terms": "Box Count Linear Term",
    "cuts.capacity": "RoundedCapacity",
    "cuts.cut": "Cuts",
    "cuts.rank_one": "RankOne",
    "cuts.separation": "Separation SeparationContext",
    "core.solution": "Complete Solution",
    "stabilization": "BoxStep Penalty Directional NoStabilization Stabilization Wentges",
    "bounding.subgradient": "Subgradient",
    "bounding.volume": "Volume",
    "core.stop": "AnyOf DepthLimit GapLimit IterationLimit MemoryLimit NodeLimit Stalled TimeLimit",
    "checkpoint.file": "Checkpoint",
    "method": "Method",
    "options": "Parallel Record",
    "reporting.methods": "replace_parts",
}
"""The public names of each module.  A module is imported when one of its names is first asked for, so that a command
that needs none of them starts at once, and listens to signals before anything heavy is loaded."""

_HOME_OF = {name: f"colgen.{module}" for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value: Any = _version()
    elif name == "plotting":  # a module that first notebooks import from here
        value = importlib.import_module("colgen.reporting.plotting")
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


if "pyomo.opt" in sys.modules:  # otherwise it would be loaded for the sake of a name: importing the room registers too
    importlib.import_module("colgen.decomposition")


__all__ = [
    "Ablated",
    "Ablation",
    "ablation",
    "Budget",
    "OutOfBudget",
    "WarmStart",
    "Labelling",
    "LagrangianMaster",
    "QuadraticMaster",
    "ColumnGeneration",
    "Subgradient",
    "Volume",
    "Bundle",
    "Chain",
    "Parts",
    "NodeState",
    "Bounding",
    "OneRound",
    "Outcome",
    "Bounded",
    "AnyOf",
    "Apart",
    "Basis",
    "Best",
    "Bound",
    "BoxStep",
    "BranchingRule",
    "Certificate",
    "Checkpoint",
    "ColgenError",
    "Column",
    "Cuts",
    "RankOne",
    "Term",
    "Linear",
    "Count",
    "Box",
    "Columns",
    "Compared",
    "Complete",
    "Comparison",
    "Decision",
    "DepthLimit",
    "Decomposed",
    "Directional",
    "Diving",
    "Duals",
    "Enumerated",
    "Enumeration",
    "PathEnumeration",
    "Exchanging",
    "Executor",
    "Formulation",
    "FormulationCache",
    "FoundBlocks",
    "GapLimit",
    "Heuristic",
    "HeuristicContext",
    "InfeasibleAnswerError",
    "InputError",
    "Iteration",
    "IterationLimit",
    "Key",
    "LinearMaster",
    "LogFile",
    "MasterSolution",
    "MasterStatus",
    "MemoryLimit",
    "Method",
    "NO_STRUCTURE",
    "NoStabilization",
    "NoStructure",
    "NodeLimit",
    "NodeVisit",
    "Parallel",
    "Record",
    "replace_parts",
    "OnComponents",
    "OnOriginalVariable",
    "OnPairs",
    "OnTemplateVariable",
    "OneOfMany",
    "OraclePricing",
    "Pool",
    "Penalty",
    "Pricing",
    "PricingContext",
    "PricingResult",
    "Problem",
    "Reduction",
    "ReductionContext",
    "ReducedCostFixing",
    "PricedMarginals",
    "RestrictedMIP",
    "RestrictedMaster",
    "Result",
    "Row",
    "RowFamily",
    "Candidate",
    "Choice",
    "Chosen",
    "MostFractional",
    "PseudoCostBranching",
    "StrongBranching",
    "RoundedCapacity",
    "RyanFoster",
    "Sense",
    "Separation",
    "SeparationContext",
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
    "compare_all",
    "compile_model",
    "decompose",
    "exchange",
    "find_blocks",
    "load_columns",
    "save_columns",
    "plotting",
    "seeds_from",
    "solve",
    "solve_complete",
    "solve_many",
]
