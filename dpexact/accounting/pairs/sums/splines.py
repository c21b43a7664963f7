r"""The law of losses of Laplace noises and finite laws together: knots, and polynomials between.

Of each of them :math:`Q(dl) = e^{-l/2} \nu(dl)`, with :math:`\nu` a sum of atoms and, for Laplace
noise, the constant :math:`1/(2N)` between its ends. So :math:`\nu` of the sum is a convolution of
these: with ``J`` for integration from the left, products of sums of ``loss -> polynomial in J``
(``docs/theory/contour.md``, section 12).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from flint import arb, arb_poly, fmpz

from dpexact.accounting.pairs.laplace import Laplace, TruncatedLaplace
from dpexact.accounting.pairs.pair import Factors, Pair
from dpexact.balls import ball, current, precision
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import ZERO, Real

#: Most knots, most coefficients of as many polynomials as there are, and most bits by which these
#: may be known less well than what they consist of.
_MOST_KNOTS, _MOST_COEFFICIENTS = 200, 2_000
_MOST_BITS: Final = 1_500
_FIRST_BITS: Final = 64
#: Splines of precisions up to the next multiple are one.
_STRIDE: Final = 64
#: Cells of all pieces together, about, and of each.
_CELLS, _LEAST_CELLS = 64, 4


class Piece(NamedTuple):
    """Between two knots ``nu`` has the density ``density(x)`` at ``middle + half x``."""

    middle: arb
    half: arb
    density: arb_poly

    def halves(self) -> list[Piece]:
        """The lower and the upper one."""
        half = self.half / 2
        both = ((self.middle + side * half, arb_poly([side * 0.5, 0.5])) for side in (-1, 1))
        return [Piece(middle, half, self.density(inner)) for middle, inner in both]


class Cell(NamedTuple):
    """A part of a piece: the density at its ends, the most of it, and how much it varies."""

    low: arb
    high: arb
    first: arb
    last: arb
    most: arb
    varies: arb


class Spline(NamedTuple):
    """Knots from below, masses under ``nu`` there, and what lies between them, in cells too."""

    knots: list[arb]
    atoms: list[arb]
    pieces: list[Piece]
    cells: list[Cell]


def spline(laws: Factors) -> Spline:
    """Of all laws, each as often as it runs, to about the current precision.

    Raises:
        UnsupportedMechanism: of too many pieces, or knots that cannot be told apart.
    """
    return _spline(tuple(laws), -(-current() // _STRIDE) * _STRIDE)


@lru_cache(maxsize=16)
def _spline(laws: Factors, bits: int) -> Spline:
    more = _FIRST_BITS
    while True:
        with precision(bits + more):
            found = _pieces(_convolved(laws))
        poor = (piece.density(arb(0)).rel_accuracy_bits() < bits for piece in found.pieces)
        # proposes: how many bits are worth their price; where nothing has mass none are enough
        if more > _MOST_BITS or not any(poor):
            return found
        more *= 2


def _convolved(laws: Factors) -> dict[Real, arb_poly]:
    """At each knot a polynomial in ``J``."""
    found = {ZERO: arb_poly([1])}
    for pair, count in laws:
        terms = _terms(pair)
        if len(terms) == 1:
            ((loss, term),) = terms
            terms, count = [(count * loss, term**count)], 1
        # proposes: what is too much work, here and below
        if count > _MOST_KNOTS:
            raise UnsupportedMechanism("a density of too many pieces")
        for _ in range(count):
            wider: dict[Real, arb_poly] = {}
            for knot, before in found.items():
                for loss, term in terms:
                    at = knot + loss
                    wider[at] = wider.get(at, arb_poly()) + before * term
            # proposes: likewise
            longest = max(map(len, wider.values()))
            if len(wider) > _MOST_KNOTS or len(wider) * longest > _MOST_COEFFICIENTS:
                raise UnsupportedMechanism("a density of too many pieces")
            found = wider
    return found


def _terms(pair: Pair) -> list[tuple[Real, arb_poly]]:
    if isinstance(pair, Laplace | TruncatedLaplace):
        (width, ends), norm = pair.sizes(), pair._balls()[2]
        atom, rise = ball(ends) / norm, 1 / (2 * norm)
        return [(-width, arb_poly([atom, rise])), (width, arb_poly([atom, -rise]))]
    both = [x for x in pair.outcomes() if x.p.fraction != 0 and x.q.fraction != 0]
    # proposes: what is too much work
    if len(both) > _MOST_KNOTS:
        raise UnsupportedMechanism("a density of too many pieces")
    return [(x.loss, arb_poly([(ball(x.p) * ball(x.q)).sqrt()])) for x in both]


def _pieces(convolved: dict[Real, arb_poly]) -> Spline:
    places = [(ball(loss), term) for loss, term in convolved.items()]
    # proposes: the order, which balls confirm
    places.sort(key=lambda place: float(place[0].mid()))
    knots, atoms, pieces = [x for x, _ in places], [], []
    running = arb_poly()
    for k, (_, term) in enumerate(places):
        first, *powers = term.coeffs() or [arb(0)]
        atoms.append(first)
        # the m-th integral of an atom is a power over a factorial
        running += arb_poly([x / fmpz.fac_ui(m) for m, x in enumerate(powers)])
        if k + 1 < len(knots):
            width = knots[k + 1] - knots[k]
            # of balls
            if not width > 0:
                raise UnsupportedMechanism("knots that cannot be told apart")
            half = width / 2
            pieces.append(Piece(knots[k] + half, half, running(arb_poly([half, half]))))
            running = running(arb_poly([width, 1]))
    each = max(_LEAST_CELLS, _CELLS // len(pieces))
    return Spline(knots, atoms, pieces, [x for piece in pieces for x in _cells(piece, each)])


def _cells(piece: Piece, count: int) -> Iterator[Cell]:
    """By the moduli of the coefficients in each."""
    for k in range(count):
        low, high = (arb(2 * x - count) / count for x in (k, k + 1))
        value, *others = piece.density(arb_poly([(low + high) / 2, (high - low) / 2])).coeffs()
        rest = sum(map(abs, others), arb(0))
        start, end = (piece.middle + piece.half * x for x in (low, high))
        first, last = (abs(piece.density(x)) for x in (low, high))
        yield Cell(start, end, first, last, abs(value) + rest, 2 * rest)
