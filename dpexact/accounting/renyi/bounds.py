r"""Published upper bounds on the Rényi divergence of a sampled mechanism, by name.

Each takes an arbitrary Rényi *curve*, ``curve(k)`` being any upper bound on ``D_k`` of the
mechanism without sampling, checks the hypotheses of its theorem and encloses the value of the
bound. ``P`` is the output on the data with the record, ``Q`` without; ``q P + (1-q) Q`` is the
sampled mechanism. The exact divergence of a sampled Gaussian is :func:`dpexact.renyi`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.roots import minimise
from dpexact.accounting.renyi.series import mixture_moment
from dpexact.accounting.renyi.unsampled import value
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in, real_in
from dpexact.conversion import RealLike, real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real

RenyiCurve: TypeAlias = Callable[[Fraction], RealLike]
"""From an order to an upper bound on the divergence there.

The bound is an exact real, an :class:`Enclosure` (its upper end counts) or ``math.inf``.
"""

#: Highest order of the two binomial sums.
MAX_ORDER: Final = 200_000

_LARGEST_ORDER: Final = 10**18
_ZERO: Final = Fraction(0)


def poisson_general_bound(
    curve: RenyiCurve, q: RealLike, order: RealLike, digits: int = 15
) -> Enclosure:
    r"""Poisson sampling of any mechanism: Steinke (2022), Theorem 34.

    .. math:: \frac{1}{\alpha-1}\log\Big((1-q)^{\alpha-1}(1+(\alpha-1)q)
              + \sum_{k=2}^{\alpha}\binom{\alpha}{k}(1-q)^{\alpha-k}q^k e^{(k-1)\varepsilon(k)}\Big)

    bounds ``D_alpha`` for add/remove neighbours when ``curve`` bounds ``D_k`` in both directions.
    A fractional order is rounded up, which is sound because ``D_alpha`` increases with ``alpha``.

    Args:
        curve: called at the integers from 2 to ``order``.
        q: sampling rate in ``[0, 1]``.
        order: any exact real ``> 1``, at most ``MAX_ORDER``.
        digits: certified significant digits of the bound.

    >>> print(poisson_general_bound(lambda k: k / 2, "0.05", 10).shown(12))
    1.67406056378...
    """
    rate, n = _rate(q), _integer_order(order)
    if rate.fraction == 0:
        return Enclosure.exact(_ZERO, "Theorem 34")

    def compute(known: list[arb]) -> arb:
        logs = [(k - 1) * divergence for k, divergence in enumerate(known, 2)]
        return mixture_moment(logs, n, balls.ball(rate)).log1p() / (n - 1)

    return _bound("Theorem 34", map(curve, map(Fraction, range(2, n + 1))), digits, compute)


def poisson_small_rate_bound(
    curve: RenyiCurve,
    q: RealLike,
    order: RealLike,
    omega: RealLike | None = None,
    digits: int = 15,
) -> Enclosure:
    r"""Removal, small rates: Steinke (2022), Proposition 41 (its first and sharper form).

    .. math:: D_\alpha(qP + (1-q)Q\,\|\,Q) \le \frac{1}{\alpha-1}\log\Big(1 +
              \frac e2\alpha(\alpha-1)q^2\big(e^{D_2} - 1\big)
              + ((\alpha-1)q)^\omega e^{(\omega-1)D_\omega}\Big)

    for ``1 < alpha <= omega`` and ``q <= 1 - 1/e``.

    Args:
        curve: upper bounds on ``D_2(P||Q)`` and ``D_omega(P||Q)``.
        q: sampling rate in ``[0, 1 - 1/e]``.
        order: any exact real ``> 1``.
        omega: any rational ``>= order``; if omitted, the best is searched for (the logarithm of
            the last term is convex in ``omega``), the result being sound wherever that ends.
        digits: certified significant digits of the bound.

    >>> print(poisson_small_rate_bound(lambda k: k / 2, "0.05", 10).shown(12))
    4.11276922642...
    """
    rate, alpha = _rate(q), _order(order)
    if balls.compare(rate, 1 - 1 / reals.E, "q") > 0:
        raise InvalidInput(f"q: {rate} is not accepted; must be at most 1 - 1/e")
    if rate.fraction == 0:
        return Enclosure.exact(_ZERO, "Proposition 41")
    chosen = real(_best_omega(curve, rate, alpha) if omega is None else omega, "omega")
    if chosen.fraction is None or balls.compare(chosen, alpha, "omega") < 0:
        raise InvalidInput(f"omega: {omega} is not accepted; must be a rational >= {alpha}")

    def compute(known: list[arb]) -> arb:
        a, w, p = balls.ball(alpha), balls.ball(chosen), balls.ball(rate)
        square = arb.const_e() / 2 * a * (a - 1) * p * p * known[0].expm1()
        rest = (w * ((a - 1) * p).log() + (w - 1) * known[1]).exp()
        return (square + rest).log1p() / (a - 1)

    return _bound("Proposition 41", map(curve, (Fraction(2), chosen.fraction)), digits, compute)


def poisson_large_order_bound(
    divergence: RealLike, q: RealLike, order: RealLike, digits: int = 15
) -> Enclosure:
    r"""Removal, sharp at large orders: Steinke (2022), Proposition 42 (Minkowski's inequality).

    .. math:: D_\alpha(qP + (1-q)Q\,\|\,Q) \le
              \frac{\alpha}{\alpha-1}\log\big(1 - q + q\,e^{(1-1/\alpha)D_\alpha(P\|Q)}\big)

    Args:
        divergence: an upper bound on ``D_alpha(P||Q)``, ``>= 0``, at this order.
        q: sampling rate in ``[0, 1]``.
        order: any exact real ``> 1``.
        digits: certified significant digits of the bound.

    >>> print(poisson_large_order_bound(5, "0.05", 10).shown(12))
    1.88419196024...
    """
    rate, alpha = _rate(q), _order(order)
    if rate.fraction == 0:
        return Enclosure.exact(_ZERO, "Proposition 42")

    def compute(known: list[arb]) -> arb:
        share = 1 - 1 / balls.ball(alpha)
        return (balls.ball(rate) * (share * known[0]).expm1()).log1p() / share

    return _bound("Proposition 42", [divergence], digits, compute)


def poisson_zcdp_bound(rho: RealLike, q: RealLike, order: RealLike, digits: int = 15) -> Enclosure:
    r"""Poisson sampling of a ``rho``-zCDP mechanism: ``10 q^2 rho alpha``, Steinke (2022), Thm 38.

    It holds for add/remove neighbours under

    .. math:: 0 < q \le \tfrac12, \quad 0 < \rho \le 1, \quad 1 < \alpha < \omega =
              \min\Big\{\frac{\log(1/q)}{4\rho},\ 1 + q^{-1/4}\Big\}, \quad
              \omega \ge 3 + \frac{2\log(1/\rho)}{\log(1/q)},

    all of which are checked; they leave only ``q`` below about 0.0197.

    Raises:
        InvalidInput: a hypothesis fails; the message names it.

    >>> print(poisson_zcdp_bound("0.1", "1e-3", 3))
    0.000003
    """
    alpha, wanted = _order(order), digits_in(digits)
    r = real_in(rho, "rho", "> 0", "<= 1")
    p = real_in(q, "q", "> 0")
    if balls.compare(p, reals.rational(Fraction(1, 2)), "q") > 0:
        raise InvalidInput(f"q: {p} is not accepted; must be at most 1/2")
    log_rate = -reals.logarithm(p)
    least = 3 - 2 * reals.logarithm(r) / log_rate
    root = reals.square_root(reals.square_root(p))
    for omega, text in ((log_rate / (4 * r), "log(1/q)/(4 rho)"), (1 + 1 / root, "1 + q^(-1/4)")):
        if balls.compare(omega, least, "q") < 0:
            raise InvalidInput(
                f"q: {p} is not accepted; {text} must be at least 3 + 2 log(1/rho)/log(1/q)"
            )
        if balls.compare(alpha, omega, "order") >= 0:
            raise InvalidInput(f"order: {alpha} is not accepted; must be below {text}")
    return delivered(value(10 * (p * p) * r * alpha, wanted).labelled("Theorem 38"), wanted)


def fixed_size_bound(
    curve: RenyiCurve,
    m: int,
    n: int,
    order: RealLike,
    largest_loss: RealLike = math.inf,
    digits: int = 15,
) -> Enclosure:
    r"""Sampling ``m`` of ``n`` records without replacement: Wang, Balle, Kasiviswanathan (2019).

    Their Theorem 9: for replacement neighbours, ``gamma = m/n``, ``E = e^(D_inf) - 1``,

    .. math:: D_\alpha \le \frac{1}{\alpha-1}\log\Big(1
              + \gamma^2\binom\alpha2\min\{4(e^{\varepsilon(2)}-1),\,
                e^{\varepsilon(2)}\min\{2, E^2\}\}
              + \sum_{j=3}^{\alpha}\gamma^j\binom\alpha j
                e^{(j-1)\varepsilon(j)}\min\{2, E^j\}\Big).

    A fractional order is rounded up. The bound may exceed the curve itself, which holds as well.

    Args:
        curve: upper bounds on ``D_j`` for replacement neighbours, at the integers to ``order``.
        m: size of the sample, ``1 <= m <= n``.
        n: number of records.
        order: any exact real ``> 1``, at most ``MAX_ORDER``.
        largest_loss: an upper bound on ``D_inf``; infinite if there is none.
        digits: certified significant digits of the bound.

    >>> print(fixed_size_bound(lambda k: 2 * k, 1, 1000, 4).shown(12))
    0.0178265300241...
    """
    size = integer_in(n, "n", 1)
    gamma = Fraction(integer_in(m, "m", 1, size), size)
    top = _integer_order(order)
    loss = _value(largest_loss)

    def compute(known: list[arb]) -> arb:
        two = arb(2)
        growth = None if loss is None else balls.ball(loss).expm1()
        weight = balls.ball(gamma) ** 2 * (top * (top - 1) // 2)
        total = arb(0)
        for j, epsilon in enumerate(known, 2):
            factor = two if growth is None else two.min(growth**j)
            term = ((j - 1) * epsilon).exp() * factor
            total += weight * (term if j > 2 else term.min(4 * epsilon.expm1()))
            weight = weight * balls.ball(gamma) * (top - j) / (j + 1)
        return total.log1p() / (top - 1)

    return _bound("Theorem 9", map(curve, map(Fraction, range(2, top + 1))), digits, compute)


def _bound(
    theorem: str, curve: Iterable[RealLike], digits: int, compute: Callable[[list[arb]], arb]
) -> Enclosure:
    """The theorem's value from those of the curve; infinite where one of them is."""
    wanted = digits_in(digits)
    values = [_value(found) for found in curve]
    known = [x for x in values if x is not None]
    if len(known) < len(values):
        return Enclosure.exact(math.inf, theorem)
    found = balls.certify(
        lambda: compute([balls.ball(x) for x in known]), wanted, lowest=_ZERO, method=theorem
    )
    return delivered(found, wanted)


# --- arguments ------------------------------------------------------------------------------------


def _rate(q: RealLike) -> Real:
    return real_in(q, "q", ">= 0", "<= 1")


def _order(order: RealLike) -> Real:
    return real_in(order, "order", "> 1", f"<= {_LARGEST_ORDER}")


def _integer_order(order: RealLike) -> int:
    """The smallest integer not below ``order``."""
    alpha = real_in(order, "order", "> 1", f"<= {MAX_ORDER}")
    return math.ceil(min(value(alpha, 10).upper, MAX_ORDER))


def _value(divergence: RealLike) -> Real | None:
    """A bound on a divergence; ``None`` when infinite."""
    found = divergence.upper if isinstance(divergence, Enclosure) else divergence
    if isinstance(found, float) and found == math.inf:
        return None
    return real_in(found, "divergence", ">= 0")


def _best_omega(curve: RenyiCurve, q: Real, alpha: Real) -> Fraction:
    """A good ``omega >= alpha``, of which the logarithm of the last term is convex.

    Proposes: the bound holds at every ``omega``.
    """
    log_base = balls.approximate_log((alpha - 1) * q)
    lowest = Fraction(min(value(alpha, 15).upper, _LARGEST_ORDER))

    def height(omega: Fraction) -> float:
        known = _value(curve(omega))
        if known is None:
            return math.inf
        # proposes: one omega of many, each of which gives a bound
        return float(omega) * log_base + (float(omega) - 1) * balls.approximate(known)

    def above(log: float) -> Fraction:
        return max(lowest, (lowest * Fraction(math.exp(log))).limit_denominator(1000))

    # proposes: where omega is sought
    farthest = math.log(MAX_ORDER) + 1
    found = above(minimise(lambda log: height(above(log)), 0.0, farthest))
    return found if height(found) < height(lowest) else lowest
