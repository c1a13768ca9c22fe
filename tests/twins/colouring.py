"""Brute force for graph colouring: a search vertex by vertex."""


def fewest_colours(graph):
    """Return the chromatic number; each vertex gets a used colour or the next one."""
    n = best = graph.num_vertices

    def colour(given, used):
        nonlocal best
        if used >= best:
            return
        v = len(given)
        if v == n:
            best = used
            return
        taken = {given[u] for u in range(v) if graph.adjacency[u, v]}
        for c in range(used + 1):
            if c not in taken:
                colour((*given, c), max(used, c + 1))

    colour((), 0)
    return best
