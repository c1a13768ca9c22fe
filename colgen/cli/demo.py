"""``colgen demo``: small instances by column generation and by brute force.

Nothing heavy is imported before the first line is there.
"""

from __future__ import annotations

import argparse


def demo(arguments: argparse.Namespace) -> int:
    """Solve every template's small instances in both ways."""
    print("Small instances by column generation, compared with brute force. Proved optimal,")
    print("unless it is said. The first run compiles kernels for a minute or more.", flush=True)
    from colgen.cli.demonstration import demonstrate

    return demonstrate(arguments)
