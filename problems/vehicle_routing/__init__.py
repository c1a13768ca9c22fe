r"""Vehicle routing: serve all customers from one depot by routes of least total distance (Dantzig and Ramser, 1959).

Data: distances d_ij between the depot 0 and customers 1, ..., n, demands q_i, and at most K vehicles of capacity Q.
Time windows and service times are optional.  A *route* r starts and ends at the depot and serves a total demand of at
most Q.  Each service begins within its time window; a vehicle that arrives early waits.  The cost c_r of a route is
its distance, and a_ir is the number of its visits to customer i.  With x_r = 1 if route r is used:

    min Σ_r c_r x_r
    subject to  Σ_r a_ir x_r = 1       for each customer i     [π_i]
                k ≤ Σ_r x_r ≤ K                                [π_0]     k = ⌈Σ_i q_i / Q⌉
                x_r ∈ {0, 1}.

The reduced cost of a route is c_r - Σ_i π_i a_ir - π_0.  The pricing problem is an elementary shortest path problem
with resource constraints and arc costs d_ij - π_j.  It is relaxed to *ng-routes* (Baldacci, Mingozzi and Roberti,
2011), which may revisit a customer after leaving its neighbourhood.  Labelling solves it
(:mod:`colgen.solvers.paths.labelling`); labels pay the dual values of rank-1 cuts over the customers' rows.

Branching is on the number of routes, then on arcs.  Reduced cost fixing removes arcs that no better solution uses.  If
few routes have reduced costs within the gap, they are enumerated and a mixed-integer program closes the node
(Baldacci, Christofides and Mingozzi, 2008).

Sources: the above, and D. Pecin, A. Pessoa, M. Poggi, E. Uchoa, *Improved branch-cut-and-price for capacitated vehicle
routing*, Mathematical Programming Computation 9 (2017); M. Desrochers, J. Desrosiers, M. Solomon, *A new optimization
algorithm for the vehicle routing problem with time windows*, Operations Research 40 (1992).
"""

from colgen.problems.vehicle_routing.files import read, read_solution, write, write_solution
from colgen.problems.vehicle_routing.instance import CONVENTIONS, Route, RoutingInstance, euclidean, random
from colgen.problems.vehicle_routing.template import VehicleRouting

__all__ = [
    "CONVENTIONS",
    "RoutingInstance",
    "Route",
    "VehicleRouting",
    "euclidean",
    "random",
    "read",
    "read_solution",
    "write",
    "write_solution",
]
