from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import delta, epsilon
from dpexact.accounting import inverted
from dpexact.accounting.inverted import _MAX_DOUBLINGS, _Search
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

DeltaAt = Callable[[Fraction, int], Enclosure]


def invert(delta_at: DeltaAt, target: Real, digits: int, method: str) -> Enclosure:
    """Of a profile of fractions."""
    return inverted.invert(lambda x, n: delta_at(x.value, n), target, digits, method)


def rational_profile(scale: Fraction) -> DeltaAt:
    """``scale / (scale + epsilon)``, enclosed with the digits asked for and no more."""

    def delta_at(point: Fraction, digits: int) -> Enclosure:
        value = scale / (scale + point)
        slack = value / (3 * 10**digits)
        return Enclosure(value - slack, value + slack / 7)

    return delta_at


@given(
    st.integers(-300, 300),
    st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)),
    st.integers(1, 40),
)
@settings(max_examples=scaled(150))
def test_a_profile_with_a_known_inverse(exponent: int, target: Fraction, digits: int) -> None:
    scale = Fraction(10) ** exponent
    found = invert(rational_profile(scale), real(target), digits, "m")
    truth = scale * (1 / target - 1)
    assert found.lower <= truth <= found.upper
    assert found.digits >= digits
    assert found.method == "m"


@given(st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000)), st.integers(3, 25))
@settings(max_examples=scaled(50))
def test_every_evaluation_counts_only_when_certified(target: Fraction, digits: int) -> None:
    """Enclosures too wide to decide do not mislead."""
    exact = rational_profile(Fraction(1))

    def delta_at(point: Fraction, wanted: int) -> Enclosure:
        return exact(point, min(wanted, digits + 3))

    assert 1 / target - 1 in invert(delta_at, real(target), digits, "m")


def test_at_and_above_the_start() -> None:
    zero = Enclosure.exact(Fraction(0))
    exact = lambda point, digits: Enclosure.exact(1 / (2 + 2 * point))  # noqa: E731
    assert invert(exact, real("1/2"), 10, "m") == zero
    assert invert(exact, real("3/4"), 10, "m") == zero
    assert Fraction(1) in invert(exact, real("1/4"), 10, "m")  # hit exactly on the way


def test_a_start_that_cannot_be_told_apart() -> None:
    wide = Enclosure(Fraction(1, 4), Fraction(3, 4))
    found = invert(lambda point, digits: wide, real("1/2"), 10, "m")
    assert found == Enclosure(Fraction(0), math.inf)
    assert found.method == "m"
    assert "delta(1) cannot be told apart from the target" in found.reason


def test_a_start_that_cannot_be_told_apart_does_not_end_the_search() -> None:
    """What lies beyond is certain again, and bounds the answer from above."""

    def delta_at(point: Fraction, digits: int) -> Enclosure:
        slack = Fraction(1, 100)
        value = Fraction(1, 2) / (1 + point)
        return Enclosure(value - slack, value + slack)

    found = invert(delta_at, real("1/2"), 3, "m")
    assert found.lower == 0
    assert Fraction(1, 50) < found.upper <= 1
    assert found.reason


def test_a_profile_that_never_falls_far_enough() -> None:
    half = Enclosure.exact(Fraction(1, 2))
    found = invert(lambda point, digits: half, real("1/4"), 5, "m")
    assert f"beyond 2^(+-{_MAX_DOUBLINGS})" in found.reason
    assert found.lower >= 2 ** (_MAX_DOUBLINGS - 1)
    assert found.upper == math.inf


def test_undecided_beyond_the_largest_float() -> None:
    def delta_at(point: Fraction, digits: int) -> Enclosure:
        far = point > Fraction(10) ** 400
        return Enclosure(Fraction(0), Fraction(1)) if far else Enclosure.exact(Fraction(1, 2))

    found = invert(delta_at, real("1/4"), 5, "m")
    assert re.search(r"delta\(\d\.\d+e40\d\) cannot be told", found.reason)
    assert found.lower > Fraction(10) ** 399
    assert found.upper == math.inf


