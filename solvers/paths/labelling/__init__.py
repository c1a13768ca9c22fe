"""Shortest paths with resource constraints: elementary, ng-routes and relaxations, by labelling."""

from solvers.paths.labelling.boxes import BoxDuals
from solvers.paths.labelling.clock import LabelLimitError
from solvers.paths.labelling.custom import CustomResource
from solvers.paths.labelling.labelling import Labelling
from solvers.paths.labelling.memory import nearest
from solvers.paths.labelling.network import Network
from solvers.paths.labelling.rank_one import RankOneDuals, coefficients
from solvers.paths.labelling.resources import Resource
from solvers.paths.labelling.routes import Completion, Routes

__all__ = [
    "BoxDuals",
    "Completion",
    "CustomResource",
    "LabelLimitError",
    "Labelling",
    "Network",
    "RankOneDuals",
    "Resource",
    "Routes",
    "coefficients",
    "nearest",
]
