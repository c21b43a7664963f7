"""Laplace noise, on samples or not, truncated or not: sums, polynomials between corners, splits.

Inside, each module imports only from those before it::

    sums < product < split
    steps < cells
"""
