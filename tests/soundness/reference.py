r"""The referee of the referee: privacy profiles from first principles, in mpmath alone.

Nothing here imports dpexact. A mechanism is its text and a recipe for the pair ``(P, Q)`` of its
output laws; everything that is asked of a pair follows from one function,

.. math:: h(a, b) = \sup_S\, a\,P(S) - b\,Q(S) = \int (a\,dP - b\,dQ)_+ ,

for real ``a`` and ``b``: ``delta(eps) = h(1, e^eps)``; a sample changes ``a`` and ``b`` linearly, a
product with finitely many outcomes is a sum of such values, one with a density an integral.

A value comes with a margin. Half of the bits of the working precision, which :func:`precise` sets,
are given away to rounding: far more than the few thousand operations behind any value here lose.
A quadrature adds the difference between its last two refinements.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

from mpmath import mp, mpf

Estimate = tuple[Any, Any]
"""A value and its margin: the truth is no farther away."""

#: Most outcomes of one law that are written out.
MAX_OUTCOMES = 6000
#: Bits of a quadrature, and where its tails are cut, in standard deviations.
_QUADRATURE_BITS = 150
_CUT = 12
_ZERO = mpf(0)


class NoReference(Exception):
    """No independent answer at a price that a campaign can pay."""


@contextmanager
def precise(bits: int) -> Iterator[None]:
    before = mp.prec
    mp.prec = bits
    try:
        yield
    finally:
        mp.prec = before


def unit() -> Any:
    """The relative margin of a value: half of the bits."""
    return mpf(2) ** (-(mp.prec // 2))


# --- numbers --------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[a-z]+|\d+\.?\d*(?:e[+-]?\d+)?|\^|[-+*/()]")
_NAMES = {"log": mp.log, "exp": mp.exp, "sqrt": mp.sqrt}


def number(text: str) -> Any:
    """The value of an expression over decimals in ``+ - * / ^ log exp sqrt pi``."""
    words: list[str] = []
    constants: list[Any] = []
    for word in _TOKEN.findall(text.replace(" ", "")):
        if word[0].isdigit():
            power = words and words[-1] == "**"
            constants.append(int(word) if power else mpf(word))
            word = f"c[{len(constants) - 1}]"
        words.append("**" if word == "^" else word)
    # the texts are those of the campaign's own generators
    return mpf(eval("".join(words), {"__builtins__": {}}, {**_NAMES, "pi": +mp.pi, "c": constants}))


# --- pairs ----------------------------------------------------------------------------------------


class Pair(ABC):
    """Two laws; ``lost`` is the mass of P where Q has none, ``ghost`` of Q where P has none."""

    lost: Any
    ghost: Any

    @abstractmethod
    def swapped(self) -> Pair:
        """``(Q, P)``."""

    @abstractmethod
    def core(self, a: Any, b: Any) -> Estimate:
        """``h(a, b)`` for ``a, b > 0`` on the outcomes that both laws have."""

    def excess(self, a: Any, b: Any) -> Estimate:
        """``h(a, b)`` on the outcomes that both laws have."""
        if a <= 0 <= b:
            return mpf(0), mpf(0)
        if b <= 0 <= a:
            value = a * (1 - self.lost) - b * (1 - self.ghost)
            return value, value * unit()
        return self.core(a, b) if a > 0 else self.swapped().core(-b, -a)

    def delta(self, growth: Any) -> Estimate:
        """``delta`` at ``e^eps = growth``."""
        value, margin = self.excess(mpf(1), growth)
        return self.lost + value, margin + self.lost * unit()

    @property
    def unbounded(self) -> bool:
        """Whether finite losses have no largest."""
        return False

    @abstractmethod
    def renyi(self, order: Any) -> Estimate:
        """The Renyi divergence of a finite order or ``inf``."""


@dataclass(eq=False)
class Outcomes(Pair):
    """Finitely many outcomes; ``slack`` is the mass of either law that is left out."""

    atoms: list[tuple[Any, Any]]
    lost: Any = _ZERO
    ghost: Any = _ZERO
    slack: Any = _ZERO

    def swapped(self) -> Outcomes:
        atoms = [(q, p) for p, q in self.atoms]
        return Outcomes(atoms, self.ghost, self.lost, self.slack)

    @property
    def unbounded(self) -> bool:
        return self.slack > 0

    @cached_property
    def falling(self) -> list[tuple[Any, Any]]:
        """By falling ratio."""
        return sorted(self.atoms, key=lambda atom: atom[0] / atom[1], reverse=True)

    @cached_property
    def sums(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Rising ``q/p`` of the outcomes by falling ratio, and the masses up to each."""
        places = [q / p for p, q in self.falling]
        ps = list(accumulate((p for p, _ in self.falling), initial=mpf(0)))
        qs = list(accumulate((q for _, q in self.falling), initial=mpf(0)))
        return places, ps, qs

    def core(self, a: Any, b: Any) -> Estimate:
        if "sums" in self.__dict__ or len(self.atoms) > 200:
            places, ps, qs = self.sums
            k = bisect_left(places, a / b)
            value, size = a * ps[k] - b * qs[k], a * ps[k] + b * qs[k]
            if k > 0:
                size += a * (ps[k] - ps[k - 1])
            if k < len(places):
                size += a * (ps[k + 1] - ps[k]) if abs(places[k] * b / a - 1) < unit() else 0
            return max(value, mpf(0)), size * unit() + (a + b) * self.slack
        u, value, size = unit(), mpf(0), mpf(0)
        for p, q in self.atoms:
            gain, loss = a * p, b * q
            if gain > loss:
                value += gain - loss
                size += gain
            elif gain > 0 and loss - gain <= loss * u:
                size += gain
        return value, size * u + (a + b) * self.slack

    def renyi(self, order: Any) -> Estimate:
        if self.slack > 0:
            raise NoReference("a tail")
        if self.lost > 0:
            return mp.inf, mpf(0)
        u = unit()
        if order == mp.inf:
            value = max(mp.log(p / q) for p, q in self.atoms)
            return max(value, mpf(0)), u * (1 + abs(value))
        if order == 1:
            parts = [p * mp.log(p / q) for p, q in self.atoms]
            return mp.fsum(parts), u * (1 + mp.fsum(abs(part) for part in parts))
        logs = [mp.log(p / q) for p, q in self.atoms]
        pairs = zip(self.atoms, logs, strict=True)
        moment = mp.fsum(p * mp.exp((order - 1) * log) for (p, _), log in pairs)
        # a logarithm is off by a share of itself
        off = u * (1 + order) / (order - 1) * (1 + max(abs(log) for log in logs))
        return mp.log(moment) / (order - 1), off

    def least_epsilon(self, surplus: Any, known: bool) -> Estimate:
        """The smallest epsilon at ``delta = lost + surplus``; ``known``: no digit of it is lost.

        ``delta(eps) <= t`` says ``P(S) - e^eps Q(S) <= t`` of each of the events that collect the
        outcomes of largest ratio.
        """
        if self.slack > 0:
            raise NoReference("a tail")
        if surplus < 0:
            return mp.inf, mpf(0)
        u = unit()
        best, margin, p, q = mpf(0), mpf(0), mpf(0), mpf(0)
        for more_p, more_q in self.falling:
            p, q = p + more_p, q + more_q
            left = p - surplus
            blur = u * (p + (mpf(0) if known else surplus + self.lost))
            if left <= -blur or (left <= 0 and blur == 0):
                continue
            if left <= 2 * blur:
                if left + blur < q:
                    continue  # it says no more than epsilon >= 0
                raise NoReference("an event as likely as delta")
            value = mp.log(left / q)
            if value > best:
                best, margin = value, 4 * blur / left + u * (1 + abs(value))
            elif best == 0 and value > -8 * blur / left:
                margin = max(margin, 8 * blur / left)
        return best, margin

    def vertices(self) -> list[tuple[Any, Any]]:
        """``(alpha, beta)`` of the most powerful tests, by rising ``alpha``."""
        alpha, beta = mpf(0), 1 - self.lost
        found = [(alpha, beta)]
        for p, q in self.falling:
            alpha, beta = alpha + q, beta - p
            found.append((alpha, max(beta, mpf(0))))
        return [*found, (mpf(1), mpf(0))]


