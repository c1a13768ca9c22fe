"""Old names and their replacements, for error messages and the changelog (promise 12)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from colgen.core.errors import InputError

RENAMED: dict[str, dict[str, str]] = {
    "solve": {
        "stabilization": "method=Method(stabilization=...)",
        "bounding": "method=Method(bounding=...)",
        "heuristics": "method=Method(heuristics=...)",
        "choice": "method=Method(choice=...)",
        "queue": "method=Method(queue=...)",
        "pricing_share": "method=Method(pricing_share=...)",
        "clean_up_after": "method=Method(clean_up_after=...)",
        "tolerance": "method=Method(tolerance=...)",
        "lp": "method=Method(lp=...)",
        "lp_options": "method=Method(lp_options=...)",
        "node_limit": "stop=NodeLimit(...)",
        "depth_limit": "stop=DepthLimit(...)",
        "keep_duals": "record=Record(duals=True)",
        "keep_values": "record=Record(values=True)",
        "on_node": "record=Record(on_node=...)",
        "certificate": "record=Record(certificate=...)",
        "workers": "parallel=Parallel(workers=...)",
        "node_batch": "parallel=Parallel(node_batch=...)",
        "client": "parallel=Parallel(cluster=...)",
        "free_running": "parallel=Parallel(free_running=True)",
        "every": "checkpoint=Checkpoint(path, every=...)",
        "pool": "start=...",
    },
    "solve_many": {"seconds": "time_limit=..."},
    "replace_parts": {
        "reductions": "Method(reductions=...)",
        "enumeration": "Method(enumeration=...)",
    },
    "CuttingStock": {
        "stock": "CuttingStockInstance(..., stock=...)",
        "conflicts": "CuttingStockInstance(..., conflicts=...)",
        "patterns": "CuttingStockInstance(..., patterns=...)",
    },
}
"""Old keywords and their replacements, by function."""

METHODS: dict[str, dict[str, str]] = {
    "Problem": {
        "stabilization": "method() -> Method(stabilization=...)",
        "bounding": "method() -> Method(bounding=...)",
        "heuristics": "method() -> Method(heuristics=...)",
        "choice": "method() -> Method(choice=...)",
        "reductions": "method() -> Method(reductions=...)",
        "enumeration": "method() -> Method(enumeration=...)",
        "sharpen": "method() -> Method(rounding=...)",
        "complete": "method() -> Method(complete=...)",
        "column_of": "codec() -> Codec(read=...)",
        "written": "codec() -> Codec(write=...)",
        "digest": "identity",
        "finished": "finish(result)",
        "formulation": "master() -> Rows",
        "restricted_master": "master() -> RestrictedMaster",
        "shape_data": "master() -> Rows",
    },
    "RestrictedMaster": {
        "add_results": "add(columns, rows, origins)",
        "along_a_ray": "rows.far_points",
        "apply": "node.apply",
        "basis": "node.basis",
        "begin_feasible": "node.begin_feasible",
        "best_known": "rows.best_known",
        "centre": "rows.signed",
        "checks_rows": "rows.checks_answers",
        "cost_rounding": "precision.cost_rounding",
        "dual_bound": "bound",
        "end_exchanges": "node.end_exchanges",
        "exchanged": "integer.exchange",
        "exchanges": "MasterSolution.exchanging",
        "feasibility_tolerance": "precision.feasibility",
        "finest": "precision.finest",
        "fix": "node.fix",
        "guessed": "rows.guess",
        "has_row": "rows.__contains__",
        "held": "find(columns)",
        "holds": "find(columns)",
        "improving": "PricingResult(together=True)",
        "improving_of_each": "PricingResult(together=True)",
        "is_driven": "rows.has_artificials",
        "is_open": "at(position).is_open",
        "is_whole": "MasterSolution.integral",
        "itemised": "rows.itemised",
        "joined_rows": "rows.joined",
        "linking": "rows.linking",
        "made_whole": "Solution.round",
        "named": "Duals.named",
        "needs_duals": "holds_columns",
        "objective_of": "rows.objective_of",
        "offset": "precision.offset",
        "origin": "at(position).origin",
        "overuses": "rows.overuses",
        "packing_sides": "rows.packing_sides",
        "real_costs": "rows.real_costs",
        "reduced_costs": "price(columns, duals)",
        "refine": "rows.refine",
        "remove_stale": "node.remove_stale",
        "restore": "node.restore",
        "rounded": "integer.round",
        "rounding": "precision.rounding",
        "rounding_at": "rows.rounding_at",
        "scale": "precision.scale",
        "set_options": "LinearMaster.set_solver",
        "sides": "rows.sides",
        "signed": "rows.signed",
        "solve_in_a_box": "rows.far_points",
        "solve_integer": "integer.solve",
        "solve_over": "integer.solve_over",
        "solves_integers": "integer",
        "start_at": "node.restore",
        "subgradient": "rows.subgradient",
        "terms": "MasterSolution.terms",
        "violation": "rows.violation",
    },
    "DecisionMaker": {"revived": "restore(kind, data)"},
    "Separation": {"revived": "restore(key, lower, upper)"},
}
"""Old methods and attributes and their replacements, by the class that users subclass."""


MOVED = {
    "Ablated": "colgen.reporting.ablation",
    "Ablation": "colgen.reporting.ablation",
    "AnyOf": "colgen.core.stop",
    "Apart": "colgen.core.decision",
    "Basis": "colgen.core.warm_start",
    "Bound": "colgen.branching.rules",
    "Bounded": "colgen.bounding.protocol",
    "Bounding": "colgen.bounding.protocol",
    "Box": "colgen.core.terms",
    "BoxStep": "colgen.stabilization",
    "Budget": "colgen.core.budget",
    "Bundle": "colgen.bounding.bundle",
    "Candidate": "colgen.branching.rules",
    "Certificate": "colgen.core.result",
    "Chain": "colgen.bounding.chain",
    "Choice": "colgen.branching.selection",
    "Chosen": "colgen.branching.selection",
    "Compared": "colgen.reporting.compared",
    "Comparison": "colgen.reporting.comparison",
    "Complete": "colgen.core.solution",
    "Count": "colgen.core.terms",
    "Cuts": "colgen.cuts.cut",
    "Decomposed": "colgen.decomposition.decomposed",
    "Enumerated": "colgen.enumeration",
    "Enumeration": "colgen.enumeration",
    "Exchanging": "colgen.heuristics",
    "Executor": "colgen.parallel.executor",
    "FoundBlocks": "colgen.decomposition.detection",
    "Key": "colgen.core.columns",
    "LagrangianMaster": "colgen.master.lagrangian_master",
    "Linear": "colgen.core.terms",
    "LogFile": "colgen.reporting.live_log",
    "MasterSolution": "colgen.master.protocol",
    "MasterStatus": "colgen.master.protocol",
    "NoStructure": "colgen.pricing.oracles",
    "NodeState": "colgen.bounding.protocol",
    "NodeVisit": "colgen.core.result",
    "OnPairs": "colgen.branching.component_bounds",
    "OneOfMany": "colgen.many",
    "OneRound": "colgen.bounding.protocol",
    "OutOfBudget": "colgen.core.budget",
    "Outcome": "colgen.bounding.protocol",
    "Parts": "colgen.bounding.protocol",
    "PathEnumeration": "colgen.enumeration",
    "Penalty": "colgen.stabilization",
    "PricedMarginals": "colgen.pricing.oracles",
    "PseudoCostBranching": "colgen.branching.selection",
    "QuadraticMaster": "colgen.master.quadratic_master",
    "ReducedCostFixing": "colgen.fixing",
    "Reduction": "colgen.fixing",
    "ReductionContext": "colgen.fixing",
    "RestrictedMaster": "colgen.master.protocol",
    "RowFamily": "colgen.core.columns",
    "Stalled": "colgen.core.stop",
    "Subgradient": "colgen.bounding.subgradient",
    "TemplateBound": "colgen.branching.rules",
    "Term": "colgen.core.terms",
    "Together": "colgen.core.decision",
    "Volume": "colgen.bounding.volume",
    "compile_model": "colgen.model.rows",
    "find_blocks": "colgen.decomposition.detection",
    "replace_parts": "colgen.reporting.methods",
    "seeds_from": "colgen.parallel.executor",
    "solve_complete": "colgen.reporting.compared",
}
"""Names that were moved out of ``colgen``, and the modules to import them from."""

GONE = {
    "Formulation": "Rows",
    "load_columns": "solve(problem, start=path)",
    "save_columns": "result.pool.save(path)",
}
"""Names that were removed from ``colgen``, and their replacements."""


def refuse_old(function: Callable[..., Any], names: Iterable[str]) -> None:
    """Raise InputError for the first unknown keyword, with the replacement of an old one of it or of ``solve``."""
    owner = function.__name__
    for name in names:
        new, of_solve = RENAMED.get(owner, {}).get(name), RENAMED["solve"].get(name)
        if new is None and of_solve is not None:
            shared = of_solve.partition("=")[0] in inspect.signature(function).parameters
            new = of_solve if shared else f"solve(problem, {of_solve})"
        if new is not None:
            raise InputError(f"{name}: {owner} has no such keyword any more; write {new}")
        raise InputError(f"{name}: {owner} has no such keyword; its keywords are listed by help({owner})")


def refuse_old_methods(owner: str, kind: type) -> None:
    """Raise InputError if a class defines a method or attribute that its base classes no longer have."""
    old = METHODS[owner].keys() & vars(kind).keys()
    for name in sorted(name for name in old if not any(name in vars(base) for base in kind.__mro__[1:])):
        raise InputError(f"{kind.__name__}.{name}: {owner} no longer has this member; define {METHODS[owner][name]}")


def missing(owner: str, instance: object, name: str) -> AttributeError:
    """Return the error for a missing attribute, with the replacement of an old one."""
    new = METHODS[owner].get(name)
    instead = "" if new is None else f" any more; write {new}"
    return AttributeError(f"{type(instance).__name__!r} object has no attribute {name!r}{instead}")
