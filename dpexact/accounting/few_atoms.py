r"""Composition of mechanisms with a few outcomes of arbitrary loss, as sampling makes them.

``k`` steps with ``m`` outcomes are described by how often each occurred. All but two outcomes
are enumerated; given their numbers, the number ``X`` of the more revealing of the last two is
binomial, and the loss grows with ``X``. So each *type* ``t`` of the enumerated outcomes adds

.. math:: w_t\,T_P^N\,P[X \ge m_t] - e^{\varepsilon}\,v_t\,T_Q^N\,Q[X \ge m_t],

with ``w_t, v_t`` its weights, ``T`` the mass of the last two outcomes, ``N`` the steps left and
``m_t`` the least ``X`` whose loss exceeds ``epsilon``. That is the maximum over ``m_t``, so when
rounding leaves two candidates the union of both values contains the truth. Where it leaves open
which of the two outcomes is the more revealing, every loss of the type lies in one ball ``l``, and
the type adds at most :math:`w_t T_P^N (1 - e^{\varepsilon - l})_+`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Final, TypeVar

from flint import arb, fmpq

from dpexact import balls, reals
from dpexact.accounting.binomial import binomial_tail
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.pairs.finite import Atom
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exp_fraction
from dpexact.reals import Real
from dpexact.ternary import Order

#: Most types that are enumerated.
MAX_TYPES: Final = 20_000
_MAX_EXACT_TYPES: Final = 2_000

_ZERO: Final = reals.rational(0)

Number = TypeVar("Number", arb, fmpq)


class FewAtoms(InvertedProfile):
    """Profile of a product of steps, each given by its outcomes and how often it runs.

    Outcomes impossible under Q are infinite loss; outcomes impossible under P never matter.
    ``infinite`` is loss beside that of the steps: all outcomes of finite loss must escape it too.
    """

    method = "outcomes by type"

    def __init__(self, steps: list[tuple[list[Atom], int]], infinite: InfiniteLoss) -> None:
        masses = list(infinite.masses)
        self.steps: list[tuple[list[Atom], int]] = []
        for atoms, count in steps:
            masses += [(a.p, count) for a in atoms if a.q.fraction == 0]
            finite = [a for a in atoms if a.p.fraction != 0 and a.q.fraction != 0]
            self.steps.append((finite, count))
        self.steps.sort(key=lambda step: (len(step[0]) > 1, step[1]))
        self.infinite: InfiniteLoss = InfiniteLoss(tuple(masses))
        self._beside = infinite
        *others, (pivot, count) = self.steps
        self.types = math.prod(_types(len(atoms), n) for atoms, n in others)
        self.types *= _types(max(len(pivot) - 1, 1), count)
        if self.types > MAX_TYPES:
            raise UnsupportedMechanism(
                f"no certified accounting for more than {MAX_TYPES} combinations of outcomes"
            )
        self.largest: Real = _ZERO
        for atoms, n in self.steps:
            top = n * _most_revealing(atoms).loss
            self.largest += top

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        exact = self._delta_fraction(epsilon)
        if exact is not None:
            return Enclosure.exact(exact, f"{self.method} (exact)")
        return balls.certify(
            lambda: self._delta_ball(balls.ball(epsilon)),
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
        )

    def _delta_ball(self, epsilon: arb) -> arb:
        return self.infinite.ball() + (1 - self._beside.ball()) * self._finite_ball(epsilon)

    def _finite_ball(self, epsilon: arb) -> arb:
        *others, (pivot, count) = self.steps
        laws = [[(balls.ball(a.p), balls.ball(a.q)) for a in atoms] for atoms, _ in others]
        fixed = [
            list(enumerate_types(law, n, arb(1))) for law, (_, n) in zip(laws, others, strict=True)
        ]
        split = _Split(pivot, count)
        cut, skipped, total = arb(2) ** (-balls.current() - 20), arb(0), arb(0)
        for combination in product(*fixed, split.types()):
            *choices, (left, weight_p, weight_q) = combination
            for _, p, q in choices:
                weight_p, weight_q = weight_p * p, weight_q * q
            if weight_p < cut:
                skipped += weight_p
                continue
            total += split.difference(left, weight_p, weight_q, epsilon)
        return total + skipped * arb(0).union(arb(1))

    def _delta_fraction(self, epsilon: Real) -> Fraction | None:
        """The exact ``delta(epsilon)`` when everything is rational and of moderate size."""
        lost, level = self.infinite.fraction, exp_fraction(epsilon)
        beside = self._beside.fraction
        types = math.prod(_types(len(atoms), n) for atoms, n in self.steps)
        if lost is None or beside is None or level is None or types > _MAX_EXACT_TYPES:
            return None
        laws = []
        bits = 0
        for atoms, count in self.steps:
            law = [
                (_fmpq(a.p.fraction), _fmpq(a.q.fraction))
                for a in atoms
                if a.p.fraction is not None and a.q.fraction is not None
            ]
            if len(law) < len(atoms):
                return None
            bits += count * max(int(x.q).bit_length() for pair in law for x in pair)
            laws.append(list(enumerate_types(law, count, fmpq(1))) if bits <= EXACT_BITS else [])
        if bits > EXACT_BITS:
            return None
        cut, finite = _fmpq(level), fmpq(0)
        for combination in product(*laws):
            p, q = fmpq(1), fmpq(1)
            for _, type_p, type_q in combination:
                p, q = p * type_p, q * type_q
            finite += max(p - cut * q, fmpq(0))
        return lost + (1 - beside) * Fraction(int(finite.p), int(finite.q))


class _Split:
    """The last step: two main outcomes apart from the others, which are enumerated.

    ``apart``: how much more the loss of the first exceeds that of the second; None where there is
    one main outcome, or rounding does not tell which of the two has the larger loss.
    """

    def __init__(self, atoms: list[Atom], count: int) -> None:
        pairs = [(balls.ball(a.p), balls.ball(a.q)) for a in atoms]
        # proposes: the main outcomes; any two may be, and the largest make the shortest sums
        order = sorted(range(len(atoms)), key=lambda i: float((pairs[i][0] + pairs[i][1]).mid()))
        self.count = count
        self.others = [pairs[i] for i in order[:-2]]
        self.main = [pairs[i] for i in order[-2:]]
        losses = [(p / q).log() for p, q in self.main]
        if losses[0] < losses[-1]:
            self.main.reverse()
            losses.reverse()
        self.low: arb = losses[-1]
        self.apart: arb | None = losses[0] - losses[-1]
        if not self.apart > 0:
            self.low, self.apart = losses[0].union(losses[-1]), None
        self.mass_p = sum((p for p, _ in self.main), arb(0))
        self.mass_q = sum((q for _, q in self.main), arb(0))

    def types(self) -> Iterator[tuple[int, arb, arb]]:
        """``(steps left, weight under P, weight under Q)``."""
        if not self.others:
            yield self.count, self.mass_p**self.count, self.mass_q**self.count
            return
        yield from enumerate_types([(self.mass_p, self.mass_q), *self.others], self.count, arb(1))

    def difference(self, left: int, weight_p: arb, weight_q: arb, epsilon: arb) -> arb:
        """The most that a test of the number of the more revealing outcome gains."""
        loss = (weight_p / weight_q).log() - epsilon
        loss += left * (self.low - (self.mass_p / self.mass_q).log())  # the least of the type
        level = epsilon.exp() * weight_q
        if self.apart is None:
            if loss > 0:
                return weight_p - level
            most = weight_p * -(-loss.upper()).expm1()
            return arb(0) if loss < 0 else arb(0).max(weight_p - level).union(most)
        crossing = -loss / self.apart
        if not balls.in_range(crossing):
            return arb.nan()
        bounds = balls.to_enclosure(crossing)
        first, last = math.floor(bounds.lower) + 1, math.floor(bounds.upper) + 1
        thresholds = sorted({min(max(m, 0), left + 1) for m in (first, last)})
        if thresholds[-1] - thresholds[0] > 1:
            return arb.nan()
        values = []
        for m in thresholds:
            p_tail, q_tail = self._tails(left, m)
            values.append(weight_p * p_tail - level * q_tail)
        return values[0].union(values[-1])

    def _tails(self, left: int, m: int) -> tuple[arb, arb]:
        if m > left:
            return arb(0), arb(0)
        if m <= 0:
            return arb(1), arb(1)
        (p_high, q_high), (p_low, q_low) = self.main
        return (
            binomial_tail(left, m, p_high / self.mass_p, p_low / self.mass_p),
            binomial_tail(left, m, q_high / self.mass_q, q_low / self.mass_q),
        )


def enumerate_types(
    law: list[tuple[Number, Number]], count: int, one: Number
) -> Iterator[tuple[int, Number, Number]]:
    """``(n, P, Q)`` of each type of ``count`` draws: the first outcome occurs ``n`` times.

    P and Q are the multinomial probabilities; ``law`` need not sum to 1.
    """
    yield from _extend(law, count, one, one)


def _extend(
    law: list[tuple[Number, Number]], left: int, p: Number, q: Number
) -> Iterator[tuple[int, Number, Number]]:
    if len(law) == 1:
        yield left, p * law[0][0] ** left, q * law[0][1] ** left
        return
    *before, (last_p, last_q) = law
    for n in range(left + 1):
        yield from _extend(before, left - n, p, q)
        p, q = p * last_p * (left - n) / (n + 1), q * last_q * (left - n) / (n + 1)


def _types(outcomes: int, count: int) -> int:
    return math.comb(count + outcomes - 1, outcomes - 1)


def _most_revealing(atoms: list[Atom]) -> Atom:
    """The outcome of the largest loss.

    Raises:
        UnsupportedMechanism: two losses cannot be told apart.
    """
    top, *others = atoms
    for atom in others:
        match balls.order(atom.p * top.q, top.p * atom.q):
            case Order.ABOVE:
                top = atom
            case Order.UNDECIDED:
                raise UnsupportedMechanism("the largest loss cannot be told from the next")
    return top


def _fmpq(value: Fraction | None) -> fmpq:
    assert value is not None
    return fmpq(value.numerator, value.denominator)
