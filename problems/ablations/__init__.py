"""What parts of the engine are worth, measured over several templates.

``colgen bench stabilization`` asks at which dual values to price, ``colgen bench branching`` among which candidates to
choose.
"""
