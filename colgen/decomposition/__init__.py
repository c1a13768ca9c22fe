"""From a compact Pyomo model to branch and price: blocks become pricing problems (Dantzig and Wolfe, 1960)."""
