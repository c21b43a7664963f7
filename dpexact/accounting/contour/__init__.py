"""Certified delta and epsilon of compositions by Laplace inversion on a vertical line.

Inside, each module imports only from those before it::

    numbers, bounds < shape < trapezoid < steps < noises < planning < inversion
        < deltas < epsilons < profile
"""

from dpexact.accounting.contour.profile import ContourProfile

__all__ = ["ContourProfile"]


def __dir__() -> list[str]:
    return __all__
