r"""Generalized assignment, a set of tasks for each machine (Savelsbergh, 1997).

Data: machine j charges c_jt for task t, which takes a_jt of its capacity b_j.  With x_js whether machine j does the set
s of tasks, Σ_{t in s} a_jt ≤ b_j,

    min Σ_j Σ_s c_js x_js
    subject to  Σ_j Σ_{s with t} x_js = 1   for each task t      [π_t]
                Σ_s x_js ≤ 1                for each machine j   [μ_j ≤ 0]
                x_js ≥ 0 integer,           c_js = Σ_{t in s} c_jt.

The reduced cost of a set is Σ_{t in s} (c_jt - π_t) - μ_j, so the pricing problem of each machine is a *zero-one
knapsack*; the machines' are different ones, and each has one set: the sum of their best reduced costs bounds all
answers.  They are solved in one call of a kernel (:mod:`colgen.solvers.packing.zero_one`).

Branching: a machine takes a task, or does not.  As each task is done once, either is told by forbidding assignments,
and the pricing problem stays a knapsack.  Tables from both ends of the knapsacks say what forcing any task onto any
machine costs, and what keeping it off those that want it costs: assignments that no better answer has are forbidden.

Sources: M. Savelsbergh, *A branch-and-price algorithm for the generalized assignment problem*, Operations Research 45
(1997); P. C. Chu, J. E. Beasley, *A genetic algorithm for the generalised assignment problem*, Computers & Operations
Research 24 (1997), for the instances; M. Posta, J. A. Ferland, P. Michelon, *An exact method with variable fixing for
solving the generalized assignment problem*, Computational Optimization and Applications 52 (2012).
"""

from colgen.problems.assignment.instance import AssignmentInstance, random, read, write
from colgen.problems.assignment.pricing import KnapsackOracle
from colgen.problems.assignment.template import Assignment

__all__ = ["Assignment", "AssignmentInstance", "KnapsackOracle", "random", "read", "write"]
