"""The dominating law of a sampled composition, also where the inner law weighs more than 1."""

import math
from fractions import Fraction

import pytest
from flint import arb, fmpz, fmpz_poly

from dpexact.accounting.engines.lattice.composition import compose
from dpexact.accounting.engines.lattice.grid import Grid
from dpexact.accounting.engines.lattice.law import Upper
from dpexact.accounting.engines.lattice.nested import NestedStep
from dpexact.accounting.engines.lattice.pieces import two_sided_law
from dpexact.accounting.engines.lattice.steps import PairStep, Sampling
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.pair import Atom
from dpexact.balls import precision
from dpexact.reals import rational

LOST, RATE, BITS = Fraction(1, 5), Fraction(1, 3), 60
KEPT = 1 - LOST
#: ``approx_dp(log 2, 1/5)``
INNER = [
    (KEPT * Fraction(2, 3), KEPT / 3),
    (KEPT / 3, KEPT * Fraction(2, 3)),
    (LOST, Fraction(0)),
    (Fraction(0), LOST),
]
RESPONSE = [(Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("surplus", [Fraction(0), Fraction(1, 10), Fraction(1, 2)])
def test_a_surplus_of_mass_keeps_the_order(add, surplus):
    """Theorems of section 8: the mass may exceed 1, as after rounding up, here by far more."""
    step = NestedStep(
        (PairStep(Finite(tuple(Atom(rational(p), rational(q)) for p, q in INNER)), 1),),
        Sampling(rational(RATE), add),
        1,
    )
    grid = Grid(Fraction(1, 4), BITS, 1)
    top = math.ceil(2 * math.log(2) * 4)  # the loss log 2, counted from -log 2, moved up
    masses = [0] * (top + 1)
    masses[0] = units(KEPT / 3 + surplus)
    masses[top] = units(KEPT * Fraction(2, 3))
    with precision(200):
        points, infinite = step._sampled_points(
            Upper(0, fmpz_poly(masses), fmpz(units(LOST))), grid
        )
        law = [(float(p.loss + step.offset()), float(p.mass)) for p in points]
        beyond = float(infinite)
    for number in range(1, 60):
        x = number / 40
        claimed = beyond + sum(mass * max(1 - x * math.exp(-loss), 0) for loss, mass in law)
        assert claimed >= float(sampled_profile(Fraction(number, 40), add)) - 1e-12


def units(mass):
    return math.ceil(mass * (1 << BITS))


def sampled_profile(x, add):
    total = Fraction(0)
    for p, q in INNER:
        mixture = (1 - RATE) * q + RATE * p
        total += max((q - x * mixture) if add else (mixture - x * q), Fraction(0))
    return total


@pytest.mark.parametrize("add", [False, True])
def test_labels_hold_their_masses(add):
    """On a lattice of few bits, rounding separates the two bounds: the sample's masses lie between.

    Three responses of ``log 2``: the label of ``j`` yes has binomial masses.
    """
    step = NestedStep(
        (PairStep(Finite(tuple(Atom(rational(p), rational(q)) for p, q in RESPONSE)), 3),),
        Sampling(rational(RATE), add),
        1,
    )
    with precision(200):
        grid = Grid(Fraction(1, 4), 9, 0)
        pieces = step.inner[0].pieces(grid, 0.0)
        law, _ = compose([(two_sided_law(pieces, grid), 3)], grid, 3)
        labels, _ = step._sampled_labels(law, grid)
        found = sorted((label for label in labels if label.p > 0), key=lambda label: label.place)
        masses = []
        for j in range(4):
            p = math.comb(3, j) * Fraction(2**j, 27)
            q = math.comb(3, j) * Fraction(2 ** (3 - j), 27)
            mixture = (1 - RATE) * q + RATE * p
            masses.append((q, mixture) if add else (mixture, q))
        if add:
            masses.reverse()
        for label, (p, q) in zip(found[-4:], masses, strict=True):
            assert label.p.contains(arb(p.numerator) / p.denominator)
            assert label.q.contains(arb(q.numerator) / q.denominator)
