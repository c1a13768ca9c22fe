r"""Uncapacitated lot sizing: when to produce, and how much, to meet demand at least cost.

    min Σ_t f_t y_t + p_t x_t + h_t s_t    subject to    s_{t-1} + x_t = d_t + s_t,  x_t > 0 only where y_t = 1.

There is no stock before the first period and none after the last.  Costs may be negative: only demand is produced, so
the problem is bounded.  Some optimal plan produces only when there is no stock.  Each lot then covers the demand of
consecutive periods.  The best sequence of lots is a shortest path, in O(T^2) steps.

Source: H. M. Wagner, T. M. Whitin, *Dynamic version of the economic lot size model*, Management Science 5 (1958).
"""

from __future__ import annotations

import numpy as np

from colgen.solvers.kernel_cache import njit


@njit(cache=True, nogil=True)
def plan_lots(setup, unit, hold, demand, amounts):  # type: ignore[no-untyped-def]
    """Return the least cost of a plan; infinite if demand cannot be met.

    Costs are inf where impossible, never -inf.

    Parameters
    ----------
    setup : cost of a setup in each period
    unit : cost of producing one unit
    hold : cost of holding one unit until the next period; the last entry is ignored
    demand : at least 0
    amounts : output: the amounts produced; zeros if demand cannot be met
    """
    periods = len(demand)
    best = np.full(periods + 1, np.inf)
    begun = np.full(periods + 1, -1)  # start of the last lot; -1: the last period has no demand
    best[0] = 0.0
    for s in range(periods):
        if best[s] == np.inf:
            continue
        if demand[s] == 0.0 and best[s] < best[s + 1]:
            best[s + 1], begun[s + 1] = best[s], -1
        if setup[s] == np.inf or unit[s] == np.inf:
            continue
        value, each = best[s] + setup[s], unit[s]
        for t in range(s, periods):
            if demand[t] > 0.0:
                if each == np.inf:
                    break
                value += demand[t] * each
            if value < best[t + 1]:
                best[t + 1], begun[t + 1] = value, s
            each += hold[t]
    amounts[:] = 0.0
    if best[periods] == np.inf:
        return np.inf
    t = periods
    while t > 0:
        s = begun[t]
        if s < 0:
            t -= 1
            continue
        amounts[s] = demand[s:t].sum()
        t = s
    return best[periods]
