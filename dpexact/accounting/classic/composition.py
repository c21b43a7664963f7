r"""Composition of ``(eps_i, delta_i)``-DP mechanisms: the published upper bounds on epsilon.

Each function takes what the steps guarantee and the total ``delta``, checks the hypotheses of its
theorem and encloses the value of its ``epsilon``. All hold for adaptive composition. Sums run over
all steps; ``S`` is the sum of ``eps_i^2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.guarantees import Guarantee
from dpexact.accounting.classic.slack import fraction_sum, joint, summed
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real, RealLike

_ZERO: Final = Fraction(0)

Steps = Sequence[Guarantee]


def basic_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    """``sum eps_i``, for ``delta >= sum delta_i`` (Dwork and Roth 2014, Theorem 3.16).

    Args:
        steps: what each step guarantees.
        delta: the total, in ``[0, 1]``.
        digits: certified significant digits of the bound.

    Raises:
        InvalidInput: ``delta`` is below ``sum delta_i``.

    >>> from dpexact.reals import real
    >>> print(basic_composition([Guarantee(real("0.1"), count=100)], "1e-6"))
    10
    """
    wanted = digits_in(digits)
    return delivered(enclose_basic(steps, delta, wanted), wanted)


def enclose_basic(steps: Steps, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`basic_composition`, as narrow as it could be certified."""
    summed(steps, _delta(delta)).check(positive=False)
    return _basic(steps, digits)


def advanced_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Dwork, Rothblum and Vadhan (2010), Theorem III.3, for ``k`` equal steps.

    .. math:: k\varepsilon(e^\varepsilon - 1) + \varepsilon\sqrt{2k\log(1/\tilde\delta)}
              \quad\text{at}\quad \delta = k\delta_0 + \tilde\delta, \quad 0 < \tilde\delta \le 1

    Args:
        steps: one guarantee with its count.
        delta: the total, above ``k delta_0``, at most 1.
        digits: certified significant digits of the bound.

    Raises:
        InvalidInput: the steps differ, or ``delta`` is out of that range.

    >>> from dpexact.reals import real
    >>> print(advanced_composition([Guarantee(real("0.1"), count=100)], "1e-6", 12).shown(12))
    6.30823095051...
    """
    wanted = digits_in(digits)
    return delivered(enclose_advanced(steps, delta, wanted), wanted)


def enclose_advanced(steps: Steps, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`advanced_composition`, as narrow as it could be certified."""
    target = _delta(delta)
    if len({(step.eps, step.delta) for step in steps}) > 1:
        raise InvalidInput("steps: they must all guarantee the same eps and delta")
    slack = summed(steps, target)
    slack.check(positive=True)

    def compute() -> arb:
        drift = _sum(steps, lambda eps: eps * eps.expm1())
        return drift + _spread(_square(steps), -slack.ball().log())

    return balls.certify(compute, digits, lowest=_ZERO, method="advanced composition")


def kov_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Kairouz, Oh and Viswanath (2017), (7) for equal steps and (8) for any.

    .. math:: \min\Big\{\sum\varepsilon_i,\;
              \sum\varepsilon_i\tanh\tfrac{\varepsilon_i}2
              + \sqrt{2S\log(e + \sqrt S/\tilde\delta)},\;
              \sum\varepsilon_i\tanh\tfrac{\varepsilon_i}2
              + \sqrt{2S\log(1/\tilde\delta)}\Big\}

    at :math:`\delta = 1 - (1-\tilde\delta)\prod(1-\delta_i)`, ``0 <= tilde delta <= 1``.

    Args:
        steps: what each step guarantees.
        delta: the total, at least ``1 - prod(1 - delta_i)``, at most 1.
        digits: certified significant digits of the bound.

    Raises:
        InvalidInput: ``delta`` is out of that range.

    >>> from dpexact.reals import real
    >>> print(kov_composition([Guarantee(real("0.1"), count=100)], "1e-6", 12).shown(12))
    5.75610551933...
    """
    wanted = digits_in(digits)
    return delivered(enclose_kov(steps, delta, wanted), wanted)


def enclose_kov(steps: Steps, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`kov_composition`, as narrow as it could be certified."""
    slack = joint(steps, _delta(delta))
    if slack.check(positive=False) == 0:
        return _basic(steps, digits)

    def compute() -> arb:
        share, square = slack.share(), _square(steps)
        drift = _sum(steps, lambda eps: eps * (eps / 2).tanh())
        logarithm = (-share.log()).min((arb.const_e() + square.sqrt() / share).log())
        return _sum(steps, lambda eps: eps).min(drift + _spread(square, logarithm))

    return balls.certify(compute, digits, lowest=_ZERO, method="KOV simplified")


