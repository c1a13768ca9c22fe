"""``colgen demo``: small instances by column generation and by brute force.

Slow imports come after the first printed line.
"""

from __future__ import annotations

import argparse

from colgen.cli.template import check_names


def demo(arguments: argparse.Namespace) -> int:
    """Solve the small instances of templates by brute force and by column generation."""
    check_names(arguments.templates)
    print("Small instances by column generation, compared with brute force. Proved optimal")
    print("unless stated otherwise. The first run compiles kernels, once per machine.", flush=True)
    from colgen.cli.demonstration import demonstrate

    return demonstrate(arguments)
