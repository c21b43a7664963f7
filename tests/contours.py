"""Questions put to the contour engine itself, about tuples of pairs with their counts."""

from fractions import Fraction

from dpexact import balls
from dpexact.accounting.engines.contour.along import epsilons_along
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.planning import planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import MAX_WORK, ContourProfile
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.pairs.sums.mixture_rules import Shape
from dpexact.accounting.pairs.sums.mixture_sums import Integrand
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import rational


def engine(composition, max_work=MAX_WORK, repeat=1):
    return ContourProfile(composition, InfiniteLoss(), max_work).varied(repeat=repeat)


def delta(composition, epsilon, digits=15, *, repeat=1, max_work=MAX_WORK):
    """As narrow as was certified."""
    return engine(composition, max_work, repeat).solved_delta(epsilon, digits)


def epsilon(composition, delta, digits=15, *, repeat=1, max_work=MAX_WORK):
    """As narrow as was certified."""
    return engine(composition, max_work, repeat).solved_epsilon(delta, digits)


def on_plan(composition, epsilon, plan, repeat=1):
    """Delta from one evaluation, however wide."""
    return engine(composition, repeat=repeat).on_line(plan, epsilon)


def epsilon_curve(composition, repeats, delta, digits=6, *, max_work=MAX_WORK):
    profile = engine(composition, max_work)
    return epsilons_along(lambda _: [lambda n: profile.varied(repeat=n)], repeats, delta, digits)


def plan(composition, queries, digits, max_work=MAX_WORK):
    return planned([(Product(composition), query) for query in queries], digits, max_work)


def line(composition, plan):
    """The line of a plan."""
    with balls.precision(plan.bits):
        return Contour(Product(composition), plan)


def integrand_of(sigma, up, down, c):
    """That of one shift on each side, at most."""
    return Integrand(*one_shift(sigma, up, down).shifts, c)


def shape_of(sigma, up, down):
    """That of one shift on each side, at most, of floats."""
    up, down = one_shift(*(rational(Fraction(x)) for x in (sigma, up, down))).shifts
    return Shape(up.outline, down.outline)
