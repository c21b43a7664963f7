"""The engine next to the largest loss, and what it reads off laws that are known exactly."""

from fractions import Fraction

import pytest
from flint import arb, fmpz, fmpz_poly
from mpmath import mp, mpf

from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.lattice.engine import Composed
from dpexact.accounting.engines.lattice.grid import Grid
from dpexact.accounting.engines.lattice.law import Lower, Upper
from dpexact.accounting.engines.lattice.profile import LatticeProfile, engine
from dpexact.accounting.engines.lattice.steps import PairStep
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational


@pytest.mark.parametrize("below", ["1e-3", "1e-60"])
@pytest.mark.parametrize("count", [1, 4])
def test_next_to_the_largest_loss(below, count):
    """``(1 - e^{-gap}) P(all at the largest)``, however little that is."""
    high = real("1/(1+exp(-1))")
    atoms = (Atom(high, real("1/(1+exp(1))")), Atom(real("1/(1+exp(1))"), high))
    found, _ = engine.solve([PairStep(Finite(atoms), count)], real(f"{count}-{below}"), 2)
    with mp.workdps(80):
        true = -mp.expm1(-mpf(below)) / (1 + mp.exp(-1)) ** count
        low, high = found.to_mpmath(80)
        assert low <= true <= high


@pytest.mark.parametrize("epsilon", ["1/2", "1", "3/4"])
def test_reading_off_exact_laws(epsilon):
    """The losses 0, 1/2, 1, 3/2 and infinity; ``Q`` is rounded up."""
    grid, unit = Grid(Fraction(1, 2), 20, 0), 1 << 20
    p = [unit // 8, unit // 4, unit // 8, unit // 4]
    level = real(epsilon)
    with mp.workdps(40):
        q = [int(mass * mp.exp(-mpf(k) / 2)) + 1 for k, mass in enumerate(p)]
        upper = Upper(-1, fmpz_poly(p), fmpz(unit // 4))
        lower = Lower(-1, fmpz_poly(p), fmpz_poly(q), fmpz(unit // 4), fmpz(0))
        found = Composed(upper, lower, arb(0.5), grid).enclose(level)
        growth = mp.exp(mpf(level.fraction.numerator) / level.fraction.denominator)
        gains = (mass * max(0, 1 - growth * mp.exp(-mpf(k) / 2)) for k, mass in enumerate(p))
        true = mp.fsum(gains) / unit + mpf(1) / 4
        low, high = found.to_mpmath(30)
        assert true - mpf("1e-5") < low <= true <= high < true + mpf("1e-12")


def test_the_two_laws_cross_the_target_on_either_side():
    """Coarse laws of a Gaussian, asked for far more digits of epsilon than they have."""
    step = PairStep(Gaussian(rational(1)), 1)
    laws, _ = engine.compose_steps([step], Grid(Fraction(1, 8), 64, 1 << 20))
    profile = LatticeProfile([step], InfiniteLoss())
    true = GaussianMixedWithResponse(rational(1), InfiniteLoss())
    for target in ("1/10", "1/50", "1/1000"):
        goal = Enclosure.exact(real(target).fraction)
        found = profile._between(laws, goal, Fraction(1), 9)
        exact = true.epsilon(real(target), 15)
        assert found.lower < exact.lower
        assert exact.upper < found.upper
