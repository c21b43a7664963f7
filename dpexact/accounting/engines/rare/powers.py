r"""Losses far above 1 and far below it: by powers of ``lambda``, which rules of few nodes sum.

For whole ``K`` that is at least ``Re rho``

.. math:: (1 + \lambda)^\rho = \sum_{k<K} \binom\rho k \lambda^k + e,
   \qquad |e| \le \Big|\binom\rho K\Big| \lambda^K,

of tiny losses, and the same with ``1/lambda`` times ``lambda^rho`` of large ones. Powers have no
branch point at ``lambda = -1``, next to which rules need narrow strips. The numbers in brackets
refer to sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import acb, arb

from dpexact.accounting.engines.rare.law import Cells, Rule, SampledLaw, normal_beyond
from dpexact.accounting.engines.rare.windows import Window

# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_real(half_width: arb, spacing: arb, high: arb) -> arb:
    """Error of a rule on the real line; ``high`` bounds the integral on each edge [3]."""
    return 2 * high / (2 * arb.pi() * half_width / spacing).expm1()


def left_out(binomial: acb, weight: arb) -> acb:
    """``|e|`` at most, a ball around 0: the last binomial, and the moment of its power [9]."""
    radius = arb(0, 1) * (binomial.abs_upper() * weight).abs_upper()
    return acb(radius, radius)


def outside(law: SampledLaw, window: Window, order: arb, rule: Rule) -> arb:
    """At least the weight of all nodes beyond the first and the last [9]."""
    spacing, shift = arb(rule.spacing), arb(rule.shift)
    left, right = rule.first * spacing, rule.last * spacing
    angle, centre = shift * law.rate, order * law.rate
    power, below = law.left(window, order, left, angle)
    below *= normal_beyond(power * law.rate - left, spacing)
    above = law.mean(order) * normal_beyond(right - centre, spacing) * window.turned(angle)
    # proposes: which bound; both hold
    if window.high is not None and order >= 0:
        ceiling = window.ceiling(order, angle, law.ratio(right), 0)
        above = arb.min(above, normal_beyond(right, spacing) * ceiling)
    return (shift * shift / 2).exp() * (below + above)


def real_powers(
    law: SampledLaw, window: Window, orders: Sequence[int], rule: Rule, cells: Cells
) -> list[arb]:
    """``Int phi lambda^k W`` for some ``k``, by a rule on the real line."""
    spacing, edge = arb(rule.spacing), arb(rule.angle) / law.rate
    half, nodes = arb(0.5), []
    # proposes: the nodes; `outside` bounds all others
    for j in range(rule.first, rule.last + 1):
        x = j * spacing
        log = law.start + x * law.rate
        ratio = log.exp()
        # proposes: the root, a float that means its exact value
        power = ratio if window.root == 1 else (log * window.root).exp()
        nodes.append(((-x * x * half).exp() * window.at(power, law.bits), ratio))
    found, scale = [], spacing / (2 * arb.pi()).sqrt()
    for order in orders:
        total = sum((weight * ratio**order for weight, ratio in nodes), arb(0))
        error = outside(law, window, arb(order), rule)
        error += strip_real(edge, spacing, cells.weighed(window, arb(order), rule.angle))
        found.append(scale * total + arb(0, 1) * error.abs_upper())
    return found


def binomials(order: acb, count: int) -> list[acb]:
    """``binom(rho, k)`` for ``k <= count``.

    Raises:
        ValueError: the last does not bound what is left out.
    """
    # of balls: the power of 1 + t that is left must not grow
    if not order.real <= count:
        raise ValueError("so large an order needs more terms")
    found = [acb(1)]
    for k in range(count):
        found.append(found[-1] * (order - k) / (k + 1))
    return found


def tiny_line(powers: Sequence[arb], orders: Sequence[acb]) -> list[acb]:
    """``J_W`` at each order, of a window of tiny losses; the last power bounds the rest [9]."""
    *known, last = powers
    found = []
    for order in orders:
        *terms, left = binomials(order, len(known))
        total = sum((a * b for a, b in zip(terms, known, strict=True)), acb(0))
        found.append(total + left_out(left, last))
    return found


def fallen(
    cells: Cells,
    window: Window,
    orders: tuple[acb, acb],
    terms: int,
    angle: float,
) -> arb:
    """At least ``|J_W|`` at heights between those of two orders, of a window of large losses [9].

    On ``Im x = sigma angle`` powers of ``lambda`` fall with the height; binomials grow with it.
    """
    rho, low = orders[0].real, orders[0].imag
    *each, left = binomials(orders[1], terms)
    fall = (-low * angle).exp()
    total = abs(left) * cells.weighed(window, rho - terms, 0.0)
    for k, binomial in enumerate(each):
        total += abs(binomial) * fall * cells.weighed(window, rho - k, angle)
    return total.upper()


def large_line(
    law: SampledLaw,
    window: Window,
    orders: Sequence[acb],
    terms: int,
    step: float,
    rule: Rule,
    cells: Cells,
) -> list[acb]:
    """``J_W`` at ``rho + i n step``, which are the ``orders``, of a window of large losses [9]."""
    rho, lines = orders[0].real, []
    nodes = law.laid(window, rho, step, rule, lambda log, _: (log, acb(0)))
    inverses = [(-ratio).exp() for ratio in nodes.ratios]
    for k in range(terms):
        power = rho - k
        bounds = cells.weighed(window, power, 0.0), cells.weighed(window, power, rule.angle)
        lines.append(nodes.sums(len(orders) - 1, outside(law, window, power, rule), bounds))
        weights = [a * b for a, b in zip(nodes.weights, inverses, strict=True)]
        nodes = nodes._replace(weights=weights)
    last, found = cells.weighed(window, rho - terms, 0.0), []
    for order, *values in zip(orders, *lines, strict=True):
        *each, left = binomials(order, terms)
        total = sum((a * b for a, b in zip(each, values, strict=True)), acb(0))
        found.append(total + left_out(left, last))
    return found
