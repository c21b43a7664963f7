"""Many sampled Gaussians that differ little, as one pair: few of them, with weights.

The logarithm of a moment is analytic in rate and noise, so its sum over the steps is a weighted sum
over a few nodes: ``docs/theory/logs.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final, TypeAlias, TypeVar

from flint import acb, acb_mat, arb, arb_mat

from dpexact.accounting.pairs.cubature import Cloud, Degrees
from dpexact.accounting.pairs.log_bounds import Modulus, Power, Reach, logarithm_bound
from dpexact.accounting.pairs.mixture import GaussianMixtures, add, remove
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive, short
from dpexact.balls import approximate, ball, current
from dpexact.reals import Real, rational

Ellipses: TypeAlias = tuple[float, float]
"""Logarithms of the parameters of two ellipses, of rates and of noises."""

_Place: TypeAlias = tuple[Real, Real]
_Bounds: TypeAlias = "dict[tuple[float, float], arb | None]"
_T = TypeVar("_T")

#: Fewer steps in a cloud are not worth it.
FEWEST: Final = 200
#: Likewise where all together run no more often: each then matters too much; narrow ones less.
FEWEST_RUNS: Final = 1250
#: The sum of the moduli of the weights is about this many times the number of steps.
HEAVY: Final = 8.0
#: The widest cloud, in halves of intervals of logarithms of rate and of noise.
_HALVES: Final = (0.7, 0.3)
_STARTS: Final = (1.2, 1.2)
_NARROWEST: Final = 0.02
_MOST_NODES: Final = 4000
#: Most degrees of one variable; weights cost the third power of it.
_MOST_DEGREES: Final = 250
_PARTS: Final = (0.2, 0.35, 0.5, 0.62, 0.75, 0.87, 1 + 2**-40)
#: Beginnings of a log whose lengths differ by a lesser factor have the same degrees.
_ALIKE: Final = 2.0
#: Accuracy of bounds of decay.
_COARSE: Final = 3.0
#: How much more than at order 1 the logarithms of moments may differ.
_WORST: Final = 1.4
_BEYOND: Final = 1.2


def bundles(
    steps: Sequence[tuple[Real, Real, int]], share: float = 1.0
) -> tuple[list[Cloud], list[tuple[Real, Real, int]]]:
    """Clouds of steps ``(q, sigma, n)`` that differ little, and the steps in none of them.

    Proposes: clouds, of a ``share`` of the largest width; every step is in one or left as it is.
    """
    clouds: list[Cloud] = []
    left: list[tuple[Real, Real, int]] = []
    plain: list[tuple[tuple[float, float], tuple[Real, Real, int]]] = []
    for step in steps:
        q, sigma = approximate(step[0]), approximate(step[1])
        # floats hold a step, or it is left as it is
        if 1e-30 < q < 0.9 and 1e-3 < sigma < 1e9:
            plain.append(((math.log(q), math.log(sigma)), step))
        else:
            left.append(step)
    parts = [plain]
    while parts:
        part = parts.pop()
        inside = [step for _, step in part]
        if len(part) < FEWEST or sum(n for _, _, n in inside) < FEWEST_RUNS * share**3:
            left += inside
            continue
        ends = [(min(at), max(at)) for at in zip(*(logs for logs, _ in part), strict=True)]
        wide = [(b - a) / 2 / (share * most) for (a, b), most in zip(ends, _HALVES, strict=True)]
        if max(wide) <= 1:
            clouds.append(Cloud(inside))
            continue
        axis = wide.index(max(wide))
        middle = sum(ends[axis]) / 2
        parts.append([step for step in part if step[0][axis] <= middle])
        parts.append([step for step in part if step[0][axis] > middle])
    return clouds, left


class Rest:
    """The error of the nodes for one function: proposals of ellipses, and bounds from them."""

    def __init__(self, cloud: Cloud, function: Power | Modulus, bounds: _Bounds) -> None:
        self.cloud, self.function, self._bounds = cloud, function, bounds

    def bound(self, x: float, y: float) -> arb | None:
        """On the logarithm, where the ellipses are of parameters ``e^x`` and ``e^y``."""
        # proposes: ellipses, since any are valid; what is kept is looked up by them
        if (x, y) not in self._bounds:
            # proposes: likewise
            reach = Reach.of(self.cloud.sides, arb(x).exp(), arb(y).exp())
            self._bounds[x, y] = logarithm_bound(reach, self.function)
        # proposes: likewise
        return self._bounds[x, y]

    def error(self, degrees: Degrees, ellipses: Ellipses, weights: Sequence[arb]) -> arb:
        """Of the weighted sum over the nodes for ``degrees``."""
        x, y = ellipses
        bound = self.bound(x, y)
        assert bound is not None
        return self.cloud.rest(weights, degrees, bound, arb(x).exp(), arb(y).exp()).upper()

    def level(self, x: float, y: float, accuracy: float) -> float:
        """Proposes: down to which level degrees must reach; infinite outside of the domain."""
        found = self.bound(x, y)
        if found is None or not found > 0:
            return math.inf
        scale = float(found.log().mid()) + math.log(4 * (1 + HEAVY) * self.cloud.total)
        return max(1.0, scale + accuracy + 2)

    def best(self, accuracy: float, start: Ellipses) -> tuple[float, Ellipses]:
        """Proposes: the ellipses that need the fewest nodes, and about how many."""
        single = [side.single for side in self.cloud.sides]

        def size(x: float, y: float) -> float:
            level = self.level(x, y, accuracy)
            return (1 if single[0] else 1 + level / x) * (1 if single[1] else 1 + level / y)

        x, y = start
        least = size(x, y)
        while math.isinf(least) and x > _NARROWEST:
            x, y = 0.7 * x, 0.7 * y
            least = size(x, y)
        factor = 1.5
        while factor > 1.1 and not math.isinf(least):
            moves = [] if single[0] else [(factor, 1.0), (1 / factor, 1.0)]
            moves += [] if single[1] else [(1.0, factor), (1.0, 1 / factor)]
            tries = [(size(x * a, y * b), x * a, y * b) for a, b in moves]
            if min(tries)[0] < 0.98 * least:
                least, x, y = min(tries)
            else:
                factor **= 0.5
        return least, (x, y)


class Bundle(Pair):
    """The product of the steps ``(q, sigma)`` of a cloud: a record removed, or added."""

    def __init__(self, cloud: Cloud, *, removes: bool) -> None:
        self.cloud, self.removes = cloud, removes
        self._longer: tuple[Bundle, int] | None = None
        self._pairs: dict[_Place, GaussianMixtures] = {}
        self._kept: dict[tuple[Any, ...], Any] = {}

    def first(self, place: int) -> Bundle:
        """That of the first points of the cloud, which shares what is found at nodes."""
        found = Bundle(self.cloud.first(place), removes=self.removes)
        found._pairs, found._kept, found._longer = self._pairs, self._kept, (self, place)
        return found

    def _keep(self, find: Callable[[], _T], *key: Any) -> _T:
        """What is found once for all that share it, at one precision.

        Proposes: what is looked up; whatever is held is right for its key.
        """
        key = (*key, current())
        if key not in self._kept:
            self._kept[key] = find()
        found: _T = self._kept[key]
        return found

    def _rest(self, function: Power | Modulus, *key: Any) -> Rest:
        return Rest(self.cloud, function, self._keep(dict, type(function), *key))

    @cached_property
    def reverse(self) -> Bundle:
        if self._longer is not None:
            longer, place = self._longer
            return longer.reverse.first(place)
        return Bundle(self.cloud, removes=not self.removes)

    @property
    def decays(self) -> bool:
        """Whether there is any loss: every rate is positive."""
        return True

    def overlap(self) -> arb:
        """``prod (1 - q)``: both laws of a step hold that much of ``N(0)``."""
        return self.cloud.lengths()[0].exp()

    def largest_loss(self) -> arb | None:
        """``-sum log(1 - q)`` where a record is added."""
        return None if self.removes else -self.cloud.lengths()[0]

    # --- nodes ------------------------------------------------------------------------------------

    def _pair(self, place: _Place) -> GaussianMixtures:
        if place not in self._pairs:
            q, sigma = place
            self._pairs[place] = remove(sigma, q) if self.removes else add(sigma, q)
        return self._pairs[place]

    def _weights(self, degrees: Degrees) -> list[arb]:
        """Weights of the nodes at the current precision."""
        return self.cloud.weights(degrees, self.cloud.nodes(degrees))

    def _at_nodes(self, degrees: Degrees, ask: Callable[[_Place], _T], *key: Any) -> list[_T]:
        """What is asked at each node; those of fewer degrees are nodes of more."""
        return self._keep(
            lambda: [
                self._keep(partial(ask, place), place, *key) for place in self.cloud.nodes(degrees)
            ],
            degrees,
            *key,
        )

    def _fine(self, accuracy: float) -> float:
        """The accuracy of a node that gives the whole about ``accuracy``."""
        return accuracy + math.log(HEAVY * self.cloud.most)

    def _power(self, c: float | Real) -> arb:
        """The real part of the exponent of ``A`` [2]."""
        return 1 + ball(c) if self.removes else -ball(c)

    def _degrees(
        self, rests: Sequence[Rest], accuracies: Callable[[], Sequence[float]], *key: Any
    ) -> tuple[Degrees, list[Ellipses]]:
        """Proposes: what :meth:`_found` says, once for beginnings that are about as long."""
        size = math.floor(math.log(self.cloud.total, _ALIKE))
        return self._keep(lambda: self._found(rests, accuracies()), size, *key)

    def _found(
        self, rests: Sequence[Rest], accuracies: Sequence[float]
    ) -> tuple[Degrees, list[Ellipses]]:
        """Proposes: degrees and ellipses with which each function has about its accuracy.

        Raises:
            TooExpensive: there are none.
        """
        start, found = _STARTS, []
        for rest, accuracy in zip(rests, accuracies, strict=True):
            size, start = rest.best(accuracy, start)
            if not size < _MOST_NODES:
                raise TooExpensive("steps that differ too much for a bundle")
            found.append((size, start, rest.level(*start, accuracy)))
        _, (x, y), level = max(found)
        first, second = self.cloud.sides
        rates = math.inf if first.single else x, math.inf if second.single else y
        degrees = Degrees.down_to(level, *rates)
        heavy = [arb(HEAVY * self.cloud.total)]
        for rest, accuracy, (_, at, _) in zip(rests, accuracies, found, strict=True):
            while rest.error(degrees, at, heavy) > arb(-accuracy).exp():
                level += 0.5
                degrees = Degrees.down_to(level, *rates)
        if max(len(degrees.rows), degrees.rows[0]) > _MOST_DEGREES:
            raise TooExpensive("steps that differ too much for a bundle")
        return degrees, [at for _, at, _ in found]

    # --- moments ----------------------------------------------------------------------------------

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Moments of the nodes to the powers of their weights."""
        rest = self._rest(Power(self._power(c), 0.0), c, 0.0)
        degrees, [at] = self._degrees([rest], lambda: [accuracy], "moment", c, accuracy)
        weights, fine = self._weights(degrees), self._fine(accuracy)

        def logarithm(place: _Place) -> arb:
            return self._pair(place).moment(c, fine).log()

        total = _dot(weights, self._at_nodes(degrees, logarithm, c, fine))
        return (total + arb(0, rest.error(degrees, at, weights))).exp()

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Likewise; the error is bounded on parts of the line, the lower ones more narrowly."""
        # proposes: where parts end
        heights = [step * count * share for share in _PARTS]

        def accuracies() -> list[float]:
            """Proposes: how accurate a part need be, since what is there has decayed."""
            estimate, start = self.decay_estimate(c), self.cumulant(c).value
            falls = [0.0, *(start - estimate(height) for height in heights[:-1])]
            return [max(1.0, accuracy - max(0.0, fall)) for fall in falls]

        # proposes: heights
        rests = [self._rest(Power(self._power(c), height), c, height) for height in heights]
        line = c, step, count
        degrees, ellipses = self._degrees(rests, accuracies, line, accuracy)
        weights, fine = self._weights(degrees), self._fine(accuracy)

        def logarithms(place: _Place) -> list[acb]:
            return [value.log() for value in self._pair(place).moments(*line, fine)]

        rows = self._at_nodes(degrees, logarithms, line, fine)
        matrix = self._keep(lambda: acb_mat(rows), "matrix", degrees, line, fine)
        sums = acb_mat(1, len(weights), weights) * matrix
        heavy = [sum((abs(weight) for weight in weights), arb(0))]
        errors = [rest.error(degrees, at, heavy) for rest, at in zip(rests, ellipses, strict=True)]
        found, part = [], 0
        for n, total in enumerate(sums.entries()):
            # proposes: floats that mean their exact values
            while not n * arb(step) <= arb(heights[part]):
                part += 1
            # proposes: the part; its height was compared by balls
            found.append((total + acb(arb(0, errors[part]), arb(0, errors[part]))).exp())
        return found

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The integrals of the moduli at the nodes, all at one angle above the axis [4]."""
        moment = self.moment(c, accuracy).upper()
        place = self._few[0][1]
        middle, sigma = self._pair(place), place[1]
        single = self.cloud.sides[1].single
        # proposes: the angle; at every node it times sigma is a float
        angle = short(middle.decay_shift(c, u) / approximate(sigma))
        # proposes: likewise
        lean = arb(angle * approximate(sigma)) / ball(sigma) if single else arb(angle)
        function = Modulus(self._power(c), u, lean)
        rest = self._rest(function, c, u, angle)
        try:
            degrees, [at] = self._degrees([rest], lambda: [_COARSE], c, u, angle)
        except TooExpensive:
            return moment
        weights, fine = self._weights(degrees), self._fine(_COARSE)
        half, slope = lean * lean / 2, function.slope
        _, rates, squares = self.cloud.lengths()

        def logarithm(place: _Place) -> arb:
            noise = ball(place[1])
            # proposes: a rule on the line of the angle; the product is exact
            value = self._pair(place).modulus(c, u, angle * approximate(place[1]), fine)
            return value.log() - noise * noise * half - ball(place[0]) * slope

        total = _dot(weights, self._at_nodes(degrees, logarithm, c, u, angle, fine))
        total += squares * half + rates * slope
        bound = (total + arb(0, rest.error(degrees, at, weights))).exp()
        # proposes: either is a bound
        return arb.min(bound.upper(), moment) if bound.is_finite() else moment

    # --- proposals --------------------------------------------------------------------------------

    @cached_property
    def _few(self) -> list[tuple[float, _Place]]:
        """Proposes: weights and nodes for floats."""
        first, second = (math.inf if side.single else 1.0 for side in self.cloud.sides)
        degrees = Degrees.down_to(3.0, first, second)
        return self.cloud.weights_about(degrees, self.cloud.nodes(degrees))

    @cached_property
    def _ends(self) -> tuple[GaussianMixtures, GaussianMixtures]:
        """Proposes: a little beyond the step that loses most, and the one in the middle."""
        if self._longer is not None:
            return self._longer[0]._ends
        q, sigma = self.cloud.sides
        places = (
            (math.exp(q.centre + _BEYOND * q.half), math.exp(sigma.centre - _BEYOND * sigma.half)),
            (math.exp(q.centre), math.exp(sigma.centre)),
        )
        most, middle = (
            self._pair((rational(Fraction(a)), rational(Fraction(b)))) for a, b in places
        )
        return most, middle

    def _spread(self, c: float) -> float:
        """Proposes: the ratio of the logarithms of their moments."""
        most, middle = self._ends
        return self._jet(most, c).value / self._jet(middle, c).value

    def _jet(self, pair: GaussianMixtures, c: float) -> Jet:
        return self._keep(partial(pair.cumulant, c), pair, c)

    def cumulant(self, c: float) -> Jet:
        """Of few nodes.

        Raises:
            TooExpensive: the steps are too different at this order.
        """
        # proposes: orders at which the steps still are alike
        if not self._spread(c) < _WORST * self._spread(1.0):
            raise TooExpensive("steps that differ too much for a bundle")
        jets = [(w, self._jet(self._pair(place), c)) for w, place in self._few]
        return Jet(*(sum(w * jet[i] for w, jet in jets) for i in range(3)))

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        ways = [
            (w, self._keep(partial(self._pair(place).decay_estimate, c), "decay", place, c))
            for w, place in self._few
        ]
        return lambda u: sum(w * way(u) for w, way in ways)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Of some hundred nodes of the cloud."""
        nodes, bits = self._pair(self._few[0][1]).line_cost(c, self._fine(accuracy))
        return 100 * nodes, bits + math.log2(HEAVY * self.cloud.total)


def _dot(weights: Sequence[arb], values: Sequence[arb]) -> arb:
    size = len(weights)
    return (arb_mat(1, size, weights) * arb_mat(size, 1, values))[0, 0]
