"""Is the installed distribution complete? `make wheel-check` runs this outside the checkout."""

import importlib
import pkgutil
import sys
from importlib.metadata import entry_points
from importlib.resources import files

SOLVERS = {"cplex", "cylp", "gurobipy", "pyscipopt", "swiglpk", "xpress"}
OPTIONAL = SOLVERS | {
    *("dask", "distributed", "hypothesis", "matplotlib", "pandas", "psutil", "pytest", "pyvrp"),
    *("jax", "sklearn", "snowballstemmer", "torch", "transformers", "ufal"),
}


def check_import(name: str) -> None:
    """Import a module; only the library of an extra may be missing."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OPTIONAL:
            raise
        return
    if not str(module.__file__).startswith(sys.prefix):
        sys.exit(f"{name} was imported from {module.__file__}, not from the installed distribution")


if not (files("colgen") / "py.typed").is_file():
    sys.exit("colgen is without py.typed")
for package in ("colgen", "colgen.problems", "colgen.solvers"):
    check_import(package)
    for found in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not found.name.endswith("__main__"):
            check_import(found.name)

for template in entry_points(group="colgen.templates"):
    template.load()
