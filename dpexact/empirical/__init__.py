"""Lower bounds on epsilon from attacks, certified: what an implementation was seen to leak.

Accounting says what a mechanism leaks at most; an attack shows what an implementation leaks at
least, with a confidence. :func:`both_sides` joins the two: where the lower bound exceeds the upper
one, the implementation does not run the mechanism (or the attack broke the rules of its theorem).
"""

from dpexact.empirical.both_sides import BothSides as BothSides
from dpexact.empirical.both_sides import both_sides as both_sides
from dpexact.empirical.counts import clopper_pearson as clopper_pearson
from dpexact.empirical.counts import from_counts as from_counts
from dpexact.empirical.lower_bound import LowerBound as LowerBound
from dpexact.empirical.one_run import from_guesses as from_guesses
from dpexact.empirical.one_run import one_run_p_value as one_run_p_value
from dpexact.empirical.one_run_profile import mechanism_p_value as mechanism_p_value
from dpexact.empirical.scores import from_scores as from_scores
from dpexact.empirical.scores import read_scores as read_scores

# what stands here
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__dir__ = __all__.copy
