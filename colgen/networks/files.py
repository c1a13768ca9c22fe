"""Files of networks with commodities: the formats of CommaLAB and of Transportation Networks for Research (TNTP)."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from colgen.core.errors import InputError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_PAIR = re.compile(r"(\d+)\s*:\s*([^\s;]+)\s*;?")


@dataclass(frozen=True, eq=False)
class CommodityNetwork:
    """A network with commodities; vertices have the numbers of the file.

    Attributes
    ----------
    tails, heads, costs, capacities
        One per arc; an infinite capacity means that there is none.
    origins, destinations, demands
        One per commodity.
    """

    tails: Ints
    heads: Ints
    costs: Floats
    capacities: Floats
    origins: Ints
    destinations: Ints
    demands: Floats


def read_commodities(path: Path | str, trips: Path | str | None = None, *, divisor: float = 1.0) -> CommodityNetwork:
    """Return the network of a file, possibly compressed by gzip.

    Parameters
    ----------
    path
        A file of CommaLAB: numbers of vertices, arcs and commodities, a line ``tail head cost capacity`` per arc
        (negative: no capacity), and a line ``origin destination demand`` per commodity.  Or, with ``trips``, a network
        of TNTP: costs are free flow times, and vertices may be passed through whatever ``FIRST THRU NODE`` is.
    trips
        File of TNTP with the demands.
    divisor
        Demands of TNTP are divided by it.

    Raises
    ------
    InputError
        If the file does not have this format.
    """
    if trips is not None:
        return _read_tntp(Path(path), Path(trips), divisor)
    words = _text(Path(path)).split()
    try:
        numbers = np.array(words, dtype=np.float64)
        arcs, commodities = int(numbers[1]), int(numbers[2])
        split = 3 + 4 * arcs
        table, demands = numbers[3:split].reshape(arcs, 4), numbers[split:].reshape(commodities, 3)
    except (ValueError, IndexError):
        raise InputError(
            f"{path}: expected the numbers of vertices, arcs and commodities, four numbers per arc, and three per "
            "commodity"
        ) from None
    capacities = np.where(table[:, 3] < 0.0, np.inf, table[:, 3])
    ends = table[:, :2].astype(np.int64)
    of, to = demands[:, 0].astype(np.int64), demands[:, 1].astype(np.int64)
    return CommodityNetwork(ends[:, 0], ends[:, 1], table[:, 2], capacities, of, to, demands[:, 2])


def _read_tntp(path: Path, trips: Path, divisor: float) -> CommodityNetwork:
    lines = [line.split() for line in _body(path).splitlines() if line.strip() and not line.lstrip().startswith("~")]
    try:
        table = np.array([line[:5] for line in lines], dtype=np.float64).reshape(-1, 5)
    except ValueError:
        raise InputError(f"{path}: expected lines with tail, head, capacity, length and free flow time") from None
    found: list[tuple[int, int, float]] = []
    for part in re.split(r"Origin\s+", _body(trips))[1:]:
        origin, _, rest = part.partition("\n")
        try:
            pairs = [(int(k), float(value)) for k, value in _PAIR.findall(rest)]
            found += [(int(origin), k, value / divisor) for k, value in pairs if value > 0.0]
        except ValueError:
            raise InputError(f"{trips}: expected 'destination : demand;' after 'Origin {origin.strip()}'") from None
    ends = table[:, :2].astype(np.int64)
    origins, destinations, demands = zip(*found, strict=True) if found else ((), (), ())
    return CommodityNetwork(
        ends[:, 0], ends[:, 1], table[:, 4], table[:, 2],
        np.array(origins, dtype=np.int64), np.array(destinations, dtype=np.int64), np.array(demands, dtype=np.float64),
    )  # fmt: skip


def _body(path: Path) -> str:
    """Return the text of a TNTP file after its metadata."""
    _, end, body = _text(path).partition("<END OF METADATA>")
    if not end:
        raise InputError(f"{path}: expected <END OF METADATA>, as in files of TNTP")
    return body


def _text(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
