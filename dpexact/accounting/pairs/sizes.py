r"""How large the moments of one pair are at very many equally spaced heights, in floats.

What floats lose of a sum of exponentials is proved in ``docs/theory/atoms.md``, section 4.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.pairs.response_sums import turned
from dpexact.balls import precision

#: Most heights and most outcomes.
_MAX_HEIGHTS: Final = 1 << 22
_MAX_OUTCOMES: Final = 1 << 12
#: What floats lose of all terms together, for as many heights and outcomes.
_FLOAT_ERROR: Final = 2.0**-30
#: For angles of many turns.
_BITS: Final = 192
_ACCURACY: Final = 30.0


class Sizes:
    """Upper bounds on ``|M(c + iu)|`` over the least value of ``level``, for heights to ``top``.

    Raises:
        TooExpensive: the moments are beyond floats.
    """

    def __init__(self, pair: Pair, c: float, top: float, level: arb) -> None:
        with precision(_BITS):
            terms, error = pair.exponentials(c, top, _ACCURACY)
            least = level.lower()
            self._losses = [loss for _, loss in terms]
            self._weights = [weight / least for weight, _ in terms]
            self._error = (2 * error / least).upper()
            self._shares = np.array([float(weight.mid()) for weight in self._weights])
            pairs = zip(self._weights, self._shares.tolist(), strict=True)
            rounded = sum((abs(weight - arb(share)) for weight, share in pairs), arb(0))
            total = sum(self._weights, arb(0))
            lost = (rounded + self._error + arb(_FLOAT_ERROR) * (1 + total)).upper()
        # proposes: nothing; what is not known to be small is refused
        if not (least > 0 and lost < 1 and np.isfinite(self._shares).all()):
            raise TooExpensive("the moments are not known well enough to be bounded in floats")
        #: By how much the moduli of sums in floats may be too small.
        self.lost: float = float(lost) * (1 + 2.0**-40)

    def on_line(self, width: float, count: int) -> NDArray[np.float64]:
        """At the multiples of ``width`` below ``count`` times it.

        Raises:
            TooExpensive: there are too many.
        """
        # proposes: what is too much work
        if not (count <= _MAX_HEIGHTS and len(self._losses) <= _MAX_OUTCOMES):
            raise TooExpensive("too many heights to bound the moments at")
        with precision(_BITS):
            giant, baby = turned(self._losses, self._shares, arb(0), width, count)
        real = giant.real @ baby.real.T - giant.imag @ baby.imag.T
        imag = giant.real @ baby.imag.T + giant.imag @ baby.real.T
        # proposes: how many
        found: NDArray[np.float64] = np.sqrt(real**2 + imag**2).ravel()[:count] + self.lost
        return found

    def at(self, height: arb) -> arb:
        """At one height."""
        with precision(_BITS):
            pairs = zip(self._weights, self._losses, strict=True)
            total = sum((acb(0, height * z).exp() * w for w, z in pairs), acb(0))
            return (abs(total) + self._error).upper()


class Look(NamedTuple):
    """One of the pairs that are looked at: how often, its sizes, and a bound on its slope."""

    times: int
    sizes: Sizes
    slope: arb
    line: NDArray[np.float64]


class Looks(NamedTuple):
    """All of them on multiples of a width, to a height."""

    top: float
    width: float
    nodes: int
    pairs: list[Look]
