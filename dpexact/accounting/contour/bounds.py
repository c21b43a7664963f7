"""Every error term of the contour method, one function each, in ball arithmetic.

Hypotheses and proofs are in ``docs/theory/contour.md``; the numbers in brackets refer to its
sections. Callers look these functions up on this module when they need them, so that a test can
replace any single one.
"""

from __future__ import annotations

from flint import arb


def strip_oblique(
    moment: arb, shift: arb, top: arb, spacing: arb, cosine: arb, exponent: arb
) -> arb:
    """Trapezoidal error on the line ``Im z = shift``, uniformly in ``Im s >= 0`` [3].

    ``moment (1/(e^{2 pi a/t} - 1) + e^{y^2/2} cos^{-c} / (e^{2 pi (y - a)/t} - 1))``, with ``a``
    the shift, ``t`` the spacing, ``y`` the top of the strip and ``cosine`` at most
    ``cos(y / (2 sigma))``.
    """
    rate = 2 * arb.pi() / spacing
    below = 1 / (rate * shift).expm1()
    above = (top * top / 2 - exponent * cosine.log()).exp() / (rate * (top - shift)).expm1()
    return moment * (below + above)


def strip_positive(
    moment: arb, shift: arb, half_width: arb, spacing: arb, cosine: arb, exponent: arb
) -> arb:
    """Trapezoidal error for the modulus of the shifted integrand, uniformly in ``u >= 0`` [4].

    ``2 moment e^{(a^2 + y^2)/2} cos^{-c} / (e^{2 pi y/t} - 1)``.
    """
    growth = (shift * shift + half_width * half_width) / 2 - exponent * cosine.log()
    return 2 * moment * growth.exp() / (2 * arb.pi() * half_width / spacing).expm1()


def geometric_tail(edge_term: arb, slope: arb, spacing: arb) -> arb:
    """Sum of the terms beyond the last one kept; their logarithm falls by ``slope`` or more [5]."""
    return edge_term / (slope * spacing).expm1()


def outer_tail(decayed: arb, weight: arb, step: arb, count: int) -> arb:
    """Nodes beyond ``count``: ``e^{-c eps} sup|M| / (pi h N)`` [7]."""
    return weight * decayed / (arb.pi() * step * count)


def chernoff_constant(order: arb) -> arb:
    """``b^b / (1 + b)^{1 + b}``, the least ``K`` with ``(1 - e^{-y})_+ <= K e^{b y}`` [2]."""
    return (order * order.log() - (1 + order) * (1 + order).log()).exp()


def alias_above(moment: arb, order: arb, abscissa: arb, period: arb, epsilon: arb) -> arb:
    """``sum_m e^{cxm} delta(eps + xm) <= K(b) M(b) e^{-b eps} / (e^{(b-c)x} - 1)`` [8]."""
    return (
        chernoff_constant(order)
        * moment
        * (-order * epsilon).exp()
        / ((order - abscissa) * period).expm1()
    )


def alias_below(reversed_moment: arb, order: arb, abscissa: arb, period: arb, epsilon: arb) -> arb:
    """Bound on what ``delta(eps - xm) = m_P - e^{eps-xm} m_Q + R_m`` leaves in ``R_m`` [8].

    ``K(b) M~(b) e^{(1+b) eps} / (e^{(1+b+c)x} - 1)`` with ``M~`` the moment of the reversed pair.
    """
    return (
        chernoff_constant(order)
        * reversed_moment
        * ((1 + order) * epsilon).exp()
        / ((1 + order + abscissa) * period).expm1()
    )


def alias_deficit(moment: arb, order: arb, abscissa: arb, period: arb, epsilon: arb) -> arb:
    """Bound on what ``delta(eps - xm) = m_P - w_m`` leaves in ``w_m`` [8].

    ``M(-a) e^{a eps} / (e^{(a+c)x} - 1)`` for an order ``a`` in ``(0, 1)``.
    """
    return moment * (order * epsilon).exp() / ((order + abscissa) * period).expm1()
