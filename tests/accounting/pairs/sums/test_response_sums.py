"""Bounds on the moments of many different responses, and what the contour makes of them."""

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

from dpexact import balls
from dpexact.accounting.engines.contour.atoms import AtomsProfile
from dpexact.accounting.engines.heterogeneous.counts import CountLaw
from dpexact.accounting.engines.heterogeneous.refinement import GridComposition
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sums import response_sums
from dpexact.accounting.pairs.sums.response_sums import Leak, ResponseSums
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational


def responses(count, first="1/100", last="1/50"):
    """``count`` different ones, a little uneven."""
    low, high = Fraction(first), Fraction(last)
    steps = [(high - low) * k * (k + 7) / (count * (count + 7)) for k in range(count)]
    return [(Response(rational(low + step)), 1 + k % 3) for k, step in enumerate(steps)]


def modulus(factors, c, u):
    """``|phi(u)|`` by its definition."""
    total = mpf(1)
    for pair, count in factors:
        eps = mpf(pair.epsilon.fraction.numerator) / pair.epsilon.fraction.denominator
        up = 1 / (1 + mp.exp(-eps * (1 + 2 * mpf(c))))
        total *= abs(up * mp.expj(u * eps) + (1 - up) * mp.expj(-u * eps)) ** count
    return total


def reached(blocks, low):
    """Where blocks that begin at ``low`` first leave a gap."""
    order = np.argsort(blocks.starts)
    for start, width in zip(blocks.starts[order], blocks.widths[order], strict=True):
        if start > low:
            break
        low = max(low, (start + width) * (1 + 2.0**-39))
    return low


@given(
    st.integers(2, 40),
    st.floats(0.1, 20),
    st.floats(1e-3, 300),
    st.sampled_from([("1/100", "1/50"), ("1/1000", "3"), ("1/10", "11/100")]),
    st.booleans(),
    st.lists(st.floats(0, 1), min_size=1, max_size=6),
)
@settings(max_examples=scaled(25), deadline=None)
def test_no_height_is_above_its_block(count, c, low, ends, plenty, shares):
    """Of either number of terms."""
    factors = responses(count, *ends)
    with mock.patch.object(response_sums, "_PLENTY", 1 if plenty else 3000):
        sums = ResponseSums(factors, c)
    top = low + 40 / sums.slope
    blocks = sums.blocks(low, top, 12.0, 1e-6)
    assert reached(blocks, low) >= top
    with mp.workprec(100):
        for share in shares:
            place = int(share * (len(blocks.starts) - 1))
            start, width, depth = (mpf(float(part[place])) for part in blocks)
            for part in (0, share, 1):
                size = modulus(factors, c, start + mpf(part) * width)
                assert size <= mp.exp(-depth) * (1 + mpf(2) ** -30)


@pytest.mark.slow
def test_blocks_that_are_cut_leave_no_gap_and_weigh_less():
    factors = responses(40, "1/10", "1")
    sums = ResponseSums(factors, 1.0)
    blocks = sums.blocks(2.0, 100.0, 9.0, 1e-6)
    cut = sums._cut(blocks, 2.0, 13.0, 1e-6)
    assert len(cut.starts) > len(blocks.starts)
    assert reached(cut, 2.0) >= 100
    spans, falls = cut.weights(1e-6, 0.0)
    assert np.sum(spans * np.exp(-falls)) < 0.7 * sum(
        span * np.exp(-fall) for span, fall in zip(*blocks.weights(1e-6, 0.0), strict=True)
    )
    with mp.workprec(100):
        for start, width, depth in zip(*(part.tolist() for part in cut), strict=True):
            for u in (mpf(start), mpf(start) + mpf(width)):
                assert modulus(factors, 1.0, u) <= mp.exp(-mpf(depth)) * (1 + mpf(2) ** -30)


@pytest.mark.parametrize("plenty", [0, 3000])
@pytest.mark.parametrize(("c", "last"), [(0.5, "1/50"), (8.0, "1/50"), (0.5, "1"), (0.01, "1/50")])
def test_a_block_is_right_at_both_ends(c, last, plenty, monkeypatch):
    """Few responses from a small height on, where the root of ``D`` grows almost as it may."""
    monkeypatch.setattr(response_sums, "_PLENTY", plenty)
    factors = responses(3, last=last)
    blocks = ResponseSums(factors, c).blocks(0.5, 400.0, 0.0, 1e-6)
    for start, width, depth in zip(*(part.tolist() for part in blocks), strict=True):
        with mp.workprec(100):
            for u in (mpf(start), mpf(start) + mpf(width)):
                assert modulus(factors, c, u) <= mp.exp(-mpf(depth)) * (1 + mpf(2) ** -30)


def test_bounds_are_close_where_they_matter():
    """At the first height, and where all have turned apart."""
    factors = responses(300)
    sums = ResponseSums(factors, 3.0)
    blocks = sums.blocks(5 / sums.slope, 3000.0, 20.0, 1e-6)
    with mp.workprec(60):
        assert modulus(factors, 3.0, mpf(5 / sums.slope)) > mp.exp(
            -mpf(float(blocks.depths[0])) * 1.3
        )
    assert blocks.depths[64:].min() > 13


