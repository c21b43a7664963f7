"""Counts that are published from a threshold on: how likely that of a single user is."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact.balls import ball, certify, sign
from dpexact.exactness import exponential
from dpexact.mechanisms import Gaussian, Laplace, Mechanism
from dpexact.reals import Real, rational

#: Digits to which a probability that is no expression is rounded up.
_DIGITS: Final = 40
#: Smaller ones are rounded up to it.
_LEAST: Final = Fraction(1, 1 << 100_000)


def tail(noise: Mechanism, least: Real) -> Real:
    """``Pr[sensitivity + noise >= least]``; that of Gaussian noise is rounded up."""
    assert isinstance(noise, Gaussian | Laplace)
    if isinstance(noise, Laplace):
        away = (least - noise.sensitivity) / noise.scale
        beyond = exponential(-away) if sign(away, "least") >= 0 else exponential(away)
        return beyond / 2 if sign(away, "least") >= 0 else 1 - beyond / 2
    away = (least - noise.sensitivity) / noise.sigma

    def upper() -> arb:
        return (ball(away) / arb(2).sqrt()).erfc() / 2

    found = certify(upper, _DIGITS, lowest=Fraction(0), highest=Fraction(1)).upper
    return rational(max(Fraction(found), _LEAST))
