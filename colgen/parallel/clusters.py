"""Which cluster is meant: what users name, as the engine sees it."""

from __future__ import annotations

from typing import Any

from colgen.core.errors import InputError
from colgen.parallel.cluster import Cluster
from colgen.parallel.dask_cluster import DaskCluster, is_client
from colgen.parallel.executor import usable_processors
from colgen.parallel.processes import Processes

PROCESSES = "processes"
"""Instead of an address: processes of this machine, without Dask."""

_NAMES = ("submit", "as_completed", "result", "cancel", "is_lost", "count", "isolates", "close")
"""What makes something a :class:`Cluster`."""


def cluster_of(client: Any, workers: int | None = None) -> tuple[Cluster, bool]:
    """The cluster that is meant, and whether it is made for it, so that whoever asks closes it.

    Raises
    ------
    InputError
        If none is, or nobody answers at an address.
    """
    check_client(client)
    if client is None or client == PROCESSES:
        return Processes(workers or usable_processors()), True
    if isinstance(client, str):
        return DaskCluster.at(client, workers), True
    if is_client(client):
        return DaskCluster(client), False
    found: Cluster = client
    return found, False


def check_client(client: Any) -> None:
    """Refuse what stands for no cluster; nobody is asked yet whether there is somebody at an address."""
    if client is None or (isinstance(client, str) and client) or is_client(client):
        return
    if not all(hasattr(client, name) for name in _NAMES) or isinstance(client, type):
        kind = repr(client) if isinstance(client, (int, float, str)) else f"a {type(client).__name__}"
        raise InputError(f"client: expected a client of Dask, an address or a Cluster, not {kind}")
