"""Path problems over networks: the statement :class:`colgen.Paths`, its resources and its rules."""

from colgen.networks.rules import Consecutive, Elementary, Neighbourhoods, NoCycles, Resource
from colgen.networks.statement import Paths

__all__ = ["Consecutive", "Elementary", "Neighbourhoods", "NoCycles", "Paths", "Resource"]
