"""What every trade-off function offers: certified evaluation and a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Self, overload

from dpexact.answers import delivered
from dpexact.arguments import Many, digits_in, is_many, members, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure, Side
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.tokens import shorten
from dpexact.tradeoffs.numbers import Number, compare, number

#: Points of a picture.
OUTLINE_POINTS: Final = 200

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class TradeoffFunction(ABC):
    """A trade-off function ``f``: the least type II error of a test of ``P`` against ``Q``

    whose type I error is at most ``alpha``. Convex, continuous and non-increasing on ``[0, 1]``,
    with ``f(alpha) <= 1 - alpha`` (Dong, Roth, Su 2022, Proposition 1). ``f(0)`` is the limit from
    the right; where it is below 1, ``Q`` has mass ``1 - f(0)`` on which ``P`` has none.
    """

    method: str
    #: Whether values are bounds of the truth only, and the theorem that says so.
    bound: Side = "exact"
    theorem: str = ""

    @overload
    def __call__(self, alpha: Many, digits: int = 15) -> list[Enclosure]: ...

    @overload
    def __call__(self, alpha: RealLike, digits: int = 15) -> Enclosure: ...

    def __call__(self, alpha: RealLike | Many, digits: int = 15) -> Enclosure | list[Enclosure]:
        """Enclose ``f(alpha)`` to ``digits`` digits, for any exact real ``0 <= alpha <= 1``.

        Of a list, a tuple or a flat numpy array of them, which share work, a list is answered, in
        which a point whose digits were not reached is as narrow as was certified.

        Raises:
            InvalidInput: ``alpha`` or ``digits`` out of range.
            PrecisionNotReached: with the best enclosure, of one ``alpha``.
        """
        wanted = digits_in(digits)
        levels = [level_in(level) for level in members(alpha, "alpha")]
        # less type II error is promised, never more
        found = [
            answer.relied_on("lower").as_bound(self.bound, self.theorem)
            for answer in self._enclose_many(levels, wanted)
        ]
        return found if is_many(alpha) else delivered(found[0], wanted)

    def _enclose_many(self, alphas: Sequence[Number], digits: int) -> list[Enclosure]:
        """:meth:`_enclose` at each of many levels, which may share work."""
        return [self._enclose(alpha, digits) for alpha in alphas]

    @abstractmethod
    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        """``f(alpha)`` for a checked ``alpha``, as narrow as it could be certified."""

    @abstractmethod
    def inverse(self) -> TradeoffFunction:
        """``f^-1(alpha) = inf{t in [0, 1]: f(t) <= alpha}``, which is ``T(Q, P)``."""

    def _outline(self) -> tuple[list[float], list[float]]:
        """Points of the graph, as floats, for a picture; closest where it is steepest."""
        # proposes: a picture
        alphas = [Fraction(k, OUTLINE_POINTS) ** 3 for k in range(OUTLINE_POINTS + 1)]
        betas = [float(self._enclose(alpha, 12).lower) for alpha in alphas]
        return [0.0, *map(float, alphas)], [1.0, *betas]

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draw the graph on ``ax`` (a new one if None) and return the matplotlib axes.

        ``style`` goes to ``Axes.plot``. Needs the extra ``plot``.
        """
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError as error:
                raise InvalidInput("plot: needs matplotlib: install dpexact[plot]") from error
            ax = Figure().add_subplot()
        ax.plot(*self._outline(), **style)
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="type I error", ylabel="type II error")
        ax.set_aspect("equal")
        return ax


class SymmetricCurve(TradeoffFunction):
    """A symmetric trade-off function with the one parameter ``mu >= 0``, any exact real."""

    def __init__(self, mu: RealLike) -> None:
        self.mu: Real = real_in(mu, "mu", ">= 0")

    def inverse(self) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        return self.mu == other.mu if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self.mu))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.mu)!r})"


def check_kind(f: object, *kinds: type, name: str = "f") -> None:
    """Refuse what is none of some kinds of trade-off functions."""
    if not isinstance(f, kinds):
        accepted = " or ".join(kind.__name__ for kind in kinds)
        raise InvalidInput(f"{name}: {type(f).__name__} is not accepted; must be {accepted}")


def level_in(alpha: RealLike, name: str = "alpha") -> Number:
    """The exact number ``alpha`` if it lies in ``[0, 1]``."""
    value = number(alpha, name)
    if compare(value, 0) < 0 or compare(value, 1) > 0:
        raise InvalidInput(f"{name}: {shorten(str(alpha))} is not accepted; must be >= 0 and <= 1")
    return value
