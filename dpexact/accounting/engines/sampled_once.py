r"""One step on a Poisson sample of rate ``q``, from the profile of the step without sampling.

With ``D`` the profile of ``(P, Q)`` and ``D'`` that of ``(Q, P)``, for ``eps >= 0``
(Balle, Barthe, Gaboardi 2018, Theorem 2; both follow by rearranging the supremum):

.. math:: \mathrm{remove:}\quad \delta(\varepsilon) = q\,D(\log(1 + (e^\varepsilon - 1)/q)),

.. math:: \mathrm{add:}\quad \delta(\varepsilon) = (1 - (1-q)e^\varepsilon)_+\,
          D'\Big(\log\frac{q\,e^\varepsilon}{1 - (1-q) e^\varepsilon}\Big).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.inverted import ONE, ZERO, BallProfile, invert
from dpexact.accounting.pairs.pair import reached
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from dpexact.exactness import exponential
from dpexact.reals import Real
from dpexact.ternary import Order


def sampled_once(base: Profile, q: Real, direction: Direction) -> Profile:
    """The profile of one step on a sample of rate ``0 < q < 1``.

    ``base`` is the profile of the step itself in the same ``direction``, which is not ``both``.
    """
    return _Remove(base, q) if direction == "remove" else _Add(base, q)


def divergence_on_sample(
    divergence: Callable[[arb], arb], q: Real, direction: Direction
) -> Callable[[arb], arb]:
    """The same profile as a function of any real ball, negative ones too.

    ``divergence`` is that of the step itself. Where ``q P - (e^eps - 1 + q) Q`` has no negative
    part all of it counts, and where ``(1 - (1-q) e^eps) Q - q e^eps P`` has no positive one, none.
    """

    def remove(epsilon: arb) -> arb:
        rate = balls.ball(q)
        rest = epsilon.expm1() + rate
        if rest > 0:
            return rate * divergence((rest / rate).log())
        # near 0 it is between `rate - rest` and `rate`
        return -epsilon.expm1() if rest <= 0 else rate + arb(0, rest.abs_upper())

    def add(epsilon: arb) -> arb:
        rate = balls.ball(q)
        rest = -epsilon.expm1() + rate * epsilon.exp()
        if rest > 0:
            return rest * divergence((rate * epsilon.exp() / rest).log())
        return arb(0) if rest <= 0 else arb(0).union(rest.abs_upper())

    return remove if direction == "remove" else add


class _SampledOnce(Profile):
    _way: Direction

    def __init__(self, base: Profile, q: Real) -> None:
        self.base = base
        self.q = q
        self.method = f"{base.method}, sampled once"

    @abstractmethod
    def _point(self, epsilon: Real) -> Real:
        """Where the profile of the base is asked."""

    @abstractmethod
    def _factor(self, epsilon: Real) -> Real:
        """What it is multiplied with."""

    @abstractmethod
    def _loss(self, x: arb) -> arb:
        """The loss on a sample where that of the step is ``x``."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.deltas([epsilon], digits)[0]

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        between = Enclosure(ZERO, ONE, self.method)
        found = [between] * len(epsilons)
        # proposes: whether one ball is all that is needed; where losses end answers may be exact
        if isinstance(self.base, BallProfile) and self.base.largest is None:
            value = divergence_on_sample(self.base.delta_ball, self.q, self._way)
            ask = epsilons, digits, between, self.base.lost_bits, 0
            found = balls.certify_each(lambda x: [reached(value, balls.ball(e)) for e in x], *ask)
        each = zip(found, epsilons, strict=True)
        return [a if a.digits >= digits else self._exactly(at, digits) for a, at in each]

    def _exactly(self, epsilon: Real, digits: int) -> Enclosure:
        """From the profile of the base at an exact point."""
        factor = self._factor(epsilon)
        found = self.base.delta(self._point(epsilon), digits + 2)
        exact, scale = found.lower if found.is_exact else None, factor.fraction
        if isinstance(exact, Fraction) and scale is not None:
            return Enclosure.exact(exact * scale, self.method)
        return self._image(found, lambda x: x * balls.ball(factor), digits).within(ZERO, ONE)

    def _image(self, found: Enclosure, function: Callable[[arb], arb], digits: int) -> Enclosure:
        """``found`` under an increasing function with ``function(0) >= 0``."""
        return balls.image(found, function, digits + 2, lowest=ZERO, method=self.method)


