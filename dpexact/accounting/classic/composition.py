r"""Composition of ``(eps_i, delta_i)``-DP mechanisms: the published upper bounds on epsilon.

Each function takes what the ``steps`` guarantee, the total ``delta`` and the certified significant
``digits``, encloses the ``epsilon`` of its theorem, and raises ``InvalidInput`` where a hypothesis
fails. All hold for adaptive composition. Sums run over all steps; ``S`` is the sum of ``eps_i^2``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.finite import total
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import ZERO, Real
from dpexact.tokens import shorten


@dataclass(frozen=True, slots=True)
class Guarantee:
    """``count >= 1`` mechanisms, each ``(eps, delta)``-DP; ``eps >= 0`` and ``0 <= delta <= 1``."""

    eps: Real
    delta: Real = ZERO
    count: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "eps", real_in(self.eps, "eps", ">= 0"))
        object.__setattr__(self, "delta", real_in(self.delta, "delta", ">= 0", "<= 1"))
        object.__setattr__(self, "count", integer_in(self.count, "count", 1))


def guarantees(mechanism: Mechanism) -> list[Guarantee]:
    """The guarantee of each step, equal ones counted together.

    An ``(eps, delta)``-DP mechanism on a Poisson sample of rate ``q`` with add/remove neighbours,
    or on ``m`` of ``n`` records with ``q = m/n`` and replacement neighbours, is
    ``(log(1 + q (e^eps - 1)), q delta)``-DP (Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018,
    Theorems 8 and 9; Steinke 2022, Theorem 29): samples carry that of the sum of the guarantees
    inside (basic composition).

    Raises:
        UnsupportedMechanism: a step has no single best pair, as Gaussian noise; or samples for
            different neighbours stand together.
    """
    mechanism.relation()
    counts: dict[tuple[Real, Real], int] = {}
    for step, count in mechanism.steps().items():
        found = guarantee(step)
        if found is None:
            raise UnsupportedMechanism(f"{step} has no single best (eps, delta)")
        counts[found] = counts.get(found, 0) + count
    return [Guarantee(eps, delta, count) for (eps, delta), count in counts.items()]


def guarantee(step: Mechanism) -> tuple[Real, Real] | None:
    """The single best ``(eps, delta)`` of one step, by basic composition inside it; else None."""
    try:
        return Composition.of([(step, 1)], fixed_size=True).guaranteed()
    except UnsupportedMechanism:
        return None


def largest_loss(mechanism: Mechanism) -> Real | None:
    """The largest privacy loss, which is the epsilon at ``delta = 0``, in symbols.

    ``None`` where it is infinite or not in symbols here, as for samples.
    """
    total = ZERO
    for step, count in mechanism.steps().items():
        try:
            found = Composition.of([(step, 1)])
        except UnsupportedMechanism:
            return None
        if found.largest is None or found.apart or found.masses or found.samples:
            return None
        total += count * found.largest
    return total


Steps = Sequence[Guarantee]


def basic_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    """``sum eps_i``, for ``sum delta_i <= delta <= 1`` (Dwork and Roth 2014, Theorem 3.16).

    >>> from dpexact.conversion import real
    >>> print(basic_composition([Guarantee(real("0.1"), count=100)], "1e-6"))
    10
    """
    _left(steps, delta, may_be_zero=True)
    return _basic(steps, digits)


def advanced_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Dwork, Rothblum and Vadhan (2010), Theorem III.3, for ``k`` equal steps.

    .. math:: k\varepsilon(e^\varepsilon - 1) + \varepsilon\sqrt{2k\log(1/\tilde\delta)}
              \quad\text{at}\quad \delta = k\delta_0 + \tilde\delta, \quad 0 < \tilde\delta \le 1

    >>> from dpexact.conversion import real
    >>> print(advanced_composition([Guarantee(real("0.1"), count=100)], "1e-6", 12).shown(12))
    6.30823095051...
    """
    if len({(step.eps, step.delta) for step in steps}) > 1:
        raise InvalidInput("steps: they must all guarantee the same eps and delta")
    left = _left(steps, delta)

    def epsilon() -> arb:
        drift = _sum(steps, lambda eps: eps * eps.expm1())
        return drift + _spread(steps, -balls.ball(left).log())

    return _delivered(epsilon, digits, "advanced composition")


