"""Which cuts the oracles can price: the others are refused before they are added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from colgen.core.columns import Row
from colgen.core.errors import UnpricedCutError
from colgen.pricing.oracles import Pricing


def check_priced(oracles: Sequence[Pricing], rows: Iterable[Row]) -> None:
    """Refuse rows that count what one of the oracles cannot price.

    Raises
    ------
    UnpricedCutError
        Naming the family of cuts, what they count, and the oracle.
    """
    for row in rows:
        term = row.term()
        if term is None:
            continue
        for oracle in oracles:
            if type(term) not in oracle.prices:
                kind, known = type(term).__name__, sorted(each.__name__ for each in oracle.prices)
                raise UnpricedCutError(
                    f"{oracle.name} cannot price the cuts {row.key[0]!r}, whose coefficients are {kind} terms of the "
                    f"columns: it prices {' and '.join(known) or 'no terms of cuts'}; let it read duals.terms({kind}) "
                    f"and say so by prices, or leave these cuts out"
                )
