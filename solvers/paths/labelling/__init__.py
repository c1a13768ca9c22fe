"""Shortest paths with resource constraints: elementary, ng-routes and relaxations, by labelling."""

from colgen.solvers.paths.labelling.boxes import BoxDuals
from colgen.solvers.paths.labelling.clock import LabelLimitError
from colgen.solvers.paths.labelling.custom import CustomResource
from colgen.solvers.paths.labelling.labelling import Labelling
from colgen.solvers.paths.labelling.neighbourhoods import nearest
from colgen.solvers.paths.labelling.network import Network
from colgen.solvers.paths.labelling.rank_one import RankOneDuals, coefficients
from colgen.solvers.paths.labelling.resources import Resource
from colgen.solvers.paths.labelling.routes import Completion, Routes
from colgen.solvers.paths.labelling.rules import Alternatives, Exclude, Pairs

__all__ = [
    "Alternatives",
    "BoxDuals",
    "Completion",
    "CustomResource",
    "Exclude",
    "LabelLimitError",
    "Labelling",
    "Network",
    "Pairs",
    "RankOneDuals",
    "Resource",
    "Routes",
    "coefficients",
    "nearest",
]
