"""Moments of an allocation removed, by the Laplace transform left of the imaginary axis.

``S`` is the mean of ``t`` independent ``Y = exp(aX - a^2/2)``, ``X`` normal, ``phi(z) = E e^{-zY}``
and ``psi(u) = phi(u/t)^t``, continued to ``|arg u| <= pi``. For ``Re w > 0`` and ``rho > 0``

    E S^w = (Gamma(w + 1) / 2 pi i) Int_{Re s = rho} s^{-w-1} psi(-s) ds,

but for what the two continuations differ by on the axis: one step that outweighs all others. Where
that is little, no powers of ``S`` are needed. Proofs are in ``docs/theory/allocation.md``, section
7; the numbers in brackets refer to its propositions.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from flint import acb, acb_mat, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.allocation_rules import Shape, Strip, log_gamma
from dpexact.accounting.pairs.sums.allocation_sums import Law, inner_tails, raised, strip_aliases
from dpexact.accounting.pairs.sums.power_sums import line_sums
from dpexact.balls import normal_tail

#: Powers in bounds of ``E e^{zeta Y}``.
_POWERS: Final = 16
#: The inner rule is on ``Im x = -A``; the widest one.
_WIDEST: Final = 4.0
#: Products of nodes, times their bits, that are allowed.
_WORK: Final = 3e9
#: Real parts and cuts that are looked at, over ``Re w`` and ``1 + a``.
_REALS: Final = np.geomspace(1e-4, 20.0, 120)
_CUTS: Final = np.geomspace(1.0, 40.0, 60)
_SHIFTS: Final = np.linspace(0.02, 0.98, 49)


class Rule(NamedTuple):
    """Nodes ``rho + i (n + 1/2) spacing``, ``n < nodes``, and their conjugates.

    Aliases are bounded on ``Re s = low`` and ``high``, the nodes left out by a ``shift``. The inner
    nodes are ``j inner - i lift``, ``first <= j <= last``.
    """

    rho: float
    low: float
    high: float
    spacing: float
    nodes: int
    shift: float
    lift: float
    inner: float
    first: int
    last: int
    far: Strip
    bits: int


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def beyond(a: arb, zeta: arb, cut: arb) -> arb:
    """What ``phi(z)``, ``Re z = -zeta``, has beyond a cut of the line, by a turn there [15]."""
    shift = arb.pi() / (2 * a)
    density = (-cut * cut / 2).exp() / (2 * arb.pi()).sqrt()
    grown = (zeta * (a * cut - a * a / 2).exp()).exp()
    return (shift * shift / 2).exp() * (shift * density * grown + normal_tail(cut))


def before(a: arb, zeta: arb, cut: arb) -> arb:
    """A bound on ``E[e^{zeta Y}; X < cut]`` [15]."""
    total, power = arb(0), arb(1)
    for j in range(_POWERS + 1):
        share = (a * a * (j * (j - 1)) / 2).exp() * normal_tail(j * a - cut)
        # the last one stands for all that follow
        last = (zeta * (a * cut - a * a / 2).exp()).exp() if j == _POWERS else arb(1)
        total += power * share * last
        power = power * zeta / (j + 1)
    return total


def line_aliases(law: Law, w: acb, real: arb, cut: arb, distance: arb, spacing: arb) -> arb:
    """From the line ``Re s = real``, which is ``distance`` away [17]."""
    c, half = w.real, arb(2)
    size = (w + 1).gamma().abs_upper() * c.gamma()
    size /= half**c * ((w + 1) / 2).gamma().abs_lower() ** 2
    zeta = real / law.t
    most = before(law.a, zeta, cut) + beyond(law.a, zeta, cut)
    return size * most**law.t / real**c / (2 * arb.pi() * distance / spacing).expm1()


def jump(law: Law, w: acb, high: arb, cut: arb) -> arb:
    """What the two continuations differ by, on the axis up to ``-high`` [16, 17]."""
    c, zeta = w.real, high / law.t
    room = cut / law.a - c
    # proposes: the cut; a ball decides whether it serves
    if not (c > 0 and cut > 0 and room > 0):
        raise TooExpensive("a cut that is too near")
    rest = beyond(law.a, zeta, cut)
    most = before(law.a, zeta, cut) + rest
    total = law.t * most ** (law.t - 1) * rest / high**c / room
    return 3 / (2 * arb.pi()) * (w + 1).gamma().abs_upper() * total


def outer_tail(w: acb, height: arb, psi: arb) -> arb:
    """Nodes more than a spacing above ``height``, and conjugates, if ``|psi| <= psi`` [17]."""
    grown = (arb.pi() * w.imag / 2).exp() + 1
    c = w.real
    return (w + 1).gamma().abs_upper() * grown * psi / (2 * arb.pi() * c * height**c)


class Left:
    """``E S^{w + i n step}`` by one rule, at the current precision."""

    def __init__(self, law: Law, rule: Rule) -> None:
        self.law, self.rule = law, rule
        self.rho, self.spacing = arb(rule.rho), arb(rule.spacing)
        self.cut = arb(2 * rule.last + 1) / 2 * arb(rule.inner)
        angle = law.a * arb(rule.shift)
        height = rule.nodes * self.spacing + self.spacing / 2
        real = height * angle.sin() - self.rho * angle.cos()
        # proposes: the shift; balls decide whether it is admissible
        if not (angle >= 0 and angle < arb.pi() / 2 and real > 0):
            raise TooExpensive("a shift beyond the axis")
        # proposes: the lines; these numbers are what they are
        if not (0 < rule.low < rule.rho < rule.high and rule.spacing > 0 and rule.nodes > 0):
            raise TooExpensive("lines out of order")
        grown = (law.t * arb(rule.shift) ** 2 / 2).exp()
        self.after = (grown * law.at(real, 0, rule.far)[0]).upper()

    def _psi(self) -> list[acb]:
        """``psi(-s)`` at the conjugates of the nodes: all sums as one product of matrices [15]."""
        law, rule = self.law, self.rule
        a, lift, inner = law.a, arb(rule.lift), arb(rule.inner)
        zeta, reach = self.rho / law.t, -rule.first * inner
        # proposes: the strip; a ball decides whether its bound holds
        if not (4 * a * lift <= arb.pi() and lift > 0 and inner > 0 and reach > 0):
            raise TooExpensive("the strip of an inner rule is too wide")
        grown = (zeta * (-a * reach - a * a / 2).exp()).exp()
        error = before(a, zeta, self.cut) * strip_aliases(lift, lift, inner)
        error += inner_tails(lift, inner, reach) * grown
        error = (error + 2 * beyond(a, zeta, self.cut)).upper()
        scale = inner / (2 * arb.pi()).sqrt()
        masses, shares = [], []
        # proposes: how many nodes; the tails and the cut bound what they miss
        for j in range(rule.first, rule.last + 1):
            x = acb(j * inner, -lift)
            masses.append(scale * (-x * x / 2).exp())
            shares.append(-(a * x - a * a / 2).exp())
        stride = math.isqrt(rule.nodes) + 1
        low, high = [], []
        for n in range(stride):
            z = acb(-self.rho, (n * self.spacing + self.spacing / 2)) / law.t
            low.append([m * (z * y).exp() for m, y in zip(masses, shares, strict=True)])
        for n in range(0, rule.nodes, stride):
            z = acb(0, n * self.spacing) / law.t
            high.append([(z * y).exp() for y in shares])
        sums = (acb_mat(high) * acb_mat(low).transpose()).entries()[: rule.nodes]
        wide = acb(arb(0, error), arb(0, error))
        return [raised(total + wide, law.t) for total in sums]

    def line(self, c: arb, step: arb, count: int) -> list[acb]:
        """``E S^{c + i n step}``, ``n = 0 .. count``."""
        rule, law = self.rule, self.law
        weights, turns = [], []
        quarter = (-arb.pi() / 2 * step).exp()
        for n, psi in enumerate(self._psi()):
            s = acb(self.rho, n * self.spacing + self.spacing / 2)
            log = s.log()
            weight = (-(c + 1) * log).exp() * psi.conjugate()
            turn = (acb(0, -step) * log).exp()
            weights += [weight, weight.conjugate()]
            turns += [turn * quarter, (acb(0, -step) * log.conjugate()).exp() * quarter]
        found = []
        height = (rule.nodes * self.spacing) - self.spacing / 2
        for n, total in enumerate(line_sums(weights, turns, count)):
            w = acb(c, n * step)
            value = total * (w + 1).gamma() * (arb.pi() / 2 * w.imag).exp()
            value *= self.spacing / (2 * arb.pi())
            error = jump(law, w, arb(rule.high), self.cut) + outer_tail(w, height, self.after)
            for real in arb(rule.low), arb(rule.high):
                away = abs(real - self.rho)
                error += line_aliases(law, w, real, self.cut, away, self.spacing)
            wide = arb(0, error.upper())
            found.append(value + acb(wide, wide))
        return found


# --- proposals ------------------------------------------------------------------------------------


def planned(shape: Shape, c: float, height: float, accuracy: float, most: float) -> Rule:
    """A rule of at most so many nodes, whose errors are about ``e^-accuracy`` of the moment.

    Proposes: rules; the error terms bound what any rule leaves out.
    """
    a, t, log_moment = shape.a, shape.t, shape.moment(c).value
    target = log_moment - accuracy - 3
    reals = _REALS * c
    cuts, jumps, size = _sizes(shape, c, target)
    top = size + math.lgamma(c) + math.log(c + height + 1) / 2
    # both aliases by the line that asks for the shortest period
    apart = reals - reals[:, None]
    with np.errstate(all="ignore"):
        periods = (top - target) / abs(apart)
    periods[~np.isfinite(periods)] = np.inf
    lows = np.where(apart < 0, periods, np.inf)
    highs = np.where((apart > 0) & (jumps + size + math.lgamma(c + 1) < target), periods, np.inf)
    least = np.maximum(lows.min(axis=1), highs.min(axis=1)).clip(1e-9)
    exact = (top - log_moment).clip(0) + accuracy
    i = int(np.argmin(least * np.sqrt(exact) * (exact + 64)))
    if not math.isfinite(float(least[i])):
        raise TooExpensive("one step may outweigh all others")
    low, high = int(np.argmin(lows[i])), int(np.argmin(highs[i]))
    rho, spacing = float(reals[i]), 2 * math.pi / float(least[i])
    gammas = max(log_gamma(c + 1, y) + math.pi * y / 2 for y in (0.0, height)) - math.log(c)
    count = 4
    while True:
        v = (count + 0.5) * spacing
        shifts = _SHIFTS * min(1.55, 4 * v * a * a / t + 2 * rho / v) / a
        points = v * np.sin(a * shifts) - rho * np.cos(a * shifts)
        logs = t * shifts**2 / 2 + t * shape.log_phi(np.log(np.maximum(points, 1e-300) / t))
        best = int(np.argmin(logs))
        log = float(logs[best]) + gammas - c * math.log((count - 0.5) * spacing)
        if points[best] > 0 and log < target:
            break
        count = math.ceil(1.1 * count) + 1
        if count > most:
            raise TooExpensive("too many nodes")
    need = float(exact[i]) * (1 + 1 / t) + 2 * math.log(t) + 6
    lift = min(_WIDEST, 0.999 * math.pi / (4 * a))
    inner = 2 * math.pi * lift / (need + 2 * lift * lift + 2)
    inner = math.ldexp(math.floor(math.ldexp(inner, 30)), -30)
    reach = math.sqrt(2 * (need + lift * lift / 2 + 2))
    bits = math.ceil((need + lift * lift / 2) / math.log(2)) + 24
    first, last = -math.ceil(reach / inner), math.ceil(float(cuts[high]) / inner)
    if count * (last - first) * bits > _WORK:
        raise TooExpensive("too many nodes within")
    return Rule(
        rho,
        float(reals[low]),
        float(reals[high]),
        spacing,
        count,
        float(shifts[best]),
        lift,
        inner,
        first,
        last,
        shape.strip(0.0, need, 1),
        bits,
    )


@np.errstate(all="ignore")
def _sizes(shape: Shape, c: float, target: float) -> tuple[Floats, Floats, Floats]:
    """For real parts a cut, ``log`` of what is beyond it, and of ``psi`` over their power ``c``.

    The cut is the first one where what is beyond does not count. Proposes: cuts, as any bounds.
    """
    a, t = shape.a, shape.t
    reals, cuts, shift = _REALS * c, _CUTS * (1 + 0.3 / a), math.pi / (2 * a)
    zetas = reals / t
    grown = zetas[:, None] * np.exp(a * cuts - a * a / 2)
    # about the tail of the normal law, and its density times the length of a turn
    tails = np.logaddexp(math.log(shift) - 1 + grown, 0.0) - cuts**2 / 2
    rest = np.where(cuts > 1.05 * a * c, shift**2 / 2 + tails, np.inf)
    about = reals + (reals * a) ** 2 / t - c * np.log(reals) + math.lgamma(c + 1) + math.log(t)
    enough = rest + about[:, None] < target - 3
    best = np.where(enough.any(axis=1), np.argmax(enough, axis=1), np.argmin(rest, axis=1))
    rest, over, cut = (
        rest[np.arange(len(reals)), best],
        grown[np.arange(len(reals)), best],
        cuts[best],
    )
    j = np.arange(1, _POWERS + 1)
    logs = j * np.log(zetas)[:, None] - [math.lgamma(i + 1) for i in j] + a * a * j * (j - 1) / 2
    logs -= (j * a - cut[:, None]).clip(0) ** 2 / 2
    logs[:, -1] += over
    mean = np.logaddexp(np.logaddexp.reduce(logs, axis=1), rest)
    return cut, rest + math.log(t), t * np.log1p(np.exp(mean)) - c * np.log(reals)
