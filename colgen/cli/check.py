"""``colgen check``: whether all that a certificate says is true."""

from __future__ import annotations

import argparse

from colgen.certificate import checker
from colgen.core.files import check_readable


def check_file(arguments: argparse.Namespace) -> int:
    """Check a certificate, against an instance's file if one is named; the exit codes are the checker's own."""
    paths = [arguments.file] if arguments.instance is None else [arguments.file, arguments.instance]
    for path in paths:
        check_readable(path)
    return checker.main([str(path) for path in paths])
