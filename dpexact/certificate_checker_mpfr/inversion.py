r"""Delta of sampled Gaussians, with Gaussians and responses beside them, by Poisson's summation.

``L`` is the loss, a sum over the steps, finite with probability ``m`` under both laws; ``M(s) =
E_P[e^{sL}; L < inf]``, ``d(e) = E_P[(1 - e^{e-L})_+; L < inf]`` and ``delta = 1 - m + d``. The
transform of ``e^{ce} d(e)`` is ``M(s)/(s(s+1))``; summed over ``s_n = c + inh``, ``x = 2 pi/h``

.. math:: \frac{h}{\pi} \Re {\sum_{n \ge 0}}' \frac{e^{-s_n e} M(s_n)}{s_n (s_n + 1)}
          = d(e) + \sum_{m \ne 0} e^{cxm} d(e + xm),

the prime halving the first term. Everything on the right but ``d(e)`` is known or bounded here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import gmpy2

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid, Unreadable
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval, Rectangle
from dpexact.certificate_checker_mpfr.cells import Cell
from dpexact.certificate_checker_mpfr.interpolation import Row
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule, Waves

PLAN: Final = {"c", "h", "count", "above", "below", "rules"}
CELLS: Final = "cells"
"""A member that need not be there."""
ROLES: Final = ("line", "moment", "tail", "above", "below")
BOUNDED: Final = "no larger loss"
MAX_COUNT: Final = 100_000
MAX_CELLS: Final = 1_000
_OWN_BITS: Final = 64
_PER_FACTOR: Final = 100
_OF_SAMPLES: Final = frozenset(("poisson", "group", "replace", "truncated_poisson"))
_SHIFTED: Final = _OF_SAMPLES | {"gaussian_mixture"}
"""Steps that are mixtures of normal laws."""
_LAPLACE: Final = frozenset(("laplace", "truncated_laplace"))
_FINITE: Final = frozenset(
    ("staircase", "discrete_laplace", "randomized_response", "truncated_discrete_gaussian")
)
_BESIDE: Final = frozenset(("gaussian", "gdp", "approx_dp", "pure_dp")) | _LAPLACE | _FINITE
"""Those that may stand beside them, each the mirror image of itself."""


Coin = list[tuple[Interval, Mixtures]]
"""What may run in a step, with its probability; everybody sees which."""


@dataclass
class Law:
    """Masses at losses, and a density ``level e^(z/2)`` between ``-width`` and ``width``.

    The loss has this law under ``P``, and its negative under ``Q``.
    """

    atoms: list[tuple[Interval, Interval]]
    lost: Interval
    density: tuple[Interval, Interval] | None = None

    def moment(self, b: Fraction) -> Interval:
        """``E e^{bL}`` of finite losses."""
        a = self.lost.a
        total, sigma = a.exact(0), abs(b + Fraction(1, 2))
        for mass, loss in self.atoms:
            total = total + mass * (loss * a.exact(b)).exp()
        if self.density is None:
            return total
        level, width = self.density
        if sigma == 0:
            return total + level * width * 2
        x = width * a.exact(sigma)
        return total + level * (x.exp() - (-x).exp()) / a.exact(sigma)

    def line(self, c: Fraction, heights: list[Interval]) -> list[Rectangle]:
        """Likewise at ``c + iu``, ``c > 0``, for every height ``u``."""
        a = self.lost.a
        scaled = [(mass * (loss * a.exact(c)).exp(), loss) for mass, loss in self.atoms]
        found = []
        for u in heights:
            total = Rectangle(a.exact(0), a.exact(0))
            for mass, loss in scaled:
                total = total + (loss * u).turn().scaled(mass)
            if self.density is not None:
                level, width = self.density
                x, turn = width * a.exact(c + Fraction(1, 2)), (width * u).turn()
                ends = turn.scaled(x.exp()) + turn.conjugate().scaled(-(-x).exp())
                sigma = Rectangle(a.exact(c + Fraction(1, 2)), u)
                total = total + (ends * sigma.inverse()).scaled(level)
            found.append(total)
        return found


@dataclass
class Parts:
    """The steps of a composition: samples, the sum of squares of Gaussians, other laws, cells."""

    samples: list[tuple[Coin, int]]
    square: Interval
    laws: list[tuple[Law, int]]
    cells: list[Cell] = field(default_factory=list)


def has_route(steps: standard.Steps) -> bool:
    """Whether these are several steps, sampled Gaussians among them, that are treated here."""
    trees = [json.loads(step) for step in steps]
    names = {tree[0] for tree in trees}
    samples = [tree[1] if tree[0] in ("group", "replace") else tree for tree in trees]
    samples = [s for s, t in zip(samples, trees, strict=True) if t[0] in _OF_SAMPLES]
    return (
        bool(names & (_SHIFTED | {"gaussian", "gdp"}))
        and (sum(steps.values()) > 1 or not names <= {"poisson", "truncated_poisson"})
        and all(
            s[0] in ("poisson", "truncated_poisson") and s[1][0] in ("gaussian", "gdp")
            for s in samples
        )
        and names <= _SHIFTED | _BESIDE
    )


def _coin(step: str, a: Arithmetic) -> Coin:
    """The mixtures of a step: one, or two where batches may be cut."""
    own, coin = standard.Arithmetic(a.bits + _OWN_BITS), []
    sides = standard.sides_of(json.loads(step), own) or [(own.exact(1), {step: 1})]
    for chance, run in sides:
        found = [standard.waves_of(json.loads(part), own, whole=True) for part in run]
        if len(found) != 1 or found[0] is None:
            raise Invalid("a step that is no mixture of normal laws")
        right, left = (
            [(a.between(x.lo, x.hi), a.between(w.lo, w.hi)) for x, w in waves] for waves in found[0]
        )
        if any(w.hi <= 0 for _, w in right[-1:]):
            raise Invalid("a sample of no records")
        mixtures = Mixtures(Waves(right, a), Waves(left, a), a)
        coin.append((a.between(chance.lo, chance.hi), mixtures))
    return coin


def rows_of(steps: standard.Steps) -> dict[str, Row]:
    """The steps that cells take, which are sampled Gaussians of rational numbers."""
    found = {}
    for step, count in steps.items():
        tree = json.loads(step)
        if tree[0] != "poisson" or any(isinstance(x, list) for x in (*tree[1], tree[2])):
            continue
        (name, *numbers), q = tree[1], gmpy2.mpq(tree[2])
        one, *other = map(gmpy2.mpq, numbers)
        if name in ("gaussian", "gdp") and one > 0 and q > 0:
            v = 1 / one**2 if name == "gdp" else (one / other[0]) ** 2
            found[step] = Row.of(q, v, count)
    return found


def parts_of(
    steps: standard.Steps, a: Arithmetic, plan: Any = BOUNDED, rows: dict[str, Row] | None = None
) -> Parts:
    """The parameters of the steps, enclosed, those of ``rows`` in the cells of a plan together."""
    if not has_route(steps):
        raise Invalid("this checker has no route for this mechanism")
    own = standard.Arithmetic(a.bits + _OWN_BITS)
    cells = plan.get(CELLS, []) if isinstance(plan, dict) else []
    if not isinstance(cells, list) or len(cells) > MAX_CELLS:
        raise Unreadable("the cells are not a list, or too many")
    parts = Parts([], a.exact(0), [], [Cell(cell, a) for cell in cells])
    a.spend(len(steps) * sum(1 + len(cell.tails) for cell in parts.cells) // 4)
    for step, count in steps.items():
        if rows and step in rows and any(cell.take(rows[step]) for cell in parts.cells):
            continue
        tree = json.loads(step)
        name = tree[0]
        if name in _SHIFTED:
            parts.samples.append((_coin(step, a), count))
            continue
        _, _, found = standard.parameters(tree, own)
        values = [a.between(value.lo, value.hi) for value in found]
        if name not in ("gaussian", "gdp"):
            parts.laws.append((_law(tree, values, a), count))
            continue
        sigma = a.exact(1) / values[0] if name == "gdp" else values[0] / values[1]
        parts.square = parts.square + a.exact(count) / (sigma * sigma)
    if not all(cell.is_filled for cell in parts.cells):
        raise Invalid("a cell without steps")
    return parts


def _law(tree: Any, values: list[Interval], a: Arithmetic) -> Law:
    name, own = tree[0], standard.Arithmetic(a.bits + _OWN_BITS)
    if name in ("approx_dp", "pure_dp"):
        loss, lost = values[0], values[1] if name == "approx_dp" else a.exact(0)
        low = (a.exact(1) - lost) / (loss.exp() + 1)
        return Law([(low * loss.exp(), loss), (low, -loss)], lost)
    if name in _LAPLACE:
        width, ends, kept = (a.between(x.lo, x.hi) for x in standard.laplace_law(tree, own))
        if not width.lo > 0:
            raise Invalid("a Laplace step without a certain finite loss")
        up, down = (width / 2).exp(), (-width / 2).exp()
        level = kept / ((ends * (up + down) + up - down) * 2)
        atoms = [(level * ends * 2 * up, width), (level * ends * 2 * down, -width)]
        return Law(atoms, a.exact(1) - kept, (level, width))
    found = standard.outcomes_of(tree, own)
    lost = a.between(found.infinite.lo, found.infinite.hi)
    rows = [(p, q) for p, q in zip(found.p, found.q, strict=True) if p.hi > 0]
    both = [(a.between(p.lo, p.hi), a.between(q.lo, q.hi)) for p, q in rows]
    return Law([(p, p.log() - q.log()) for p, q in both], lost)


class Inversion:
    """Delta in one direction, by the plan of a certificate."""

    def __init__(self, parts: Parts, way: str, plan: Any, a: Arithmetic) -> None:
        self.parts, self.remove, self.a = parts, way == "remove", a
        finite = a.exact(1)
        for law, count in parts.laws:
            if law.lost.hi > 0:
                finite = finite * (a.exact(1) - law.lost).power(count)
        self.finite = finite
        self.bounded = plan == BOUNDED
        if not self.bounded:
            self._read(plan)
            self._prepare()

    def _read(self, plan: Any) -> None:
        named = isinstance(plan, dict) and set(plan) - {CELLS} == PLAN
        if not named or not isinstance(plan["rules"], list):
            raise Unreadable(f"a plan does not have the members {', '.join(sorted(PLAN))}")
        numbers = [standard.rational(plan[name]) for name in ("c", "h", "above", "below")]
        self.c, self.h, self.order_above, self.order_below = numbers
        if not (self.c > 0 and self.h > 0 and self.order_above > self.c and self.order_below > 0):
            raise Invalid("a plan whose line, spacing or orders are out of their ranges")
        if self.order_below == 1:
            raise Invalid("a plan of order 1 below")
        self.count = standard.natural(plan["count"], 1, MAX_COUNT)
        mixtures = [sample for coin, _ in self.parts.samples for _, sample in coin]
        if len(plan["rules"]) != len(mixtures):
            raise Invalid("a plan without rules for every sampled step")
        self.rules: dict[int, dict[str, Rule]] = {}
        for sample, rules in zip(mixtures, plan["rules"], strict=True):
            if not isinstance(rules, dict) or set(rules) != set(ROLES):
                raise Unreadable(f"rules are not those of {', '.join(ROLES)}")
            self.rules[id(sample)] = {role: Rule.read(rules[role]) for role in ROLES}

    def _real(self, b: Fraction, role: str, reverse: bool = False) -> Interval:
        """An upper bound on ``M(b)``, or on that of the reverse, in ``hi``."""

        def sampled(sample: Mixtures) -> Interval:
            return sample.size(kappa, self.rules[id(sample)][role], zero, None)

        kappa, zero = self._exponent(b, reverse), self.a.exact(0)
        total = self._product(b, sampled)
        for cell in self.parts.cells:
            total = total * cell.moments(kappa, role)
        return total

    def _exponent(self, b: Fraction, reverse: bool = False) -> Interval:
        """``kappa`` with ``M(b) = J(kappa)``: the reverse of a direction is the other one."""
        return self.a.exact(1 + b if self.remove != reverse else -b)

    def _product(self, b: Fraction, sampled: Callable[[Mixtures], Interval]) -> Interval:
        total = (self.parts.square * self.a.exact(b * (b + 1) / 2)).exp()
        for law, count in self.parts.laws:
            total = total * law.moment(b).power(count)
        for coin, count in self.parts.samples:  # a coin that is seen averages moments
            mean = self.a.exact(0)
            for chance, sample in coin:
                mean = mean + chance * sampled(sample)
            total = total * mean.power(count)
        return total

    def _prepare(self) -> None:
        """What does not depend on epsilon: the summands, and the moments in the error bounds."""
        a, kappa = self.a, self._exponent(self.c)
        moments = {
            id(sample): sample.size(kappa, self.rules[id(sample)]["moment"], a.exact(0), None)
            for coin, _ in self.parts.samples
            for _, sample in coin
        }
        beyond = a.exact((self.count + 1) * self.h)

        def decayed(sample: Mixtures) -> Interval:
            rule = self.rules[id(sample)]["tail"]
            return sample.size(kappa, rule, beyond, moments[id(sample)])

        gauss = (-(self.parts.square * beyond * beyond / 2)).exp()
        self.decayed = self._product(self.c, decayed) * gauss
        for cell in self.parts.cells:
            self.decayed = self.decayed * cell.size(kappa, beyond)
        self.above = self._real(self.order_above, "above")
        if self.order_below < 1:
            self.below = self._real(-self.order_below, "below")
        else:
            self.below = self._real(self.order_below - 1, "below", reverse=True)
        self.summands = self._summands(moments)

    def _summands(self, moments: dict[int, Interval]) -> list[Rectangle]:
        """``M(s_n)/(s_n(s_n + 1))``, the first one halved."""
        a, c = self.a, self.a.exact(self.c)
        factors = 3 + len(self.rules) + sum(2 + len(law.atoms) for law, _ in self.parts.laws)
        a.spend(_PER_FACTOR * factors * (self.count + 1))
        heights = [a.exact(n * self.h) for n in range(self.count + 1)]
        values = []
        for u in heights:  # e^{s(s+1) mu^2/2}/(s(s+1))
            s = Rectangle(c, u)
            kernel = s * Rectangle(c + 1, u)
            angle = (self.parts.square * kernel.imag / 2).turn()
            value = angle.scaled((self.parts.square * kernel.real / 2).exp())
            values.append(value * kernel.inverse())
        values[0] = values[0].scaled(a.exact(1) / 2)
        for law, count in self.parts.laws:
            line = law.line(self.c, heights)
            values = [value * moment**count for value, moment in zip(values, line, strict=True)]
        kappa = self._exponent(self.c)
        for coin, count in self.parts.samples:
            means = [Rectangle(a.exact(0), a.exact(0))] * len(values)
            for chance, sample in coin:
                rule, size = self.rules[id(sample)]["line"], moments[id(sample)]
                line = sample.line(kappa, rule, self.h, self.count, size)
                means = [m + found.scaled(chance) for m, found in zip(means, line, strict=True)]
            for n, found in enumerate(means):
                # J(-c - iu) is the conjugate of J(-c + iu)
                values[n] = values[n] * (found if self.remove else found.conjugate()) ** count
        for cell in self.parts.cells:
            line = cell.line(kappa, self.h, self.count)
            line = line if self.remove else [found.conjugate() for found in line]
            values = [value * found for value, found in zip(values, line, strict=True)]
        return values

    def delta(self, epsilon: Interval) -> Interval:
        """``delta(epsilon)``, enclosed."""
        infinite = self.a.exact(1) - self.finite
        if not self.bounded:
            return infinite + self._finite_part(epsilon)
        # A is at least the weight of no shift, so that the loss of an added record is bounded
        largest = self.a.exact(0)
        for coin, count in self.parts.samples:
            if any(len(sample.left) for _, sample in coin):
                raise Invalid("a step whose losses are not bounded")
            largest = largest - coin[0][1].right.still.log() * count
        for law, count in self.parts.laws:
            largest = largest + _largest(law) * count
        if self.remove or self.parts.square.hi > 0 or not largest.hi <= epsilon.lo:
            raise Invalid("the losses are not certainly below epsilon")
        return infinite

    def _finite_part(self, epsilon: Interval) -> Interval:
        """``d``: the sum, less what is known of the other terms, up to what is not."""
        a, c, h = self.a, self.a.exact(self.c), self.a.exact(self.h)
        weight = (-(c * epsilon)).exp()
        total = a.exact(0)
        for n, value in enumerate(self.summands):
            total = total + (value * (-(epsilon * (h * n))).turn()).real
        total = total * weight * h / a.pi()
        # beyond the last node: (h/pi) e^{-ce} sup|M| sum_{n > N} (nh)^-2, the sum below 1/(N h^2)
        tail = weight * self.decayed / (a.pi() * h * self.count)
        period = a.pi() * 2 / h
        # d(e) <= K(b) M(b) e^{-be}, as (1 - e^-y)_+ <= K(b) e^{by}; a geometric series in m > 0
        b = a.exact(self.order_above)
        above = _most(b) * self.above * (-(b * epsilon)).exp()
        above = above / ((b - c) * period).increasing("expm1")
        order = a.exact(self.order_below)
        bound = self.below * (order * epsilon).exp()
        bound = bound / ((order + c) * period).increasing("expm1")
        known = self.finite / (c * period).increasing("expm1")
        if self.order_below < 1:
            # m < 0: d(e) = m - w(e), w(e) = E[min(1, e^{e-L})] <= e^{ae} M(-a) for 0 < a < 1
            below = -bound.up_to()
        else:
            # d(e) = m - m e^e + E[(e^{e-L} - 1)_+], at most K(b) M~(b) e^{(1+b)e}, order = 1 + b
            below = (_most(order - 1) * bound).up_to()
            known = known - self.finite * epsilon.exp() / ((c + 1) * period).increasing("expm1")
        symmetric = tail.up_to() - tail.up_to()
        return total - known + symmetric - above.up_to() - below


def _largest(law: Law) -> Interval:
    """A density ends at an atom."""
    losses = [loss for _, loss in law.atoms]
    return Interval(max(x.lo for x in losses), max(x.hi for x in losses), law.lost.a)


def _most(b: Interval) -> Interval:
    """``K(b) = b^b/(1+b)^{1+b}``, the maximum of ``(1 - e^-y) e^{-by}``."""
    return (b * b.log() - (b + 1) * (b + 1).log()).exp()
