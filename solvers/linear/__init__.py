"""Linear and mixed-integer programs in HiGHS, and linear programs in other solvers."""
