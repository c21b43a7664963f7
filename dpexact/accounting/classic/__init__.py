"""Classic published bounds, each a named function that checks its hypotheses."""

from dpexact.accounting.classic.composition import (
    advanced_composition,
    approximate_composition,
    basic_composition,
    kov_composition,
    pure_composition,
)
from dpexact.accounting.classic.guarantees import Guarantee, guarantees, sampled_guarantee
from dpexact.accounting.classic.optimal_order import optimal_renyi_epsilon
from dpexact.accounting.classic.orders import BestOrder, renyi_epsilon
from dpexact.accounting.classic.zcdp import (
    plain_zcdp_epsilon,
    total_rho,
    zcdp_delta,
    zcdp_epsilon,
)
from dpexact.accounting.classic.zcdp_profile import ZCDPProfile

__all__ = [
    "BestOrder",
    "Guarantee",
    "ZCDPProfile",
    "advanced_composition",
    "approximate_composition",
    "basic_composition",
    "guarantees",
    "kov_composition",
    "optimal_renyi_epsilon",
    "plain_zcdp_epsilon",
    "pure_composition",
    "renyi_epsilon",
    "sampled_guarantee",
    "total_rho",
    "zcdp_delta",
    "zcdp_epsilon",
]
