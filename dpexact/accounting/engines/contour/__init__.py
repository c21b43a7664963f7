"""Certified delta and epsilon of compositions by Laplace inversion on a vertical line.

Inside, each module imports only from those before it::

    product < planning < inversion < many < profile < along, run_curve
    profile, set_aside < blurs < atoms
"""