@dataclass(eq=False)
class Normal(Pair):
    """``N(mu, 1)`` against ``N(0, 1)``."""

    mu: Any
    lost = ghost = mpf(0)

    def swapped(self) -> Normal:
        return self

    @property
    def unbounded(self) -> bool:
        return True

    def core(self, a: Any, b: Any) -> Estimate:
        level = mp.log(b / a) / self.mu
        near, far = self.mu / 2 - level, -self.mu / 2 - level
        gain, loss = a * mp.ncdf(near), b * mp.ncdf(far)
        lost_bits = (1 + near * near + far * far) * mpf(2) ** (24 - mp.prec)
        return max(gain - loss, mpf(0)), (gain + loss) * (unit() + lost_bits)

    def cells(self, breaks: Callable[[Any], list[Any]]) -> Iterator[tuple[str, Any]]:
        yield "line", (self.mu, lambda z: (mp.npdf(z, self.mu, 1), mp.npdf(z)))

    def renyi(self, order: Any) -> Estimate:
        if order == mp.inf:
            return mp.inf, mpf(0)
        value = order * self.mu**2 / 2
        return value, value * unit()


@dataclass(eq=False)
class DoubleExponential(Pair):
    """Laplace noise; ``rate`` is the sensitivity over the scale."""

    rate: Any
    lost = ghost = mpf(0)

    def swapped(self) -> DoubleExponential:
        return self

    def core(self, a: Any, b: Any) -> Estimate:
        r, t = self.rate, mp.log(b / a)
        if t >= r:
            return mpf(0), (a + b) * (abs(t) + 1) * unit() if t - r < unit() * (1 + r) else mpf(0)
        if t <= -r:
            return a - b, (a + b) * unit()
        gain, loss = a * (1 - mp.exp((t - r) / 2) / 2), b * mp.exp(-(r + t) / 2) / 2
        return max(gain - loss, mpf(0)), (gain + loss) * unit() * (1 + abs(t))

    def renyi(self, order: Any) -> Estimate:
        r, x = self.rate, order
        if x == mp.inf:
            return r, r * unit()
        if x == 1:
            value = r + mp.expm1(-r)
            return value, unit() * (1 + r)
        grown = x / (2 * x - 1) * mp.exp((x - 1) * r) + (x - 1) / (2 * x - 1) * mp.exp(-x * r)
        return mp.log(grown) / (x - 1), unit() * (1 + x * r) / (x - 1)