def pure_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""``S/2 + sqrt(2 S log(1/delta))`` for ``eps_i``-DP steps: Steinke (2022), Theorem 18.

    Args:
        steps: what each step guarantees, all with ``delta_i = 0``.
        delta: the total, in ``(0, 1]``.
        digits: certified significant digits of the bound.

    Raises:
        InvalidInput: some ``delta_i > 0``, or ``delta = 0``.

    >>> from dpexact.reals import real
    >>> print(pure_composition([Guarantee(real("0.1"), count=100)], "1e-6", 13).shown(13))
    5.756521769756...
    """
    wanted = digits_in(digits)
    return delivered(enclose_pure(steps, delta, wanted), wanted)


def enclose_pure(steps: Steps, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`pure_composition`, as narrow as it could be certified."""
    target = _delta(delta)
    if any(balls.sign(step.delta, "delta") for step in steps):
        raise InvalidInput("steps: each must guarantee pure DP, delta_i = 0")
    slack = summed(steps, target)
    slack.check(positive=True)

    def compute() -> arb:
        square = _square(steps)
        return square / 2 + _spread(square, -slack.ball().log())

    return balls.certify(compute, digits, lowest=_ZERO, method="Theorem 18")


def approximate_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Steinke (2022), Theorem 22, for any steps.

    .. math:: \min\Big\{\sum\varepsilon_i,\ S/2 + \sqrt{2S\log(1/\delta')}\Big\},
              \qquad \delta' = \delta - \sum\delta_i > 0

    Args:
        steps: what each step guarantees.
        delta: the total, above ``sum delta_i``, at most 1.
        digits: certified significant digits of the bound.

    Raises:
        InvalidInput: ``delta`` is out of that range.

    >>> from dpexact.reals import real
    >>> steps = [Guarantee(real("0.1"), real("1e-9"), 100)]
    >>> print(approximate_composition(steps, "1.1e-6", 12).shown(12))
    5.75652176975...
    """
    wanted = digits_in(digits)
    return delivered(enclose_approximate(steps, delta, wanted), wanted)


def enclose_approximate(steps: Steps, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`approximate_composition`, as narrow as it could be certified."""
    slack = summed(steps, _delta(delta))
    slack.check(positive=True)

    def compute() -> arb:
        square = _square(steps)
        advanced = square / 2 + _spread(square, -slack.ball().log())
        return _sum(steps, lambda eps: eps).min(advanced)

    return balls.certify(compute, digits, lowest=_ZERO, method="Theorem 22")


# --- parts ----------------------------------------------------------------------------------------


def _delta(delta: RealLike) -> Real:
    return real_in(delta, "delta", ">= 0", "<= 1")


def _sum(steps: Steps, function: Callable[[arb], arb]) -> arb:
    return sum((step.count * function(balls.ball(step.eps)) for step in steps), arb(0))


def _square(steps: Steps) -> arb:
    return _sum(steps, lambda eps: eps * eps)


def _spread(square: arb, logarithm: arb) -> arb:
    """``sqrt(2 S L)`` for ``L >= 0``, which rounding may have made negative."""
    return (2 * square * logarithm.max(arb(0))).sqrt()


def _basic(steps: Steps, digits: int) -> Enclosure:
    total = fraction_sum((step.eps, step.count) for step in steps)
    if total is not None:
        return Enclosure.exact(total, "basic composition")
    return balls.certify(
        lambda: _sum(steps, lambda eps: eps), digits, lowest=_ZERO, method="basic composition"
    )
