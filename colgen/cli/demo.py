"""``colgen demo``: small instances by column generation and by brute force.

Nothing heavy is imported before the first line is there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable


def demo(arguments: argparse.Namespace) -> int:
    """Say what is coming, then solve every template's small instances in both ways."""
    print("Small instances by column generation, beside brute force. Proved optimal, unless")
    print("it is said. Kernels are compiled at first use, once: the first minute is theirs.", flush=True)
    from colgen.cli import first_result

    if arguments.templates or not first_result.nothing_is_compiled():
        return _demonstrate(arguments)
    with first_result.interpreting() as other:
        return _demonstrate(arguments, other.join)


def _demonstrate(arguments: argparse.Namespace, ready: Callable[[], object] = lambda: None) -> int:
    from colgen.cli.demonstration import demonstrate

    return demonstrate(arguments, ready)
