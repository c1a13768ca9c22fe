"""Path problems over networks: the statement :class:`colgen.Paths`, its resources and its rules."""

from colgen.networks.commodities import Commodities, Unsplittable
from colgen.networks.rules import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource
from colgen.networks.statement import Paths

__all__ = [
    "AtMostOne",
    "Commodities",
    "Consecutive",
    "Elementary",
    "Neighbourhoods",
    "NoCycles",
    "Paths",
    "Requests",
    "Resource",
    "Unsplittable",
]
