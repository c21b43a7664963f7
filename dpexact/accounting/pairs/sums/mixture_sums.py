"""Certified trapezoidal sums for one mixture step.

With ``phi`` the standard normal density, ``A``, ``B`` as in ``mixture_rules.py`` and ``f_s = phi
A^{1+s} B^{-s}``, the moment is ``M(s) = Int f_s``. Where ``Im z > 0`` times the largest rate is
below pi, the argument of ``A / B`` is in ``[0, 2 pi)``, so on a line above the axis
``|f_{c+iu}|`` decreases in ``u``: one rule serves every ``u >= 0``.

Proofs are in ``docs/theory/contour.md``; the numbers in brackets refer to its sections.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import acb, arb, arb_mat

from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.shifts import Side
from dpexact.accounting.pairs.sums.mixture_rules import BLOCK, MOST_NODES, Rule
from dpexact.accounting.pairs.sums.power_sums import line_sums
from dpexact.balls import UNIT, ball
from dpexact.reals import Real

# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_oblique(shift: arb, top: arb, spacing: arb, growth: arb) -> arb:
    """Trapezoidal error on the line ``Im z = shift`` over ``M(c)``, for all ``Im s >= 0`` [3].

    ``1/(e^{2 pi a/t} - 1) + e^{y^2/2} g / (e^{2 pi (y - a)/t} - 1)``, with ``a`` the shift, ``t``
    the spacing, ``y`` the top of the strip and ``g`` the ``growth`` up to there.
    """
    rate = 2 * arb.pi() / spacing
    below = 1 / (rate * shift).expm1()
    above = growth * (top * top / 2).exp() / (rate * (top - shift)).expm1()
    return below + above


def strip_positive(shift: arb, half_width: arb, spacing: arb, growth: arb) -> arb:
    """Trapezoidal error for the modulus of the shifted integrand over ``M(c)``, ``u >= 0`` [4].

    ``2 e^{(a^2 + y^2)/2} g / (e^{2 pi y/t} - 1)``, with ``g`` the ``growth`` up to ``a + y``.
    """
    lift = ((shift * shift + half_width * half_width) / 2).exp()
    return 2 * growth * lift / (2 * arb.pi() * half_width / spacing).expm1()


def geometric_tail(edge_term: arb, slope: arb, spacing: arb) -> arb:
    """Sum of the terms beyond the last one kept; their logarithm falls by ``slope`` or more [5]."""
    return edge_term / (slope * spacing).expm1()


class Integrand:
    """``f_s`` for ``Re s = c > -1``, with its parameters as balls at the current precision.

    ``A(z)`` are the waves of the shifts ``up``, and ``B(z)`` those of ``down`` at ``-z``.
    """

    def __init__(self, up: Side, down: Side, c: float | Real) -> None:
        self.has_up, self.has_down = up.moves, down.moves
        self.up, self.down, self.c = up.waves(), down.waves(), ball(c)
        # of balls; below, a small |A| would hurt, of which no bound knows
        if not self.c > -1:
            raise ValueError(f"the order {self.c} is not above -1: ask the reverse")
        #: ``max(c, 0)``: the power to which a small ``|B|`` can hurt.
        self.power = arb.max(self.c, arb(0))
        #: Whether ``height`` certainly is.
        self.is_convex: bool = not down.moves or bool(self.c <= 0)
        self.is_concave: bool = not up.moves and bool(self.c >= 0)
        self.strip = arb.min(self.up.strip, self.down.strip)
        self.rising = arb.min(self.up.rising, self.down.rising)

    def growth(self, height: arb, moment: arb | None = None) -> arb:
        """A bound on the integral of ``|f|`` on ``Im z = height`` over ``e^{height^2/2} M(c)`` [3].

        By the cosine; next to a known ``moment`` by the weight of no shift, too.
        """
        turned = (-self.power * self.down.cosine(height).log()).exp()
        most = self.most(height)
        if moment is None or not (most.is_finite() and moment > 0):
            return turned
        return arb.min(turned, most / moment.lower())

    def most(self, height: arb) -> arb:
        """``|f|`` is at most that times ``e^{height^2/2} phi`` up to there; it may be infinite [3].

        No wave of ``B`` turns by more than a right angle, so that its real part is at least the
        weight of no shift.
        """
        near = self.is_concave and self.down.largest * height <= arb.pi() / 2
        return self.down.still**-self.power if near and self.down.still > 0 else arb("inf")

    def height(self, x: arb) -> arb:
        """``log A^{c+1} B^{-c}`` at a real point."""
        up = (self.c + 1) * self.up.at(x).log()
        return up - self.c * self.down.at(-x).log() if self.has_down else up

    def at(self, x: arb) -> arb:
        """``e^{-x^2/2} A^{c+1} B^{-c}`` at a real point."""
        return (self.height(x) - x * x / 2).exp()

    def logarithms(self, rule: Rule) -> Iterator[tuple[arb, acb, acb]]:
        """``(x, log A(z), log B(z))`` at the nodes ``z = x + i shift``."""
        shift = arb(rule.shift)
        up, down = self.up.turned(shift), self.down.turned(-shift)
        spacing = arb(rule.spacing)
        # proposes: the nodes; `outside` bounds all others
        for j in range(rule.first, rule.last + 1):
            x = j * spacing
            yield x, up(x), down(-x)

    def chord_bound(self, u: arb, v: arb) -> arb:
        """A bound on ``at`` between two real points where ``height`` is convex.

        It lies below its chord, and the logarithm of ``at`` below a parabola [5].
        Proposes: the points; balls decide between the cases, and the last bounds every block.
        """
        low, high = self.height(u), self.height(v)
        slope = (high - low) / (v - u)
        if slope <= u:
            top = low - u * u / 2
        elif slope >= v:
            top = high - v * v / 2
        else:
            top = low - slope * u + slope * slope / 2
        return top.exp()

    def outside(self, rule: Rule) -> arb:
        """Bound on the sum of ``|f| sqrt(2 pi)`` over the nodes that the rule leaves out [5]."""
        spacing, shift = arb(rule.spacing), arb(rule.shift)
        left, right = rule.first * spacing, rule.last * spacing
        # of a small power the slope at the end holds beyond it
        is_slight = (self.c + 1) * self.up.spread * self.up.spread <= 4
        pull = (self.c + 1) * (self.up.slope(right) if is_slight else self.up.largest)
        pull += self.power * self.down.slope(-right)
        rise, slope = -left, right - pull
        rise -= (self.power - self.c) * self.down.largest
        if self.is_concave:  # the slope at the end holds beyond it
            rise += self.c * self.down.slope(-left)
        # proposes: the ends of the rule; balls decide whether the tails fall there
        if not (rise > 0 and slope > 0):
            raise TooExpensive("the rule is cut inside the bulk of the integrand")
        found = self.growth(shift) * (
            geometric_tail(self.at(left), rise, spacing)
            + geometric_tail(self.at(right), slope, spacing)
        )
        most = self.most(shift)
        # proposes: the ends; balls decide whether both tails fall there
        if most.is_finite() and left < 0 < right:
            near = geometric_tail(self.turned(left, shift), -left, spacing)
            near += geometric_tail(most * (-right * right / 2).exp(), right, spacing)
            found = arb.min(found, near)
        return (shift * shift / 2).exp() * found

    def turned(self, x: arb, height: arb) -> arb:
        """At least ``|f|`` up there, over ``e^{height^2/2}``, where ``most`` is finite [5]."""
        still, cosine = self.down.still, (self.down.largest * height).cos()
        real = still + cosine * (self.down.at(-x) - still)
        return (-x * x / 2 - self.power * real.log()).exp()


def positive_sum(
    f: Integrand, rule: Rule, u: float, moment: arb | None = None
) -> tuple[arb, arb, arb]:
    """``(sum, tail, strip)`` for ``Int |f_{c+iu'}(x + i shift)| dx``, ``u' >= u``.

    The integral at ``u`` is at least ``sum - strip M(c)`` and at most ``sum + tail + strip M(c)``;
    the upper bound holds for every ``u' >= u`` because each term and the integral decrease.
    """
    edge, shift = arb(rule.edge), arb(rule.shift)
    reach = edge + shift
    # proposes: the rule, whose floats mean their exact values; balls decide the strip
    inside = rule.shift == 0 or rule.edge <= rule.shift or reach < f.rising
    # proposes: likewise
    if not (inside and reach < f.strip and u >= 0):
        raise ValueError(f"the strip of {rule} is not admissible")
    height, lift = arb(u), shift * shift / 2
    terms = []
    for x, log_a, log_b in f.logarithms(rule):
        power = lift - x * x / 2 + (f.c + 1) * log_a.real - f.c * log_b.real
        terms.append((power - height * (log_a.imag - log_b.imag)).exp())
    strip = strip_positive(shift, edge, arb(rule.spacing), f.growth(reach, moment))
    return _integral(rule, _sum(terms)), _integral(rule, f.outside(rule)), strip


def real_moment(f: Integrand, rule: Rule) -> arb:
    """``M(c)`` for real ``c > -1``, enclosed on both sides."""
    edge = arb(rule.edge)
    # proposes: the rule, whose floats mean their exact values; balls decide the strip
    if not edge < f.strip:
        raise ValueError(f"the strip of {rule} is not admissible")
    strip, off = (
        strip_positive(arb(0), edge, arb(rule.spacing), growth)
        for growth in (f.growth(edge), f.most(edge))
    )
    total, tail = real_sum(f, rule), f.outside(rule)
    least, most = _integral(rule, total), _integral(rule, total + tail)
    # proposes: which bound; both are proved
    if off < strip * least:
        return least.union(most) + arb(0, off.upper())
    if not strip < 1:
        raise TooExpensive("the trapezoidal rule is too coarse")
    return (least / (1 + strip)).union(most / (1 - strip))


def real_sum(f: Integrand, rule: Rule) -> arb:
    """The nodes of a rule on the real line; where they are light, a bound on them instead [5]."""
    spacing = arb(rule.spacing)
    peak = (f.c + 1) * f.up.largest if f.has_up else f.c * f.down.largest
    light = arb.max(f.at(arb(0)), f.at(peak)) * (-arb(rule.depth)).exp()
    terms: list[arb] = []
    blocks = [(rule.first, rule.last)]
    # proposes: the nodes; `outside` bounds all others
    while blocks:
        first, last = blocks.pop()
        size = last - first + 1
        # proposes: what is summed and what bounded
        whole = size <= BLOCK or not f.is_convex
        # proposes: what is light; a block is summed or bounded, or there is no answer
        if len(terms) + (size if whole else 1) > MOST_NODES:
            raise TooExpensive(f"more than {MOST_NODES} nodes")
        # proposes: likewise
        if whole:
            # proposes: likewise
            terms += [f.at(j * spacing) for j in range(first, last + 1)]
            continue
        bound = size * f.chord_bound(first * spacing, last * spacing)
        # proposes: likewise
        if bound < light:
            terms.append(bound.abs_upper() * UNIT)
        else:
            middle = (first + last) // 2
            blocks += [(middle + 1, last), (first, middle)]
    return _sum(terms)


def oblique_moments(f: Integrand, rule: Rule, moment: arb, step: float, count: int) -> list[acb]:
    """``M(c + i n step)`` for ``n = 0 .. count``, as one product of matrices.

    Every node ``j`` has a loss ``l_j`` and adds ``W_j e^{i n step l_j}``. Nodes too light to matter
    go into the error instead: ``|e^{i n step l_j}| <= 1``.
    """
    top, shift = arb(rule.edge), arb(rule.shift)
    # proposes: the rule, whose floats mean their exact values; balls decide the strip
    if not (top < f.strip and 0 < rule.shift < rule.edge):
        raise ValueError(f"the strip of {rule} is not admissible")
    turn, i_step = acb(0, shift), acb(0, arb(step))
    weights: list[acb] = []
    turns: list[acb] = []
    scale, light = _integral(rule, arb(1)), arb(0)
    limit = (moment * (-arb(rule.depth)).exp()).mid()
    for x, log_a, log_b in f.logarithms(rule):
        z = turn + x
        loss = log_a - log_b
        weight = (loss * f.c + log_a - z * z / 2).exp() * scale
        size = weight.abs_upper()
        # proposes: which nodes are light; what they weigh is part of the error
        if size < limit:
            light += size
            continue
        weights.append(weight)
        turns.append((i_step * loss).exp())
    strip = strip_oblique(shift, top, arb(rule.spacing), f.growth(top, moment))
    radius = (scale * f.outside(rule) + light + moment * strip).upper()
    error = acb(arb(0, radius), arb(0, radius))
    return [value + error for value in line_sums(weights, turns, count)]


def _integral(rule: Rule, total: arb) -> arb:
    """What a sum over the nodes, without the factor of ``phi``, stands for: ``t/sqrt(2 pi)`` it."""
    return arb(rule.spacing) / (2 * arb.pi()).sqrt() * total


def _sum(terms: list[arb]) -> arb:
    """The sum of the terms, by one product of matrices in C."""
    total = arb_mat(1, len(terms), terms) * arb_mat(len(terms), 1, [1] * len(terms))
    return total[0, 0]