class _Remove(_SampledOnce):
    _way = "remove"

    def __init__(self, base: Profile, q: Real) -> None:
        super().__init__(base, q)
        self.infinite = InfiniteLoss(((q * base.infinite.mass, 1),))

    def _point(self, epsilon: Real) -> Real:
        gain = (exponential(epsilon) - 1) / self.q
        return reals.logarithm(1 + gain)

    def _factor(self, epsilon: Real) -> Real:
        return self.q

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self.epsilons([delta], digits)[0]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        most, none = (Order.ABOVE, Order.EQUAL), Enclosure.exact(ZERO, self.method)
        low = [at for at in deltas if at != self.q and balls.order(at, self.q) not in most]
        steps = self.base.epsilons([at / self.q for at in low], digits + 2)
        found = {at: self._on_sample(step, digits) for at, step in zip(low, steps, strict=True)}
        return [found.get(at, none) for at in deltas]

    def _on_sample(self, found: Enclosure, digits: int) -> Enclosure:
        """The loss on a sample where that of the step is what is found."""
        if found.is_exact and found.lower in (0, math.inf):
            return found.labelled(self.method)
        return self._image(found, self._loss, digits)

    def _loss(self, x: arb) -> arb:
        """``log(1 + q (e^x - 1))``, which for large ``x`` must not overflow."""
        q = balls.ball(self.q)
        return (x.expm1() * q).log1p() if x < 1 else x + (q + (1 - q) * (-x).exp()).log()

    _epsilon = epsilon


class _Add(_SampledOnce):
    _way = "add"
    infinite = InfiniteLoss()

    def _rest(self, epsilon: Real) -> Real:
        """``1 - (1-q) e^eps``."""
        stay = 1 - self.q
        return 1 - stay * exponential(epsilon)

    def _point(self, epsilon: Real) -> Real:
        odds = self.q * exponential(epsilon) / self._rest(epsilon)
        return reals.logarithm(odds)

    def _factor(self, epsilon: Real) -> Real:
        return self._rest(epsilon)

    def _exactly(self, epsilon: Real, digits: int) -> Enclosure:
        match balls.order(self._rest(epsilon), reals.ZERO):
            case Order.ABOVE:
                return super()._exactly(epsilon, digits)
            case Order.UNDECIDED:
                return self._near_the_end(epsilon, digits)
        return Enclosure.exact(ZERO, self.method)

    def _near_the_end(self, epsilon: Real, digits: int) -> Enclosure:
        """``delta <= (1 - (1-q) e^eps)_+``, where that is hardly told from 0 or overflows."""

        def most() -> arb:
            beyond = balls.ball(epsilon) + (-balls.ball(self.q)).log1p()
            return arb(0) if beyond > 0 else (-beyond.expm1()).max(arb(0))

        upper = balls.certify(most, digits, lowest=ZERO, highest=ONE).upper
        return Enclosure(ZERO, upper, self.method, "epsilon is next to the largest loss")

    def epsilon(self, delta: Real, digits: int) -> Enclosure:
        if delta.fraction == 0:
            return self.largest_loss(digits)
        if isinstance(self.base, BallProfile):
            found = _ByLossOfStep(self.base, self.q)._bracket(delta, digits + 2)
            # proposes: whether another search is asked
            if found is not None:
                return self._mapped(found, digits)
        half = -math.log1p(-min(balls.approximate(self.q), 0.999)) / 2
        # proposes: where the search starts
        start = Fraction(half) if half > 0 else ONE
        return invert(self.delta, delta, digits, self.method, start)

    _epsilon = epsilon

    def _loss(self, x: arb) -> arb:
        """``-log(1 - q + q e^-x)``, at most ``-log(1 - q)``."""
        return -((-x).expm1() * balls.ball(self.q)).log1p()

    def largest_loss(self, digits: int) -> Enclosure:
        return self._mapped(self.base.epsilon(reals.ZERO, digits + 2), digits)

    def _mapped(self, found: Enclosure, digits: int) -> Enclosure:
        """The loss on a sample where that of the step is what is found."""
        if found.lower == 0 and found.is_exact:
            return found.labelled(self.method)
        edge = balls.certify(
            lambda: -(-balls.ball(self.q)).log1p(), digits, lowest=ZERO, method=self.method
        )
        if found.lower == math.inf:
            return edge
        return self._image(found, self._loss, digits).within(ZERO, edge.upper)


class _ByLossOfStep(BallProfile):
    r"""Delta of a record added, where the loss of the step without sampling is ``x``.

    .. math:: \frac{q e^{-x}}{1 - q + q e^{-x}} D'(x)

    decreases, and next to the largest loss on a sample ``x`` still tells apart what epsilon hardly
    does.
    """

    largest = None
    infinite = InfiniteLoss()

    def __init__(self, base: BallProfile, q: Real) -> None:
        self.base, self.q, self.method = base, q, base.method
        self.lost_bits, self.cap = base.lost_bits, base.cap

    def finite_ball(self, epsilon: arb) -> arb:
        share = balls.ball(self.q) * (-epsilon).exp()
        return share / (1 - balls.ball(self.q) + share) * self.base.delta_ball(epsilon)

    def lost_at(self, delta: Real) -> int:
        return self.base.lost_at(delta)

    def near(self, delta: Real) -> Fraction:
        return self.base.near(delta)
