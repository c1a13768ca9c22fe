"""A page that shows a run while it goes on: its log, served to a browser on this machine alone.

The page holds all that it needs, and asks for the rounds that it has not seen twice a second; nothing else is fetched.
"""

from __future__ import annotations

import html
import json
import math
import os
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from colgen.core.errors import InputError
from colgen.core.result import Iteration
from colgen.reporting.live_log import read_rounds, sense_of

_HERE = "127.0.0.1"

_FIELDS = ("number", "node", "depth", "phase", "objective", "dual_bound", "incumbent", "global_bound", "seconds")
_COUNTS = ("new_columns", "new_rows", "columns", "rows")


def serving(path: Path | str, port: int = 0) -> ThreadingHTTPServer:
    """A server of the page of a log; ``serve_forever()`` serves, ``server_address`` is where.

    Parameters
    ----------
    port
        0: one that is free.

    Raises
    ------
    InputError
        If the port is taken, or not to be had.
    """

    class Handler(_Handler):
        log = Path(path)

    try:
        return ThreadingHTTPServer((_HERE, port), Handler)
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or error
        raise InputError(f"port {port}: {said}; leave it out to have one found") from None


def page(name: str) -> str:
    """The page of a log of this name."""
    return Path(__file__).with_suffix(".html").read_text(encoding="utf-8").replace("{name}", html.escape(name))


def rounds_from(path: Path | str, first: int) -> dict[str, Any]:
    """What the page is told: the rounds from one on, the gap after each, and how many there are.

    Numbers that are not finite are null.
    """
    rounds = _read(str(path), _stamp(path))
    if first > len(rounds):  # a log that has become shorter is another run's
        first = 0
    told: list[dict[str, Any]] = []
    if rounds:
        sense = sense_of(rounds)
        for each in rounds[first:]:
            line = {name: getattr(each, name) for name in (*_FIELDS, *_COUNTS)} | {"gap": each.gap(sense)}
            told.append({key: value if math.isfinite(value) else None for key, value in line.items()})
    return {"rounds": told, "from": first, "count": len(rounds)}


@lru_cache(1)
def _read(path: str, stamp: tuple[int, int]) -> list[Iteration]:
    """What is asked for twice a second is read when it has changed."""
    return read_rounds(path)


def _stamp(path: Path | str) -> tuple[int, int]:
    """When a file was written last, and how long it is; of one that is not there something that no file has."""
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size


class _Handler(BaseHTTPRequestHandler):
    log: Path

    def do_GET(self) -> None:  # as http.server calls it
        asked = urlsplit(self.path)
        if asked.path == "/":
            self._answer(200, "text/html; charset=utf-8", page(str(self.log)))
        elif asked.path == "/rounds":
            given = parse_qs(asked.query).get("from", ["0"])[0]
            first = int(given) if given.isdecimal() and len(given) < 12 else 0
            try:
                told = json.dumps(rounds_from(self.log, first))
            except InputError as error:
                told = json.dumps({"fault": str(error)})
            self._answer(200, "application/json", told)
        else:
            self._answer(404, "text/plain; charset=utf-8", "not here")

    def _answer(self, code: int, kind: str, content: str) -> None:
        body = content.encode("utf-8")
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal has told where the page is."""
