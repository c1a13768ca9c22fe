r"""Generalized assignment: assign each task to a machine of limited capacity, at least cost (Savelsbergh, 1997).

Data: task t costs c_jt on machine j and needs a_jt of its capacity b_j.  A set s of tasks fits on machine j if
Σ_{t in s} a_jt ≤ b_j.  With x_js = 1 if machine j performs the set s:

    min Σ_j Σ_s c_js x_js
    subject to  Σ_j Σ_{s with t} x_js = 1   for each task t      [π_t]
                Σ_s x_js ≤ 1                for each machine j   [μ_j ≤ 0]
                x_js ≥ 0 integer,           c_js = Σ_{t in s} c_jt.

The reduced cost of a set is Σ_{t in s} (c_jt - π_t) - μ_j.  The pricing problem of each machine is a *zero-one
knapsack*.  Each machine uses at most one set, so the sum of the machines' least reduced costs gives a dual bound.  One
kernel call solves all knapsacks (:mod:`colgen.solvers.packing.zero_one`).

Branching: a machine performs a task, or does not.  Each task is performed once, so both children only forbid
assignments, and the pricing problem remains a knapsack.  Forward and backward knapsack tables give the least reduced
cost with and without each task on each machine.  Assignments that no improving solution uses are forbidden.

Sources: M. Savelsbergh, *A branch-and-price algorithm for the generalized assignment problem*, Operations Research 45
(1997); P. C. Chu, J. E. Beasley, *A genetic algorithm for the generalised assignment problem*, Computers & Operations
Research 24 (1997), for the instances; M. Posta, J. A. Ferland, P. Michelon, *An exact method with variable fixing for
solving the generalized assignment problem*, Computational Optimization and Applications 52 (2012).
"""

from colgen.problems.assignment.instance import AssignmentInstance, random, read, write
from colgen.problems.assignment.pricing import KnapsackOracle
from colgen.problems.assignment.template import Assignment

__all__ = ["Assignment", "AssignmentInstance", "KnapsackOracle", "random", "read", "write"]
