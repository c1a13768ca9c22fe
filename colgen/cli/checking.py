"""``colgen check``: whether all that a certificate says is true."""

from __future__ import annotations

import argparse

from colgen.cli.arguments import BAD_INPUT, DIAGNOSTIC, PROVED
from colgen.core.files import check_readable
from colgen.proof import checker


def check_file(arguments: argparse.Namespace) -> int:
    """Check a certificate, against an instance's file if one is named."""
    paths = [arguments.file] if arguments.instance is None else [arguments.file, arguments.instance]
    for path in paths:
        check_readable(path)
    code = checker.main([str(path) for path in paths])
    return {checker.PROVED: PROVED, checker.FALSE: DIAGNOSTIC}.get(code, BAD_INPUT)