@pytest.mark.parametrize("eps", ["1/100", "1/2", "1", "3/2", "5/2"])
def test_two_terms_of_the_logarithm_bend_this_much(eps):
    """Second differences of ``(s x + s^2 x^2/2)/2`` of ``x = sin(eps u)^2`` come close to ``K``."""
    eps = Fraction(eps)
    most = 2 * ResponseSums([(Response(rational(eps)), 1)], 0.25).slope ** 2
    with mp.workprec(120):
        s = 1 / mp.cosh(mpf(eps.numerator) / eps.denominator * 3 / 4) ** 2
        h = mpf(2) ** -20

        def whole(t):
            x = s * mp.sin(t) ** 2
            return (x + x * x / 2) / 2

        turns = [mpf(k) / 50 for k in range(160)]
        largest = max((whole(t + h) - 2 * whole(t) + whole(t - h)) / (h * h) for t in turns)
        largest *= mpf(eps.numerator) ** 2 / eps.denominator**2
    assert 0.999 * most < largest < most * (1 + 1e-9)


@pytest.mark.parametrize("variance", [1e-6, 1e-3])
def test_the_sum_of_all_blocks_is_no_less(variance):
    """Each by its definition, in balls."""
    sums = ResponseSums(responses(40, last="1/10"), 1.0)
    found = sums.far(8.0, 3000.0, 6.0, variance, 0.25)
    ((_, blocks),) = sums._known.values()
    with balls.precision(80):
        total = arb(0)
        for start, width, depth in zip(*(part.tolist() for part in blocks), strict=True):
            fall = arb(depth) + arb(variance) / 2 * arb(start) ** 2
            total += (arb(width) + arb(0.25)) / arb(start) ** 2 * (-fall).exp()
        assert total <= found < 1.2 * total


@pytest.mark.parametrize("at", ["1/4", "1/2", "0"])
def test_the_contour_agrees_with_exact_counts(at):
    """A hundred on a common lattice, where subsets are counted."""
    factors = [(Response(rational(Fraction(k, 2000))), 1 + k % 2) for k in range(20, 120)]
    infinite = InfiniteLoss(((rational(Fraction(1, 10**4)), 3),))
    exact = CountLaw(*commensurate(factors, float("inf")), infinite)
    atoms = AtomsProfile([*factors, (Leak(infinite.masses), 1)], infinite)
    found = atoms.delta(real(at), 3)
    assert found.digits >= 3
    assert found.overlaps(exact.delta(real(at), 12))
    target = rational(Fraction(exact.delta(real(at), 12).lower))
    if at != "0":
        assert atoms.epsilon(target, 3).overlaps(exact.epsilon(target, 10))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "levels"), [("1/50", ("1/10", "1/2", "3/2")), ("1", ("20", "60"))]
)
def test_the_contour_agrees_with_the_grid(last, levels):
    """Losses of up to 1 turn often before the last node."""
    factors = responses(250, last=last)
    infinite = InfiniteLoss(((real("1e-6"), 250), (real("sqrt(2)*1e-6"), 2)))
    parameters = tuple((pair.epsilon, count) for pair, count in factors)
    grid = GridComposition(parameters, infinite)
    atoms = AtomsProfile([*factors, (Leak(infinite.masses), 1)], infinite)
    for at in levels:
        found = atoms.delta(real(at), 7)
        assert found.digits >= 6
        assert found.overlaps(grid.delta(real(at), 4))
    assert atoms.epsilon(real("1e-3"), 6).overlaps(grid.epsilon(real("1e-3"), 4))


@pytest.mark.slow
def test_responses_that_turn_together_lose_digits_and_stay_right():
    """They differ by a billionth, so that their moments recur; beside them an exact composition."""
    count = 16
    close = [(Response(rational(Fraction(1, 50) + Fraction(k, 10**11))), 1) for k in range(count)]
    atoms = AtomsProfile([*close, (Leak(()), 1)], InfiniteLoss())
    whole = CountLaw(*commensurate([(Response(rational(Fraction(1, 50))), count)]), InfiniteLoss())
    found, near = atoms.delta(real("1/10"), 6), whole.delta(real("1/10"), 12)
    assert found.digits >= 2
    assert found.lower < near.upper * (1 + Fraction(1, 10**5))
    assert found.upper > near.lower


def test_masses_of_infinite_loss_are_one_factor():
    masses = ((real("1e-3"), 4), (real("exp(-7)"), 1))
    leak = Leak(masses)
    with balls.precision(100):
        kept = (1 - balls.ball(real("1e-3"))) ** 4 * (1 - (-arb(7)).exp())
        for value in (
            leak.mass(),
            leak.moment(3.0, 10.0),
            leak.overlap(),
            leak.moments(1, 1, 2, 1)[2],
        ):
            assert value.overlaps(kept)


def test_too_many_heights_are_refused_before_they_are_looked_at():
    sums = ResponseSums(responses(70, "1/1000000", "1"), 1.0)
    with pytest.raises(TooExpensive):
        sums.blocks(1.0, 1e12, 10.0, 1e-30)
    for low, top in ((1e-200, 1.0), (1.0, 1e200)):
        with pytest.raises(TooExpensive):
            sums.far(low, top, 10.0, 1e-30, 1.0)
    assert response_sums.MAX_SUMS < 1 << 32


def test_responses_that_turn_together_are_given_up():
    close = [(Response(rational(Fraction(1, 50) + Fraction(k, 10**11))), 1) for k in range(70)]
    with pytest.raises(TooExpensive, match="again and again"):
        ResponseSums(close, 1.0).far(60.0, 1e6, 12.0, 1e-12, 1.0)
