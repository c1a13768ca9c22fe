"""What old names have become: one table, for the errors that name the new ones and for the changelog."""

from __future__ import annotations

from collections.abc import Iterable

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
    "solve_many": {
        "client": "parallel=Parallel(cluster=...)",
        "workers": "parallel=Parallel(workers=...)",
        "seconds": "time_limit=...",
    },
}
"""Old names and new ones, by the function or class that they belonged to."""


def refuse_old(owner: str, names: Iterable[str]) -> None:
    """Refuse keywords that a function does not have, with the new name of those that it had.

    Raises
    ------
    InputError
        Naming the first of them.
    """
    for name in names:
        new = RENAMED.get(owner, {}).get(name)
        if new is not None:
            raise InputError(f"{name}: {owner} has no such keyword any more; write {new}")
        raise InputError(f"{name}: {owner} has no such keyword; its keywords are listed by help(colgen.{owner})")
