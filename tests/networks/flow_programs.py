"""Small networks with commodities, as models of paths and as programs over arcs in HiGHS."""

from dataclasses import dataclass

import highspy
import numpy as np
import pyomo.environ as pyo
from scipy import sparse

from colgen import CompactModel, Paths, Rows, Sense, decompose
from colgen.networks import Commodities, Unsplittable


@dataclass
class Network:
    vertices: int
    tails: np.ndarray
    heads: np.ndarray
    costs: np.ndarray
    capacities: np.ndarray
    origins: np.ndarray
    destinations: np.ndarray
    demands: np.ndarray
    own_costs: np.ndarray | None = None
    limits: np.ndarray | None = None
    unsplittable: bool = False

    def problem(self):
        """Return the problem over columns of a compact model."""
        rows = Rows(Sense.MINIMIZE)
        flow = rows.add_variables("flow", range(len(self.tails)), cost=self.costs, upper=self.capacities)
        model = CompactModel.from_rows(rows)
        commodities = Commodities(
            self.origins, self.destinations, self.demands, costs=self.own_costs, limits=self.limits
        )
        rules = [Unsplittable()] if self.unsplittable else []
        return decompose(model, [Paths((self.tails, self.heads), flow, commodities=commodities, rules=rules)])

    def optimum(self):
        """Return the optimum of the program over arcs, or infinity."""
        n, m, count = self.vertices, len(self.tails), len(self.demands)
        arcs = np.arange(m)
        ends = (np.ones(2 * m), (np.r_[self.tails, self.heads], np.r_[arcs, arcs]))
        incidence = sparse.csr_array((np.r_[np.ones(m), -np.ones(m)], ends[1]), shape=(n, m))
        supply = np.zeros((count, n))
        np.add.at(supply, (np.arange(count), self.origins), self.demands)
        np.add.at(supply, (np.arange(count), self.destinations), -self.demands)
        size = np.ones(count)
        if self.unsplittable:
            size = np.where(self.demands > 0, self.demands, 1.0)
            supply /= size[:, None]
        total = sparse.hstack([amount * sparse.eye_array(m) for amount in size])
        matrix = sparse.vstack([sparse.kron(sparse.eye_array(count), incidence), total], format="csc")
        own = np.zeros((count, m)) if self.own_costs is None else self.own_costs
        limits = np.full((count, m), np.inf) if self.limits is None else self.limits
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = count * m, matrix.shape[0]
        lp.col_cost_ = ((self.costs[None, :] + own) * size[:, None]).ravel()
        lp.col_lower_ = np.zeros(count * m)
        lp.col_upper_ = (
            np.floor(np.minimum(limits / size[:, None], 1.0) + 1e-9) if self.unsplittable else limits
        ).ravel()
        lp.row_lower_ = np.r_[supply.ravel(), np.full(m, -np.inf)]
        lp.row_upper_ = np.r_[supply.ravel(), self.capacities]
        if self.unsplittable:
            lp.integrality_ = [highspy.HighsVarType.kInteger] * (count * m)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
        lp.a_matrix_.value_ = matrix.data
        solver = highspy.Highs()
        for name, value in (("output_flag", False), ("presolve", "off"), ("mip_rel_gap", 0.0)):
            solver.setOptionValue(name, value)
        solver.passModel(lp)
        solver.run()
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return np.inf
        return solver.getInfo().objective_function_value


def network(
    seed, *, vertices=8, arcs=24, commodities=6, tightness=0.6, cost_scale=1.0, flow_scale=1.0, own=False, ring=True
):
    """Return a random network with parallel arcs and ties, in which each commodity has a path.

    With ``ring`` the arcs on a cycle through all vertices have capacity for all commodities.
    """
    rng = np.random.default_rng(seed)
    around = rng.permutation(vertices)  # a cycle through all vertices
    tails = np.r_[around, rng.integers(0, vertices, arcs)]
    heads = np.r_[np.roll(around, -1), rng.integers(0, vertices, arcs)]
    kept = tails != heads
    tails, heads = tails[kept], heads[kept]
    count = len(tails)
    costs = rng.integers(0, 5, count) * cost_scale  # ties and zeros
    origins, destinations = rng.integers(0, vertices, commodities), rng.integers(0, vertices, commodities)
    demands = rng.integers(0, 9, commodities) * flow_scale
    capacities = np.ceil(rng.uniform(0.0, 2.0, count) * tightness * 9) * flow_scale
    capacities[rng.random(count) < 0.1] = np.inf
    if ring:
        capacities[: vertices // 2] = np.inf
        capacities[vertices // 2 : vertices] = commodities * 9 * flow_scale
    else:
        capacities[:vertices] = np.maximum(capacities[:vertices], flow_scale)
    made = Network(vertices, tails, heads, costs, capacities, origins, destinations, demands)
    if own:
        made.own_costs = rng.integers(0, 3, (commodities, count)) * cost_scale
        made.limits = np.where(
            rng.random((commodities, count)) < 0.3, rng.integers(0, 9, (commodities, count)) * flow_scale, np.inf
        )
        made.limits[:, :vertices] = np.inf
    return made


def pyomo_model(made):
    """Return a network as a Pyomo model."""
    m = pyo.ConcreteModel()
    arcs = range(len(made.tails))
    upper = [None if np.isinf(u) else float(u) for u in made.capacities]
    m.flow = pyo.Var(arcs, bounds=lambda m, a: (0, upper[a]))
    m.cost = pyo.Objective(expr=sum(float(made.costs[a]) * m.flow[a] for a in arcs))
    commodities = Commodities(made.origins, made.destinations, made.demands, costs=made.own_costs, limits=made.limits)
    rules = [Unsplittable()] if made.unsplittable else []
    m.goods = Paths((made.tails, made.heads), list(m.flow.values()), commodities=commodities, rules=rules)
    return m
