"""Certified profiles from dominating and dominated laws on a lattice.

Inside, each module imports only from those before it::

    normal_tail, grid < law < pieces < steps < sampling < atoms, laplace
        < composition < nested < engine < profile
"""

from dpexact.accounting.lattice.profile import LatticeProfile

__all__ = ["LatticeProfile"]


def __dir__() -> list[str]:
    return __all__
