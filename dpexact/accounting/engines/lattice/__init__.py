"""Certified profiles from dominating and dominated laws on a lattice.

Inside, each module imports only from those before it::

    grid < law < pieces < steps < composition < nested < engine < profile
"""
