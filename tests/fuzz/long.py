"""An instance of every template that takes at least seconds, for time limits and interrupts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from colgen import Problem
from colgen.problems.assignment import Assignment
from colgen.problems.assignment import random as random_tasks
from colgen.problems.assignment import write as write_tasks
from colgen.problems.chain_map import ChainMAP
from colgen.problems.chain_map.instance import random as random_chains
from colgen.problems.colouring import Colouring
from colgen.problems.colouring import random as random_graph
from colgen.problems.colouring import write as write_graph
from colgen.problems.coreference import Coreference
from colgen.problems.coreference.instance import random_signs, write_matrix
from colgen.problems.cutting_stock import CuttingStock
from colgen.problems.cutting_stock.generators import triplets
from colgen.problems.cutting_stock.reading import write as write_rolls
from colgen.problems.grandparent_parsing import GrandparentParsing
from colgen.problems.grandparent_parsing import random as random_sentence
from colgen.problems.grandparent_parsing import write as write_sentence
from colgen.problems.nonlocal_parsing import NonlocalParsing
from colgen.problems.nonlocal_parsing import random as random_factors
from colgen.problems.nonlocal_parsing import write as write_factors
from colgen.problems.title_path import TitlePath
from colgen.problems.title_path import random as random_digraph
from colgen.problems.title_path import write as write_digraph
from colgen.problems.vehicle_routing import VehicleRouting
from colgen.problems.vehicle_routing import random as random_customers
from colgen.problems.vehicle_routing.files import write as write_customers

INSTANCES: dict[str, Callable[[], Any]] = {
    "assignment": lambda: random_tasks(10, 60, 1),
    "chain_map": lambda: random_chains(1, length=900, labels=1000, evidence=0.0),
    "colouring": lambda: random_graph(90, 1),
    "coreference": lambda: random_signs(45, 1),
    "cutting_stock": lambda: triplets(80, 1),
    "grandparent_parsing": lambda: random_sentence(60, 1, siblings=True),
    "nonlocal_parsing": lambda: random_factors(60, 1, strength=3.0),
    "title_path": lambda: random_digraph(60, 30, 1, num_classes=40, attraction=3.0),
    "vehicle_routing": lambda: random_customers(1, customers=60, stops=12.0),
}

PROBLEMS: dict[str, Callable[[Any], Problem]] = {
    "assignment": Assignment,
    "chain_map": lambda instance: ChainMAP(instance, start=1),
    "colouring": Colouring,
    "coreference": Coreference,
    "cutting_stock": CuttingStock,
    "grandparent_parsing": GrandparentParsing,
    "nonlocal_parsing": NonlocalParsing,
    "title_path": TitlePath,
    "vehicle_routing": VehicleRouting,
}


def write_all(directory: Path) -> dict[str, Path]:
    """Write each instance to a file; return the paths."""
    writers: dict[str, tuple[str, Callable[[Any, Path], object]]] = {
        "assignment": (".txt", write_tasks),
        "chain_map": (".npz", lambda instance, path: instance.write(path)),
        "colouring": (".col", write_graph),
        "coreference": (".npz", write_matrix),
        "cutting_stock": (".txt", write_rolls),
        "grandparent_parsing": (".npz", write_sentence),
        "nonlocal_parsing": (".npz", write_factors),
        "title_path": (".json", write_digraph),
        "vehicle_routing": (".txt", write_customers),
    }
    files = {}
    for name, (suffix, write) in writers.items():
        files[name] = directory / f"{name}{suffix}"
        write(INSTANCES[name](), files[name])
    return files