def test_a_plateau_runs_out_of_steps() -> None:
    """Not strictly decreasing, against the contract: still no wrong answer."""

    def delta_at(point: Fraction, digits: int) -> Enclosure:
        value = Fraction(1, 2) if point < 3 else Fraction(1, 4) if point < 5 else Fraction(1, 8)
        return Enclosure.exact(value)

    found = invert(delta_at, real("1/4"), 4, "m")
    assert found.lower <= 3 + Fraction(1, 1000) or found.upper <= 5
    assert delta_at(Fraction(found.upper), 1).upper <= Fraction(1, 4)
    assert delta_at(Fraction(found.lower), 1).lower >= Fraction(1, 4)


def test_a_wrong_profile_gives_a_wrong_answer() -> None:
    """The checks above have power: one part in 10^20 of delta is seen in epsilon."""
    right = rational_profile(Fraction(1))

    def wrong(point: Fraction, digits: int) -> Enclosure:
        found = right(point, digits)
        factor = 1 + Fraction(1, 10**20)
        return Enclosure(found.lower * factor, found.upper * factor)

    assert Fraction(3) in invert(right, real("1/4"), 25, "m")
    assert Fraction(3) not in invert(wrong, real("1/4"), 25, "m")


def test_a_profile_that_reaches_zero() -> None:
    """Beyond the largest loss delta is 0, which has no logarithm to steer by."""
    triangle = lambda point, digits: Enclosure.exact(max(1 - point / 3, Fraction(0)))  # noqa: E731
    for target in ("1e-30", "1/7", "0.999"):
        found = invert(triangle, real(target), 12, "m")
        assert 3 * (1 - Fraction(target)) in found
        assert found.digits >= 12


def test_steps_run_out_with_what_was_certified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        _Search, "rounded", lambda self, _: self.low + (self.high - self.low) / 10**9
    )
    found = invert(rational_profile(Fraction(1)), real("1/4"), 5, "m")
    assert found.reason == "the search did not converge"
    assert found.digits < 5
    assert Fraction(3) in found
    assert found.upper < 5


def test_a_nearly_constant_profile_is_inverted_too() -> None:
    """The change is all below the digits by which the proposals steer, or of the target."""
    half = Fraction(1, 2)

    def delta_at(point: Fraction, digits: int) -> Enclosure:
        value = half + Fraction(1, 10**40) / (1 + point)
        slack = value / (3 * 10**digits)
        return Enclosure(value - slack, value + slack / 7)

    found = invert(delta_at, real(half + Fraction(10, 43 * 10**40)), 12, "m")
    assert Fraction(33, 10) in found
    assert found.digits >= 12


def test_a_target_next_to_the_mass_of_infinite_loss() -> None:
    m = "gdp(2/9) * approx_dp(1, 1/4)^3"
    for point in ("3", "42/11", "5", "5.9"):
        target = delta(m, point, digits=40).upper
        found = epsilon(m, target, digits=12)
        assert found.digits >= 12
        assert found.lower <= Fraction(point)


# --- targets that no fraction is made of ----------------------------------------------------------

TINY = "exp(-1000000)"  # between 10^-434295 and 10^-434294


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "lattice"])
def test_a_target_below_the_smallest_number(method: str) -> None:
    """The enclosure of the target is not that of epsilon.

    Three Laplace losses of at most 1 are all 1 with probability 1/8, so at ``3 - t`` delta is at
    least ``(1 - e^-t)/8``, and epsilon lies within ``10^-434293`` below 3.
    """
    found = epsilon("laplace(1)^3", TINY, 5, method=method)
    assert found.digits >= 5
    assert found.lower < 3 <= found.upper


def test_a_target_known_only_to_be_tiny() -> None:
    triangle = lambda point, digits: Enclosure.exact(max(1 - point / 3, Fraction(0)))  # noqa: E731
    found = invert(triangle, real(TINY), 12, "m")
    assert found.lower < 3 <= found.upper
    assert found.digits >= 12
    endless = rational_profile(Fraction(1))
    far = invert(endless, real(TINY), 12, "m")
    assert far.lower > 2 ** (_MAX_DOUBLINGS - 2)
    assert far.upper == math.inf
    assert far.reason
