"""Lower bounds on epsilon from attacks, certified: what an implementation was seen to leak.

Accounting says what a mechanism leaks at most; an attack shows what an implementation leaks at
least, with a confidence. :func:`both_sides` joins the two: where the lower bound exceeds the upper
one, the implementation does not run the mechanism (or the attack broke the rules of its theorem).
"""

from dpexact.empirical.both_sides import BothSides, both_sides
from dpexact.empirical.counts import clopper_pearson, from_counts
from dpexact.empirical.lower_bound import LowerBound
from dpexact.empirical.one_run import from_guesses, one_run_p_value
from dpexact.empirical.one_run_profile import mechanism_p_value
from dpexact.empirical.scores import from_scores, read_scores

__all__ = [
    "BothSides",
    "LowerBound",
    "both_sides",
    "clopper_pearson",
    "from_counts",
    "from_guesses",
    "from_scores",
    "mechanism_p_value",
    "one_run_p_value",
    "read_scores",
]
__dir__ = __all__.copy