def kov_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Kairouz, Oh and Viswanath (2017), (7) for equal steps and (8) for any.

    .. math:: \min\Big\{\sum\varepsilon_i,\;
              \sum\varepsilon_i\tanh\tfrac{\varepsilon_i}2
              + \sqrt{2S\log(e + \sqrt S/\tilde\delta)},\;
              \sum\varepsilon_i\tanh\tfrac{\varepsilon_i}2
              + \sqrt{2S\log(1/\tilde\delta)}\Big\}

    at :math:`\delta = 1 - (1-\tilde\delta)\prod(1-\delta_i)`, ``0 <= tilde delta <= 1``.

    >>> from dpexact.conversion import real
    >>> print(kov_composition([Guarantee(real("0.1"), count=100)], "1e-6", 12).shown(12))
    5.75610551933...
    """
    spent = InfiniteLoss(tuple((step.delta, step.count) for step in steps)).mass
    left = _left(steps, delta, spent, may_be_zero=True)
    if left.fraction == 0:
        return _basic(steps, digits)
    rest = left / (1 - spent)

    def epsilon() -> arb:
        share, root = balls.ball(rest), _sum(steps, lambda eps: eps * eps).sqrt()
        drift = _sum(steps, lambda eps: eps * (eps / 2).tanh())
        logarithm = (-share.log()).min((arb.const_e() + root / share).log())
        return _sum(steps).min(drift + _spread(steps, logarithm))

    return _delivered(epsilon, digits, "KOV simplified")


def pure_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""``S/2 + sqrt(2 S log(1/delta))``, for ``delta_i = 0 < delta``: Steinke (2022), Theorem 18.

    >>> from dpexact.conversion import real
    >>> print(pure_composition([Guarantee(real("0.1"), count=100)], "1e-6", 13).shown(13))
    5.756521769756...
    """
    if any(balls.sign(step.delta, "delta") for step in steps):
        raise InvalidInput("steps: each must guarantee pure DP, delta_i = 0")
    left = _left(steps, delta)
    return _delivered(lambda: _concentrated(steps, left), digits, "Theorem 18")


def approximate_composition(steps: Steps, delta: RealLike, digits: int = 15) -> Enclosure:
    r"""Steinke (2022), Theorem 22, for any steps.

    .. math:: \min\Big\{\sum\varepsilon_i,\ S/2 + \sqrt{2S\log(1/\delta')}\Big\},
              \qquad \delta' = \delta - \sum\delta_i > 0

    >>> from dpexact.conversion import real
    >>> steps = [Guarantee(real("0.1"), real("1e-9"), 100)]
    >>> print(approximate_composition(steps, "1.1e-6", 12).shown(12))
    5.75652176975...
    """
    left = _left(steps, delta)
    return _delivered(lambda: _sum(steps).min(_concentrated(steps, left)), digits, "Theorem 22")


# --- parts ----------------------------------------------------------------------------------------


def _left(
    steps: Steps, delta: RealLike, spent: Real | None = None, *, may_be_zero: bool = False
) -> Real:
    """``delta`` less what is ``spent``, by default ``sum delta_i``: checked to be positive."""
    whole = real_in(delta, "delta", ">= 0", "<= 1")
    if spent is None:
        spent = total(step.count * step.delta for step in steps)
    sign = balls.compare(whole, spent, "delta")
    if sign < 0 or (sign == 0 and not may_be_zero):
        # proposes: a text for people
        about = f"about {balls.approximate(spent):.6g}" if spent.fraction != 0 else "0"
        raise InvalidInput(
            f"delta: {shorten(str(whole))} is not accepted; must be "
            f"{'at least' if may_be_zero else 'above'} {about}, spent by the steps"
        )
    return whole - spent if sign else ZERO


def _sum(steps: Steps, function: Callable[[arb], arb] = lambda eps: eps) -> arb:
    return sum((step.count * function(balls.ball(step.eps)) for step in steps), arb(0))


def _spread(steps: Steps, logarithm: arb) -> arb:
    """``sqrt(2 S L)`` for ``L >= 0``, which rounding may have made negative."""
    return (2 * _sum(steps, lambda eps: eps * eps) * logarithm.max(arb(0))).sqrt()


def _concentrated(steps: Steps, left: Real) -> arb:
    """``S/2 + sqrt(2 S log(1/left))``."""
    half = _sum(steps, lambda eps: eps * eps) / 2
    return half + _spread(steps, -balls.ball(left).log())


def _basic(steps: Steps, digits: int) -> Enclosure:
    exact = [step.count * step.eps.fraction for step in steps if step.eps.fraction is not None]
    if len(exact) == len(steps):
        digits_in(digits)
        return Enclosure.exact(sum(exact, Fraction(0)), "basic composition")
    return _delivered(lambda: _sum(steps), digits, "basic composition")


def _delivered(epsilon: Callable[[], arb], digits: int, method: str) -> Enclosure:
    wanted = digits_in(digits)
    return delivered(balls.certify(epsilon, wanted, lowest=Fraction(0), method=method), wanted)
