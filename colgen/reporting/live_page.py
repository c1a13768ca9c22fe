"""A live page of a run: its log, served to a browser on this machine only.

The page is self-contained, and requests new rounds twice per second.
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
from colgen.core.result import Iteration, NodeRecord
from colgen.core.text import plural
from colgen.reporting import tree_page
from colgen.reporting.live_log import describe_state, read_rounds, read_tree, sense_of, tree_of

_HERE = "127.0.0.1"

_FIELDS = ("number", "node", "depth", "phase", "objective", "dual_bound", "incumbent", "global_bound", "seconds")
_COUNTS = ("new_columns", "new_rows", "columns", "rows")


def make_server(path: Path | str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server for the page of a log; call ``serve_forever()``. ``server_address`` is its address.

    Port 0 selects a free one. A port that is in use or invalid is an ``InputError``.
    """

    class Handler(_Handler):
        log = Path(path)

    try:
        return ThreadingHTTPServer((_HERE, port), Handler)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"port {port}: {reason}; without a port a free one is used") from None


def page(name: str) -> str:
    """Return the page of a log of this name."""
    text = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    for place, content in (("style", tree_page.STYLE), ("script", tree_page.SCRIPT), ("name", html.escape(name))):
        text = text.replace(f"{{{place}}}", content)
    return text


def rounds_from(path: Path | str, first: int) -> dict[str, Any]:
    """Return the rounds from ``first`` on with their gaps, the numbers of all rounds and nodes, the state and the end.

    Infinite numbers and NaN become null.
    """
    nodes, end = _read_tree(str(path), _stamp(tree_of(path)))
    rounds = _read(str(path), _stamp(path))
    if first > len(rounds):  # a shorter log belongs to a new run
        first = 0
    lines: list[dict[str, Any]] = []
    if rounds:
        sense = sense_of(rounds)
        for each in rounds[first:]:
            line = {name: getattr(each, name) for name in (*_FIELDS, *_COUNTS)} | {"gap": each.gap(sense)}
            lines.append({key: value if math.isfinite(value) else None for key, value in line.items()})
    counts = {"from": first, "count": len(rounds), "nodes": len(nodes)}
    return {"rounds": lines, **counts, "state": describe_state(rounds, end), "end": end}


def tree_from(path: Path | str) -> str:
    """Return the tree of a log as HTML elements."""
    nodes, _ = _read_tree(str(path), _stamp(tree_of(path)))
    return tree_page.tree(nodes) if len(nodes) > 1 else f"<p>{plural(len(nodes), 'node')}</p>"


@lru_cache(1)
def _read_tree(path: str, stamp: tuple[int, int]) -> tuple[list[NodeRecord], dict[str, Any]]:
    """Read the nodes of a log, from a cache unless they have changed."""
    return read_tree(path)


@lru_cache(1)
def _read(path: str, stamp: tuple[int, int]) -> list[Iteration]:
    """Read a log, from a cache unless it has changed."""
    return read_rounds(path)


def _stamp(path: Path | str) -> tuple[int, int]:
    """Return the time of the last change and the size of a file, or (-1, -1) without a file."""
    try:
        found = os.stat(path)
    except OSError:
        return -1, -1
    return found.st_mtime_ns, found.st_size


class _Handler(BaseHTTPRequestHandler):
    log: Path

    def do_GET(self) -> None:  # the name that http.server expects
        url = urlsplit(self.path)
        if url.path == "/":
            self._respond(200, "text/html; charset=utf-8", page(str(self.log)))
        elif url.path == "/rounds":
            given = parse_qs(url.query).get("from", ["0"])[0]
            first = int(given) if given.isdecimal() and len(given) < 12 else 0
            try:
                content = json.dumps(rounds_from(self.log, first))
            except InputError as error:
                content = json.dumps({"fault": str(error)})
            self._respond(200, "application/json", content)
        elif url.path == "/tree":
            self._respond(200, "text/html; charset=utf-8", tree_from(self.log))
        else:
            self._respond(404, "text/plain; charset=utf-8", "not found")

    def _respond(self, code: int, kind: str, content: str) -> None:
        body = content.encode("utf-8")
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing; the terminal shows the address already."""
