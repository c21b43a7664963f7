"""Exact trade-off functions, their algebra, and ``G_mu``: the calculus of f-differential privacy.

Modules, each importing only from those before it::

    monomials < numbers < base < piecewise, gaussian, concentrated < laplace, convex
    < guarantees < subsampling < functionals, blackwell
"""

from dpexact.tradeoffs.base import TradeoffFunction
from dpexact.tradeoffs.blackwell import Processing, Separation, blackwell, is_processing
from dpexact.tradeoffs.concentrated import ConcentratedTradeoff
from dpexact.tradeoffs.convex import (
    Violation,
    conjugate,
    convex_hull,
    maximum,
    symmetrised,
    violation,
)
from dpexact.tradeoffs.functionals import (
    GaussianGap,
    RenyiTradeoff,
    distance_to_gaussian,
    gaussian_gap,
    kappa_2,
    kappa_3,
    kappa_3_bar,
    kl,
    renyi,
    renyi_max,
    total_variation,
)
from dpexact.tradeoffs.gaussian import GaussianTradeoff
from dpexact.tradeoffs.guarantees import (
    Guarantee,
    delta_of,
    f_eps_delta,
    guarantees,
    of_guarantees,
    tightest,
)
from dpexact.tradeoffs.laplace import LaplaceTradeoff, discrete_laplace_pair
from dpexact.tradeoffs.numbers import ExpRatio, Number
from dpexact.tradeoffs.piecewise import (
    Atom,
    PiecewiseLinear,
    Vertex,
    identity,
    of_pair,
    of_vertices,
)
from dpexact.tradeoffs.subsampling import group, mixed, subsampled, subsampled_f_eps_delta

__all__ = [
    "Atom",
    "ConcentratedTradeoff",
    "ExpRatio",
    "GaussianGap",
    "GaussianTradeoff",
    "Guarantee",
    "LaplaceTradeoff",
    "Number",
    "PiecewiseLinear",
    "Processing",
    "RenyiTradeoff",
    "Separation",
    "TradeoffFunction",
    "Vertex",
    "Violation",
    "blackwell",
    "conjugate",
    "convex_hull",
    "delta_of",
    "discrete_laplace_pair",
    "distance_to_gaussian",
    "f_eps_delta",
    "gaussian_gap",
    "group",
    "guarantees",
    "identity",
    "is_processing",
    "kappa_2",
    "kappa_3",
    "kappa_3_bar",
    "kl",
    "maximum",
    "mixed",
    "of_guarantees",
    "of_pair",
    "of_vertices",
    "renyi",
    "renyi_max",
    "subsampled",
    "subsampled_f_eps_delta",
    "symmetrised",
    "tightest",
    "total_variation",
    "violation",
]
__dir__ = __all__.copy