@dataclass(eq=False)
class Sample(Pair):
    """``base`` on a Poisson sample of rate ``0 < rate < 1``."""

    base: Pair
    rate: Any
    add: bool

    @property
    def lost(self) -> Any:  # type: ignore[override]
        return mpf(0) if self.add else self.rate * self.base.lost

    @property
    def ghost(self) -> Any:  # type: ignore[override]
        return self.rate * self.base.lost if self.add else mpf(0)

    @property
    def unbounded(self) -> bool:
        return not self.add and self.base.unbounded

    def swapped(self) -> Sample:
        return Sample(self.base, self.rate, not self.add)

    def excess(self, a: Any, b: Any) -> Estimate:
        stay = 1 - self.rate
        if self.add:
            inner, alone = (-b * self.rate, b * stay - a), a - b * stay
        else:
            inner, alone = (a * self.rate, b - a * stay), a * stay - b
        value, margin = self.base.excess(*inner)
        value += self.base.ghost * max(alone, mpf(0))
        return value, margin + (abs(a) + abs(b)) * mpf(2) ** (-(9 * mp.prec) // 10)

    def core(self, a: Any, b: Any) -> Estimate:
        return self.excess(a, b)

    def mixed(self, p: Any, q: Any) -> tuple[Any, Any]:
        mix = self.rate * p + (1 - self.rate) * q
        return (q, mix) if self.add else (mix, q)

    def renyi(self, order: Any) -> Estimate:
        if order == mp.inf:
            if self.add:
                inner = self.base.swapped()
                if not isinstance(inner, Normal | DoubleExponential):
                    raise NoReference("the largest loss of a sample")
                low = mp.exp(-inner.renyi(order)[0]) if not inner.unbounded else mpf(0)
                value = -mp.log(1 - self.rate + self.rate * low)
            else:
                value, _ = self.base.renyi(order)
                value = value if value == mp.inf else mp.log1p(self.rate * mp.expm1(value))
            return value, value * unit() if value < mp.inf else mpf(0)
        if mp.prec > _QUADRATURE_BITS:
            with precise(_QUADRATURE_BITS):
                return self.renyi(order)

        def gain(p: Any, q: Any) -> Any:
            ratio = p / q
            if order == 1:
                return p * mp.log(ratio)
            return q * (ratio**order - 1 - order * (ratio - 1))

        inner = _innermost(self)
        far = (1 + order) * inner.mu if isinstance(inner, Normal) else mpf(0)
        total, margin = integral(self, gain, [], mpf(1), far)
        if order == 1:
            return total, margin + unit()
        if margin > mpf(10) ** -15:
            raise NoReference("an integral that does not converge")
        return mp.log1p(total) / (order - 1), (margin + unit()) / (order - 1)


@dataclass(eq=False)
class Product(Pair):
    """Independent steps: ``first`` is finite, or both have densities."""

    first: Pair
    second: Pair

    @property
    def lost(self) -> Any:  # type: ignore[override]
        return self.first.lost + (1 - self.first.lost) * self.second.lost

    @property
    def ghost(self) -> Any:  # type: ignore[override]
        return self.first.ghost + (1 - self.first.ghost) * self.second.ghost

    @property
    def unbounded(self) -> bool:
        return self.first.unbounded or self.second.unbounded

    def swapped(self) -> Product:
        return Product(self.first.swapped(), self.second.swapped())

    def core(self, a: Any, b: Any) -> Estimate:
        if isinstance(self.first, Outcomes):
            total, margin = mpf(0), (a + b) * self.first.slack
            for p, q in self.first.atoms:
                value, blur = self.second.excess(a * p, b * q)
                total, margin = total + value, margin + blur
            return total, margin + total * unit()
        if mp.prec > _QUADRATURE_BITS:
            with precise(_QUADRATURE_BITS):
                return self.core(a, b)
        kinks = [mp.log(a / b) + k for k in kinks_of(self.second)]
        return integral(self.first, lambda p, q: self.second.excess(a * p, b * q)[0], kinks, a + b)

    def renyi(self, order: Any) -> Estimate:
        one, two = self.first.renyi(order), self.second.renyi(order)
        return one[0] + two[0], one[1] + two[1]


def kinks_of(pair: Pair) -> list[Any]:
    """Losses at which the profile of a pair is not smooth."""
    match pair:
        case Normal():
            return []
        case DoubleExponential():
            return [-pair.rate, pair.rate]
        case Sample():
            inner = kinks_of(pair.base)
            images = [mp.log(pair.rate * mp.exp(k) + 1 - pair.rate) for k in inner]
            images.append(mp.log1p(-pair.rate))  # where the losses of an unbounded base end
            return [-k for k in images] if pair.add else images
    raise NoReference("kinks of a product")


def integral(
    pair: Pair, gain: Callable[[Any, Any], Any], kinks: list[Any], size: Any, far: Any = 0
) -> Estimate:
    """The integral of ``gain(dP, dQ)``, homogeneous, smooth but where ``-loss`` is a kink.

    Normal noise is followed ``far`` beyond where its own mass ends.
    """
    samples = []
    base = pair
    while isinstance(base, Sample):
        samples.append(base)
        base = base.base

    def density(p: Any, q: Any) -> Any:
        for sample in reversed(samples):
            p, q = sample.mixed(p, q)
        return gain(p, q)

    losses = [loss for loss in (_before(samples, -kink) for kink in kinks) if loss is not None]
    if isinstance(base, Normal):
        mu = base.mu
        low, high = -mpf(_CUT) - far, mu + _CUT + far
        places = sorted({z for z in (loss / mu + mu / 2 for loss in losses) if low < z < high})

        def at(z: Any) -> Any:
            return density(mp.npdf(z, mu, 1), mp.npdf(z))

        if places:
            if mu > 3:  # it changes within a fraction of 1, and most beside kinks
                beside = [z + s for z in places for s in (-1, -0.25, 0.25, 1)]
                steps = [low + k for k in range(1, math.ceil(high - low))]
                places += [z for z in beside + steps if low < z < high]
            value, blur = mp.quad(at, [low, *sorted(places), high], error=True, maxdegree=6)
            return value, 100 * blur + size * mpf(10) ** -28
        if high - low > 200:
            raise NoReference("a wide integral")
        coarse = mp.fsum(at(low + i * mpf(1) / 4) for i in range(int(4 * (high - low)) + 1))
        fine = mp.fsum(at(low + i * mpf(1) / 4 + mpf(1) / 8) for i in range(int(4 * (high - low))))
        value = (coarse + fine) / 8
        return value, abs(value - coarse / 4) + size * mpf(10) ** -28
    if not isinstance(base, DoubleExponential):
        raise NoReference("an integral over outcomes")
    r = base.rate
    if r > 60:
        raise NoReference("a wide integral")
    edge = mp.exp(-r) / 2
    inside = sorted({y for y in ((r - loss) / 2 for loss in losses) if 0 < y < r})
    value, blur = mp.quad(
        lambda y: density(mp.exp(-y) / 2, mp.exp(y - r) / 2),
        [0, *inside, r],
        error=True,
        method="gauss-legendre",
    )
    value += density(mpf(1) / 2, edge) + density(edge, mpf(1) / 2)
    return value, 100 * blur + size * mpf(10) ** -28


def _before(samples: list[Sample], loss: Any) -> Any:
    """The loss whose image under sampling is ``loss``; None if there is none."""
    for sample in samples:
        grown = mp.exp(-loss if sample.add else loss) - (1 - sample.rate)
        if grown <= 0:
            return None
        loss = mp.log(grown / sample.rate)
    return loss


# --- mechanisms -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mechanism:
    """The text of a mechanism and the recipe for its pair in direction ``add`` or not.

    ``sampled``: whether the directions differ. ``lost`` is the mass of infinite loss in direction
    ``remove``, where it is known in text.
    """

    text: str
    pair: Callable[[bool], Pair]
    sampled: bool = False

    def __str__(self) -> str:
        return self.text

    def ways(self, direction: str) -> list[bool]:
        if direction == "both" and self.sampled:
            return [False, True]
        return [direction == "add" and self.sampled]


def _symmetric(text: str, make: Callable[[], Pair]) -> Mechanism:
    return Mechanism(text, lambda add: make())


def _trivial() -> Outcomes:
    return Outcomes([(mpf(1), mpf(1))])


def pure_dp(eps: str) -> Mechanism:
    return approx_dp(eps, "0", f"pure_dp({eps})")


def approx_dp(eps: str, delta: str, text: str = "") -> Mechanism:
    def make() -> Outcomes:
        mass, odds = number(delta), mp.exp(-number(eps))
        kept = (1 - mass) / (1 + odds)
        if kept == 0:
            return Outcomes([], mass, mass)
        return Outcomes([(kept, kept * odds), (kept * odds, kept)], mass, mass)

    return _symmetric(text or f"approx_dp({eps}, {delta})", make)


def gdp(mu: str) -> Mechanism:
    return _symmetric(f"gdp({mu})", lambda: Normal(number(mu)) if number(mu) > 0 else _trivial())


def gaussian(sigma: str, sensitivity: str = "1") -> Mechanism:
    text = f"gaussian({sigma}, {sensitivity})"
    return _symmetric(text, lambda: Normal(number(sensitivity) / number(sigma)))


def laplace(scale: str, sensitivity: str = "1") -> Mechanism:
    text = f"laplace({scale}, {sensitivity})"
    return _symmetric(text, lambda: DoubleExponential(number(sensitivity) / number(scale)))


def discrete_laplace(scale: str, sensitivity: int = 1) -> Mechanism:
    def make() -> Outcomes:
        rate, s = 1 / number(scale), sensitivity
        a = mp.exp(-rate)
        middle = -mp.expm1(-rate) / (1 + a)
        atoms = [(1 / (1 + a), a**s / (1 + a))]
        atoms += [(middle * a**x, middle * a ** (s - x)) for x in range(1, s)]
        return Outcomes([*atoms, (a**s / (1 + a), 1 / (1 + a))])

    return _symmetric(f"discrete_laplace({scale}, {sensitivity})", make)


def discrete_gaussian(sigma: str, sensitivity: int = 1) -> Mechanism:
    def make() -> Outcomes:
        width = number(sigma)
        reach = int(16 * width) + 8
        if reach > 400:
            raise NoReference("a wide law")
        exponent = -1 / (2 * width**2)
        weights = {x: mp.exp(exponent * x * x) for x in range(-reach - sensitivity, reach + 1)}
        total = mp.fsum(weights.values())
        atoms = [
            (weights[x] / total, weights[x - sensitivity] / total) for x in range(-reach, reach + 1)
        ]
        return Outcomes(atoms, slack=100 * (1 + width) * weights[reach])

    return _symmetric(f"discrete_gaussian({sigma}, {sensitivity})", make)


def truncated_discrete_gaussian(sigma: str, bound: int, sensitivity: int = 1) -> Mechanism:
    def make() -> Outcomes:
        exponent, s = -1 / (2 * number(sigma) ** 2), sensitivity
        weights = {x: mp.exp(exponent * x * x) for x in range(-bound, bound + 1)}
        total = mp.fsum(weights.values())
        lost = mp.fsum(w for x, w in weights.items() if x > bound - s) / total
        common = range(s - bound, bound + 1)
        atoms = [(weights[x - s] / total, weights[x] / total) for x in common]
        return Outcomes(atoms, lost, lost)

    return _symmetric(f"truncated_discrete_gaussian({sigma}, {bound}, {sensitivity})", make)


@dataclass(eq=False)
class TruncatedDouble(Pair):
    """Laplace noise of scale 1 in ``[-bound, bound]``, moved by ``shift``: the best threshold."""

    bound: Any
    shift: Any

    @property
    def lost(self) -> Any:  # type: ignore[override]
        return self.beyond(self.bound - self.shift)

    ghost = lost

    def beyond(self, x: Any) -> Any:
        edge = mp.exp(-self.bound)
        if abs(x) >= self.bound:
            return mpf(x < 0)
        inner = (mp.exp(-abs(x)) - edge) / (2 * (1 - edge))
        return inner if x >= 0 else 1 - inner

    def swapped(self) -> TruncatedDouble:
        return self

    def core(self, a: Any, b: Any) -> Estimate:
        if self.shift >= 2 * self.bound:
            return mpf(0), mpf(0)
        turn = (self.shift + mp.log(b / a)) / 2
        low, high = self.shift - self.bound, self.bound
        places = {low, high, mpf(0), self.shift, turn}
        found = [
            a * (self.beyond(x - self.shift) - self.lost) - b * self.beyond(x)
            for x in places
            if low <= x <= high
        ]
        return max(*found, mpf(0)), (a + b) * unit() * (1 + abs(turn))

    def renyi(self, order: Any) -> Estimate:
        return mp.inf, mpf(0)


def truncated_laplace(scale: str, bound: str, sensitivity: str = "1") -> Mechanism:
    def make() -> Pair:
        b = number(scale)
        return TruncatedDouble(number(bound) / b, number(sensitivity) / b)

    return _symmetric(f"truncated_laplace({scale}, {bound}, {sensitivity})", make)


def partition_selection(eps: str, delta: str) -> Mechanism:
    """All numbers of users, one after another; of every three points the middle one on the hull."""

    def make(add: bool) -> Outcomes:
        growth, mass = mp.exp(number(eps)), number(delta)
        chances = [mpf(0)]
        while chances[-1] < 1:
            p = chances[-1]
            chances.append(min(growth * p + mass, 1 - (1 - p - mass) / growth, mpf(1)))
            if len(chances) > 3000:
                raise NoReference("very many users")
        hull: list[tuple[Any, Any]] = []
        for point in [*pairwise(chances), (mpf(1), mpf(1))]:
            while len(hull) > 1 and not _turns_right(hull[-2], hull[-1], point):
                hull.pop()
            hull.append(point)
        moves = [(y[1] - x[1], y[0] - x[0]) for x, y in pairwise(hull)]
        ghost = mp.fsum(q for p, q in moves if p <= 0)
        found = Outcomes([(p, q) for p, q in moves if p > 0], hull[0][1], ghost)
        return found.swapped() if add else found

    return Mechanism(f"partition_selection({eps}, {delta})", make, True)


def staircase(eps: str, gamma: str) -> Mechanism:
    def make() -> Outcomes:
        loss, g = number(eps), number(gamma)
        decay = mp.exp(-loss)
        top = -mp.expm1(-loss) / (2 * (g + (1 - g) * decay))  # the height of the inner stair
        high = mpf(1) / 2 + top * min(g, 1 - g)
        none = top * (2 * g - 1) if 2 * g > 1 else top * decay * (1 - 2 * g)
        atoms = [(high, high * decay), (high * decay, high)]
        return Outcomes([*atoms, (none, none)] if none > 0 else atoms)

    return _symmetric(f"staircase({eps}, {gamma})", make)


def ladder(base: str, multiples: list[int]) -> Mechanism:
    """Responses to ``base`` times different integers, equal losses taken together."""

    def make() -> Outcomes:
        unit_loss = number(base)
        masses = {0: mpf(1)}
        for k in multiples:
            odds = mp.exp(-k * unit_loss)
            low, high = odds / (1 + odds), 1 / (1 + odds)
            more: dict[int, Any] = {}
            for loss, mass in masses.items():
                more[loss + k] = more.get(loss + k, mpf(0)) + mass * high
                more[loss - k] = more.get(loss - k, mpf(0)) + mass * low
            masses = more
        return Outcomes([(p, p * mp.exp(-loss * unit_loss)) for loss, p in masses.items()])

    return _symmetric(" * ".join(f"pure_dp(({base})*{k})" for k in multiples), make)


def poisson(inner: Mechanism, rate: str) -> Mechanism:
    def make(add: bool) -> Pair:
        q = number(rate)
        base = inner.pair(False)
        if q == 0:
            return _trivial()
        if q == 1:
            return base.swapped() if add else base
        if not isinstance(base, Outcomes):
            return Sample(base, q, add)
        atoms = [(q * x + (1 - q) * y, y) for x, y in base.atoms]
        if base.ghost > 0:
            atoms.append(((1 - q) * base.ghost, base.ghost))
        sample = Outcomes(atoms, q * base.lost, mpf(0), base.slack)
        return sample.swapped() if add else sample

    return Mechanism(f"poisson({inner}, {rate})", make, True)


def symmetric_sample(inner: Mechanism, m: int, n: int) -> Mechanism:
    """``C_p(f)`` of a finite symmetric pair: what ``fixed_size`` guarantees."""

    def make() -> Outcomes:
        sample = poisson(inner, f"{m}/{n}").pair(False)
        if not isinstance(sample, Outcomes) or sample.lost > 0 or m == n:
            raise NoReference("a sample with a density or an infinite loss")
        gains = [(p, q) for p, q in sample.atoms if p > q]
        rest = 1 - mp.fsum(p + q for p, q in gains)
        atoms = gains + [(q, p) for p, q in gains]
        return Outcomes([*atoms, (rest, rest)] if rest > unit() else atoms)

    return _symmetric(f"fixed_size({inner}, {m}, {n})", make)


def product(*factors: tuple[Mechanism, int], shown: str = "") -> Mechanism:
    """The composition of mechanisms, each repeated."""

    def make(add: bool) -> Pair:
        finite: Pair | None = None
        square = mpf(0)
        dense: list[Pair] = []
        for mechanism, times in factors:
            pair = mechanism.pair(add)
            if isinstance(pair, Outcomes):
                power = repeated(pair, times)
                finite = power if finite is None else joined(finite, power)
            elif isinstance(pair, Normal):
                square += times * pair.mu**2
            else:
                if times > 2:
                    raise NoReference("many steps with a density")
                dense += [pair] * times
        if square > 0:
            dense.append(Normal(mp.sqrt(square)))
        if not dense:
            assert finite is not None
            return finite
        # over Laplace noise a rare sample of a Gaussian would be a step that no quadrature sees
        dense.sort(key=lambda pair: not isinstance(_innermost(pair), Normal))
        if len(dense) > 2:
            raise NoReference("many steps with a density")
        whole = dense[0] if len(dense) == 1 else Product(*dense)
        if finite is None:
            return whole
        if len(dense) == 2 and finite.atoms and len(finite.atoms) > 4:
            raise NoReference("many outcomes times an integral")
        return Product(finite, whole)

    text = shown or " * ".join(
        str(m) if n == 1 else f"({m})^{n}" if "*" in str(m) or "^" in str(m) else f"{m}^{n}"
        for m, n in factors
    )
    return Mechanism(text, make, any(m.sampled for m, _ in factors))


def _innermost(pair: Pair) -> Pair:
    while isinstance(pair, Sample):
        pair = pair.base
    return pair


def joined(one: Pair, two: Pair) -> Pair:
    """Two finite steps: written out while short, else met in the middle."""
    if not isinstance(one, Outcomes) or not isinstance(two, Outcomes):
        if isinstance(one, Product) and isinstance(one.second, Outcomes):
            return Product(joined(one.first, two), one.second)
        raise NoReference("no finite product")
    if len(one.atoms) * len(two.atoms) > MAX_OUTCOMES:
        small, large = sorted((one, two), key=lambda pair: len(pair.atoms))
        if len(small.atoms) > 4 * MAX_OUTCOMES or len(large.atoms) > 4 * MAX_OUTCOMES:
            raise NoReference("too many outcomes")
        return Product(small, large)
    atoms = [(p * x, q * y) for p, q in one.atoms for x, y in two.atoms]
    lost = one.lost + (1 - one.lost) * two.lost
    ghost = one.ghost + (1 - one.ghost) * two.ghost
    return Outcomes(atoms, lost, ghost, one.slack + two.slack)


def repeated(pair: Outcomes, times: int) -> Outcomes:
    """``times`` steps: the outcomes by how often each occurred."""
    if times == 1:
        return pair
    sizes = math.comb(times + len(pair.atoms) - 1, times) if pair.atoms else 0
    if sizes > MAX_OUTCOMES:
        raise NoReference("too many outcomes")
    found: list[tuple[Any, Any]] = []

    def extend(index: int, left: int, p: Any, q: Any) -> None:
        x, y = pair.atoms[index]
        if index == len(pair.atoms) - 1:
            found.append((p * x**left, q * y**left))
            return
        for n in range(left + 1):
            ways = math.comb(left, n)
            extend(index + 1, left - n, p * ways * x**n, q * ways * y**n)

    if pair.atoms:
        extend(0, times, mpf(1), mpf(1))
    lost = -mp.expm1(times * mp.log1p(-pair.lost)) if pair.lost < 1 else mpf(1)
    ghost = -mp.expm1(times * mp.log1p(-pair.ghost)) if pair.ghost < 1 else mpf(1)
    return Outcomes(found, lost, ghost, times * pair.slack)


# --- quantities -----------------------------------------------------------------------------------


def larger(one: Estimate, two: Estimate) -> Estimate:
    return max(one[0], two[0]), max(one[1], two[1])


def delta(mechanism: Mechanism, epsilon: str, direction: str = "both") -> Estimate:
    growth = mp.exp(number(epsilon))
    found = [mechanism.pair(add).delta(growth) for add in mechanism.ways(direction)]
    return found[0] if len(found) == 1 else larger(*found)


def renyi(mechanism: Mechanism, order: str, direction: str = "both") -> Estimate:
    alpha = mp.inf if order == "inf" else number(order)
    found = [mechanism.pair(add).renyi(alpha) for add in mechanism.ways(direction)]
    return found[0] if len(found) == 1 else larger(*found)


def epsilon(
    mechanism: Mechanism, target: str, direction: str = "both", surplus: str | None = None
) -> Estimate:
    """The smallest epsilon of finite laws; ``surplus`` is what ``target`` exceeds ``lost`` by."""
    found = []
    for add in mechanism.ways(direction):
        pair = mechanism.pair(add)
        if not isinstance(pair, Outcomes):
            raise NoReference("no finite law")
        if surplus is not None:
            found.append(pair.least_epsilon(number(surplus), known=True))
            continue
        level = number(target)
        left = level - pair.lost
        if pair.lost > 0 and abs(left) <= unit() * pair.lost:
            raise NoReference("delta as large as the infinite loss")
        found.append(pair.least_epsilon(left, known=pair.lost == 0))
    return found[0] if len(found) == 1 else larger(*found)


def tradeoff(mechanism: Mechanism, alpha: str) -> Estimate:
    """The symmetric trade-off function: the lower convex hull of the vertices and their mirrors."""
    points: list[tuple[Any, Any]] = []
    for add in mechanism.ways("both"):
        pair = mechanism.pair(add)
        if isinstance(pair, Normal):
            a = number(alpha)
            if a in (0, 1):
                return 1 - a, mpf(0)
            with precise(max(mp.prec, 300)):
                z = mp.sqrt(2) * mp.erfinv(1 - 2 * a)
                value = mp.ncdf(z - pair.mu)
            return value, value * mpf(10) ** -20 + mpf(10) ** -30
        if not isinstance(pair, Outcomes) or pair.slack > 0:
            raise NoReference("no finite law")
        points += pair.vertices()
    points = sorted(set(points + [(b, a) for a, b in points]))
    hull: list[tuple[Any, Any]] = []
    for point in points:
        while len(hull) > 1 and _turns_right(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    a = number(alpha)
    k = min(max(bisect_left([x for x, _ in hull], a), 1), len(hull) - 1)
    (x0, y0), (x1, y1) = hull[k - 1], hull[k]
    value = min(y0, y1) if x1 == x0 else y0 + (y1 - y0) * (a - x0) / (x1 - x0)
    steepness = 1 if x1 == x0 else 1 + abs(y1 - y0) / (x1 - x0)
    return max(value, mpf(0)), unit() * steepness


def _turns_right(one: tuple[Any, Any], two: tuple[Any, Any], three: tuple[Any, Any]) -> bool:
    (x0, y0), (x1, y1), (x2, y2) = one, two, three
    return bool((x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0) <= 0)


def zcdp_delta(rho: str, epsilon: str) -> Estimate:
    """The bound of Steinke (2022), Proposition 14, at its best order."""
    r, level = number(rho), number(epsilon)

    def exponent(t: Any) -> Any:
        return t * (t + 1) * r - t * level + t * mp.log(t) - (t + 1) * mp.log1p(t)

    def slope(t: Any) -> Any:
        return (2 * t + 1) * r - mp.log1p(1 / t) - level

    low = high = mpf(1)
    while slope(low) > 0:
        low /= 2
    while slope(high) < 0:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    value = mp.exp(exponent(high))
    return value, value * mpf(10) ** -20


def as_mpf(bound: Fraction | float, rounding: str) -> Any:
    """A bound of an enclosure, rounded outward (``f`` or ``c``)."""
    if not isinstance(bound, Fraction):
        return mp.inf
    from mpmath.libmp import from_rational

    return mp.make_mpf(from_rational(bound.numerator, bound.denominator, mp.prec, rounding))
