"""The part of a total ``delta`` that the steps leave over for the tail of the privacy loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.classic.guarantees import Guarantee
from dpexact.accounting.profile import InfiniteLoss
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.tokens import shorten


@dataclass(frozen=True, slots=True)
class Slack:
    """``delta`` minus what is spent, which is ``exact`` where it is rational."""

    delta: Real
    exact: Fraction | None
    spent: Callable[[], arb]

    def ball(self) -> arb:
        """``delta - spent`` at the current precision."""
        if self.exact is not None and self.delta.fraction is not None:
            return balls.ball(self.delta.fraction - self.exact)
        return balls.ball(self.delta) - self.spent()

    def share(self) -> arb:
        """``(delta - spent)/(1 - spent)``."""
        return self.ball() / (1 - self.spent())

    def sign(self) -> int:
        """-1, 0 or 1 as ``delta`` is below, equal to or above what is spent.

        Raises:
            InvalidInput: it cannot be told.
        """
        if self.exact is not None and self.delta.fraction is not None:
            return (self.delta.fraction > self.exact) - (self.delta.fraction < self.exact)
        bits = 64
        while bits <= balls.CAP_EXTRA:
            with balls.precision(bits):
                left = self.ball()
                if left > 0 or left < 0:
                    return 1 if left > 0 else -1
            bits *= 2
        raise InvalidInput(f"delta: {shorten(str(self.delta))} is too close to what is spent")

    def check(self, *, positive: bool) -> int:
        """The sign, if ``delta`` is at least (above, if ``positive``) what is spent."""
        sign = self.sign()
        if sign < (1 if positive else 0):
            raise InvalidInput(
                f"delta: {shorten(str(self.delta))} is not accepted; must be "
                f"{'above' if positive else 'at least'} {self._spent_text()}, spent by the steps"
            )
        return sign

    def _spent_text(self) -> str:
        if self.exact == 0:
            return "0"
        with balls.precision(64):
            # proposes: a text for people
            return f"about {float(self.spent().mid()):.6g}"


def summed(steps: Sequence[Guarantee], delta: Real) -> Slack:
    """``delta - sum delta_i``."""

    def spent() -> arb:
        return sum((step.count * balls.ball(step.delta) for step in steps), arb(0))

    return Slack(delta, fraction_sum((step.delta, step.count) for step in steps), spent)


def joint(steps: Sequence[Guarantee], delta: Real) -> Slack:
    """``delta - (1 - prod (1 - delta_i))``."""
    lost = InfiniteLoss(tuple((step.delta, step.count) for step in steps))
    return Slack(delta, lost.fraction, lost.ball)


def fraction_sum(terms: Iterable[tuple[Real, int]]) -> Fraction | None:
    """The sum of ``value * count`` where all values are rational."""
    total = Fraction(0)
    for value, count in terms:
        if value.fraction is None:
            return None
        total += count * value.fraction
    return total
