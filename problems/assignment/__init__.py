r"""Generalized assignment with a set of tasks for each machine (Savelsbergh, 1997).

Data: machine j charges c_jt for task t, which needs a_jt of its capacity b_j.  With x_js = 1 if machine j performs the
set s of tasks, Σ_{t in s} a_jt ≤ b_j:

    min Σ_j Σ_s c_js x_js
    subject to  Σ_j Σ_{s with t} x_js = 1   for each task t      [π_t]
                Σ_s x_js ≤ 1                for each machine j   [μ_j ≤ 0]
                x_js ≥ 0 integer,           c_js = Σ_{t in s} c_jt.

The reduced cost of a set is Σ_{t in s} (c_jt - π_t) - μ_j.  The pricing problem of each machine is a *zero-one
knapsack*.  Each machine has at most one set: the sum of their least reduced costs gives a dual bound.  One kernel call
solves all knapsacks (:mod:`colgen.solvers.packing.zero_one`).

Branching: a machine performs a task, or does not.  Each task is performed once, so both children only forbid
assignments, and the pricing problem remains a knapsack.  Forward and backward knapsack tables give the cost of forcing
any task onto any machine, or off it.  Assignments that no improving solution uses are forbidden.

Sources: M. Savelsbergh, *A branch-and-price algorithm for the generalized assignment problem*, Operations Research 45
(1997); P. C. Chu, J. E. Beasley, *A genetic algorithm for the generalised assignment problem*, Computers & Operations
Research 24 (1997), for the instances; M. Posta, J. A. Ferland, P. Michelon, *An exact method with variable fixing for
solving the generalized assignment problem*, Computational Optimization and Applications 52 (2012).
"""

from colgen.problems.assignment.instance import AssignmentInstance, random, read, write
from colgen.problems.assignment.pricing import KnapsackOracle
from colgen.problems.assignment.template import Assignment

__all__ = ["Assignment", "AssignmentInstance", "KnapsackOracle", "random", "read", "write"]
