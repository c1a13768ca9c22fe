"""Path problems over networks: the statement :class:`colgen.Paths`, its resources and its rules."""

from colgen.networks.rules import AtMostOne, Consecutive, Elementary, Neighbourhoods, NoCycles, Requests, Resource
from colgen.networks.statement import Paths

__all__ = [
    "AtMostOne",
    "Consecutive",
    "Elementary",
    "Neighbourhoods",
    "NoCycles",
    "Paths",
    "Requests",
    "Resource",
]
