"""Certified profiles from dominating and dominated laws on a lattice.

Inside, each module imports only from those before it::

    normal_tail < steps, law < grid < engine < profile
"""

from dpexact.accounting.lattice.profile import LatticeProfile

__all__ = ["LatticeProfile"]
