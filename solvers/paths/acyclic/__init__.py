"""Shortest paths through the states of a network: acyclic networks, and costs by integer time."""

from colgen.solvers.paths.acyclic.acyclic import Acyclic, StateCompletion, StateRoutes
from colgen.solvers.paths.acyclic.states import States

__all__ = ["Acyclic", "StateCompletion", "StateRoutes", "States"]
