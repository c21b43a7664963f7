"""Calibration: the extreme value of one parameter for which a mechanism meets a target.

Privacy is monotone in every parameter accepted here (``docs/theory/calibration.md`` has the proofs,
which rest on ``docs/theory/dominating-pairs.md``), so two certified evaluations on different sides
of the target bracket it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpexact import balls
from dpexact.accounting.bracket import FARTHEST, Bracket
from dpexact.accounting.composition import Composition
from dpexact.accounting.guess import saddle_gap
from dpexact.accounting.queries import delta_answer
from dpexact.accounting.standing import has_permuted
from dpexact.accounting.targets import Target, target_of
from dpexact.answers import delivered
from dpexact.arguments import MAX_COUNT, Direction, digits_in, direction_in
from dpexact.conversion import RealLike
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson, base
from dpexact.mechanisms.grammar import parse_template
from dpexact.mechanisms.template import TIMES, Template
from dpexact.reals import rational
from dpexact.ternary import Ternary

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)

#: Float evaluations for a first guess, and the gap with which it is near enough.
_GUESSES: Final = 40
#: Digits with which it is decided at most whether the most private value meets the target.
_EDGE_DIGITS: Final = 400
_NEAR: Final = 0.05


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of a parameter in which privacy is monotone.

    ``least``: whether the smallest value is sought (more of it is more private). ``from_zero``:
    whether 0 is a value. ``up_to_one``: whether 1 is the largest value. ``on_outputs``: whether
    the more private mechanism post-processes outputs of the other on the same data, not only its
    dominating pair. ``start``: where a search may begin.
    """

    least: bool = False
    integer: bool = False
    from_zero: bool = False
    up_to_one: bool = False
    on_outputs: bool = False
    start: Fraction = _ONE


_NOISE: Final = Parameter(least=True, on_outputs=True)
_GUARANTEE: Final = Parameter(from_zero=True)
_SHIFT: Final = Parameter(integer=True)

#: Every parameter for which monotonicity is proved, by the mechanism that has it.
PARAMETERS: Final[dict[tuple[str, str], Parameter]] = {
    ("gaussian", "sigma"): _NOISE,
    ("gaussian", "sensitivity"): Parameter(on_outputs=True),
    ("laplace", "scale"): _NOISE,
    ("laplace", "sensitivity"): Parameter(on_outputs=True),
    ("discrete_laplace", "scale"): _NOISE,
    ("discrete_laplace", "sensitivity"): _SHIFT,
    ("discrete_gaussian", "sensitivity"): _SHIFT,
    ("staircase", "eps"): Parameter(),
    ("pure_dp", "eps"): _GUARANTEE,
    ("approx_dp", "eps"): _GUARANTEE,
    ("bounded_range", "eps"): _GUARANTEE,
    ("randomized_response", "eps"): _GUARANTEE,
    ("approx_dp", "delta"): Parameter(from_zero=True, up_to_one=True, start=Fraction(1, 10**6)),
    ("gdp", "mu"): _GUARANTEE,
    ("zcdp", "rho"): _GUARANTEE,
    ("poisson", "q"): Parameter(from_zero=True, up_to_one=True, start=Fraction(1, 100)),
    ("group", "k"): _SHIFT,
    ("gaussian_mixture", "sigma"): _NOISE,
    ("", TIMES): Parameter(integer=True, on_outputs=True, start=Fraction(1000)),
}

#: Why others are refused, where more can be said than that no theorem orders them.
REFUSED: Final[dict[tuple[str, str], str]] = {
    ("discrete_gaussian", "sigma"): (
        "privacy is not monotone in sigma of discrete_gaussian: delta at epsilon = 2 is 0.10477 "
        "at sigma = 0.5 and 0.15330 at sigma = 0.65; calibrate gaussian, or rho of zcdp"
    ),
    ("staircase", "gamma"): (
        "privacy is not monotone in gamma of staircase: delta at epsilon = 0.5 falls and rises"
    ),
    ("staircase", "sensitivity"): "the sensitivity of staircase has no influence",
}


def calibrate(
    template: Template | str,
    epsilon: RealLike | None = None,
    delta: RealLike | None = None,
    digits: int = 6,
    direction: str = "both",
    *,
    advantage: RealLike | None = None,
    alpha: RealLike | None = None,
    beta: RealLike | None = None,
    gdp: RealLike | None = None,
    order: RealLike | None = None,
    renyi: RealLike | None = None,
) -> Enclosure:
    """Enclose the extreme value of the unknown ``?`` for which a mechanism meets a target.

    The target is one of: ``epsilon`` and ``delta``, to be (epsilon, delta)-DP; ``advantage``, a
    bound on the total variation, which is the advantage of membership inference; ``alpha`` and
    ``beta``, a type II error of at least ``beta`` for every test of type I error ``alpha``;
    ``gdp``, to be mu-GDP (Gaussian noise without samples); ``order`` and ``renyi``, a bound on the
    Rényi divergence of that order.

    Noise (``sigma`` of gaussian, ``scale``): the infimum of the values that meet the target. Every
    other parameter, and the repetition count: the supremum. The *safe* end of a bracket, which
    certainly meets the target, is ``upper`` for noise and ``lower`` otherwise; the other end
    certainly does not meet it, or is the end of the domain. Both are short decimals.

    A repetition count, like the sensitivity of discrete noise, is exact: the largest that certainly
    meets the target, while the next certainly does not. So are extremes at the edge of a domain:
    noise is 0 and a repetition count infinite when every value meets the target, noise is infinite
    when no finite noise does.

    Args:
        template: text of a mechanism with one ``?`` in place of a number or a repetition count,
            or what was read from it.
        epsilon: any exact real.
        delta: any exact real in ``[0, 1]``.
        digits: significant digits of the bracket.
        direction: neighbours by ``remove``, ``add`` or ``both`` (the larger).
        advantage, alpha, beta, gdp, order, renyi: exact reals, in place of epsilon and delta.

    Raises:
        InvalidInput: an argument out of its domain; or not even the most private value meets the
            target, though the largest is sought.
        UnsupportedMechanism: privacy is not proved monotone in the unknown, or no method accounts
            for the mechanism.
        PrecisionNotReached: the quantity could not be told from the target where it mattered, or
            the extreme lies out of range; carries the bracket that was certified.

    >>> print(calibrate("gaussian(?)", 1, "1e-5").shown(6))
    3.73063...
    >>> print(calibrate("poisson(gaussian(1), 1/100)^?", 5, "1e-6"))
    5536
    >>> print(calibrate("gaussian(?)", advantage="1/10").shown(6))
    3.97894...
    >>> print(calibrate("gaussian(2)^?", gdp=3), calibrate("gaussian(?)", order=2, renyi=1).safe())
    36 1
    """
    blank = template if isinstance(template, Template) else parse_template(template)
    parameter = parameter_of(blank)
    others = {"advantage": advantage, "alpha": alpha, "beta": beta}
    others |= {"gdp": gdp, "order": order, "renyi": renyi}
    target = target_of(epsilon, delta, others)
    wanted = digits_in(digits)
    way = direction_in(direction)
    found = _Calibration(blank, parameter, target, wanted, way).run()
    return delivered(found.relied_on("upper" if parameter.least else "lower"), wanted)


def parameter_of(template: Template) -> Parameter:
    """What is known of the unknown of ``template``.

    Raises:
        UnsupportedMechanism: nothing is, so that no bracket can be certified.
    """
    if has_permuted(template.mechanism):
        raise UnsupportedMechanism(
            "calibrate: shuffled batches are known from below only, which no target is certain by"
        )
    parameter = PARAMETERS.get((template.owner, template.parameter))
    if reason := REFUSED.get((template.owner, template.parameter)):
        raise UnsupportedMechanism(f"calibrate: {reason}")
    if parameter is None:
        of = f"{template.parameter} of {template.owner}"
        raise UnsupportedMechanism(f"calibrate: privacy is not proved monotone in {of}")
    if FixedSize.name in template.within and not parameter.on_outputs:
        raise UnsupportedMechanism(
            f"calibrate: privacy is not proved monotone in {template.parameter} within fixed_size"
        )
    return parameter


class _Calibration:
    """One question, and the evaluations that answer it."""

    def __init__(
        self,
        template: Template,
        parameter: Parameter,
        aim: Target,
        digits: int,
        direction: Direction,
    ) -> None:
        self.template = template
        self.parameter = parameter
        self.aim = aim
        self.digits = digits
        self.direction = direction
        self.method = ""
        self.edge_meets = False
        target = aim.bound
        if target.fraction is not None:
            self.target = Enclosure.exact(target.fraction)
        else:
            self.target = balls.certify(
                lambda: balls.ball(target),
                2 * digits + _EDGE_DIGITS,
                lowest=_ZERO,
                highest=aim.most,
            )

    def run(self) -> Enclosure:
        """The extreme value."""
        parameter = self.parameter
        if self._all_meet():
            extreme: Bound = _ONE if parameter.up_to_one else math.inf
            return Enclosure.exact(_ZERO if parameter.least else extreme, self.method)
        edge = self._most_private()
        if edge is not None:
            return edge
        low, high = _ZERO, _ONE if parameter.up_to_one else math.inf
        bracket = self._bracket(low, high, self.digits)
        start, bracket.slope = self._guess(self._bracket(low, high, 1))
        return self._answer(bracket, self._search(bracket, start))

    # --- the edges of the domain ------------------------------------------------------------------

    def _all_meet(self) -> bool:
        """Whether every value meets the target, certainly."""
        if self.aim.most is not None and self.target.lower >= self.aim.most:
            self.method = f"{self.aim.name} is at most {self.aim.most}"
            return True
        try:
            if self.parameter.up_to_one:
                return self._meets(self.template.fill(1))
            if self._meets(self.template.with_owner(base.ApproxDP(rational(0), rational(1)))):
                return True
            if self.template.parameter != TIMES:
                return False
            alone = delta_answer(self.template.hole.fill(1), rational(0), 1, self.direction)
            return alone.upper == 0 and self._meets(self.template.fill(1))
        except UnsupportedMechanism:
            return False  # the search finds what this would have told

    def _most_private(self) -> Enclosure | None:
        """The answer if not even the most private value, or only that, meets the target."""
        parameter, template = self.parameter, self.template
        most = (
            template.fill(0) if parameter.from_zero else template.with_owner(base.GDP(rational(0)))
        )
        for digits in (self.digits + 3, self.digits + _EDGE_DIGITS):
            found, meets = self._evaluate(most, digits)
            if meets is not Ternary.UNDECIDED:
                break
        extreme = Enclosure.exact(math.inf if parameter.least else _ZERO, found.method)
        if meets is Ternary.UNDECIDED:
            return None
        self.edge_meets = meets is Ternary.HOLDS
        if not self.edge_meets:
            if parameter.least:
                return extreme
            raise InvalidInput(
                f"{self.aim.name}: no {template.parameter} meets the target; "
                f"without any, it is {found}"
            )
        equal = found.is_exact and found == self.target and self.aim.rises
        return extreme if equal and self._loses_without_bound() else None

    def _loses_without_bound(self) -> bool:
        """Whether any value but the most private one makes ``delta`` certainly larger."""
        try:
            owner = Composition.of(self.template.hole.fill(1).steps().items())
        except UnsupportedMechanism:  # no pair: nothing is known
            return False
        sampled = Poisson.name in self.template.within or owner.samples
        if sampled and not self.aim.strict:
            whole = Composition.of(self.template.fill(1).steps().items())
            if self.aim.epsilon is None or not whole.is_symmetric:
                return False
        return owner.is_unbounded and not (sampled and self.direction == "add")

    def _guess(self, bracket: Bracket) -> tuple[Fraction, float | None]:
        """Where to start: about the answer and the slope of the gap there, or the default.

        Proposes: the first value of a search that certifies every value it uses.
        """
        value, target, epsilon = self.parameter.start, self.target.upper, self.aim.epsilon
        if target <= 0 or epsilon is None:
            return value, None
        for _ in range(_GUESSES):
            if not self._in_range(value):
                break
            mechanism = self.template.fill(value)
            gap = saddle_gap(mechanism, epsilon, Fraction(target), self.direction)
            if gap is None:
                break
            bracket.note(value, gap <= 0, Fraction(gap) if abs(gap) < math.inf else None)
            if abs(gap) < _NEAR or bracket.is_narrow:
                return value, bracket.local_slope()
            value = bracket.proposals()[0]
        return self.parameter.start, None

    # --- the search -------------------------------------------------------------------------------

    def _bracket(self, low: Bound, high: Bound, digits: int) -> Bracket:
        rising = not self.parameter.least
        return Bracket(low, high, rising=rising, integer=self.parameter.integer, digits=digits)

    def _search(self, bracket: Bracket, start: Fraction) -> str:
        """Narrow ``bracket`` by certified evaluations only; what ended that early, or no text."""
        pending = [start]
        budget = 100 + 8 * self.digits
        while not bracket.is_narrow:
            value = pending.pop(0) if pending else None
            if value is None:
                pending = bracket.proposals()
                continue
            if self.parameter.integer and value > MAX_COUNT > bracket.low:
                value = Fraction(MAX_COUNT)
            if budget == 0 or not self._in_range(value):
                return "too many evaluations" if budget == 0 else "it lies out of range"
            budget -= 1
            if not self._look(bracket, value) and not bracket.retreat():
                if not self._surround(bracket, value):
                    return f"{self.aim.name} cannot be told apart from the target"
                pending = []
        return ""

    def _look(self, bracket: Bracket, value: Fraction) -> bool:
        """Evaluate at ``value`` and note the side; False if that is undecided."""
        digits = self.digits + 3
        if self.parameter.integer:
            digits = max(6, len(str(value)) + 4)
        last = 8 * digits + 64
        while True:
            found, meets = self._evaluate(self.template.fill(value), digits)
            if meets is not Ternary.UNDECIDED:
                bracket.note(value, meets is Ternary.HOLDS, self._gap(found))
                return True
            if digits > last or found.digits < digits:
                return False
            digits *= 2

    def _surround(self, bracket: Bracket, value: Fraction) -> bool:
        """Decide on both sides of ``value``, where ``delta`` was too close to the target.

        False if that was no help.
        """
        for side in (-1, 1):
            for widening in range(self.digits + 4):
                near = bracket.beside(value, side, widening)
                if near is None or not self._in_range(near) or self._look(bracket, near):
                    break
        return bracket.is_narrow or not bracket.low < value < bracket.high

    def _in_range(self, value: Fraction) -> bool:
        if self.parameter.integer:
            return 1 <= value <= MAX_COUNT
        return 1 / FARTHEST <= value <= FARTHEST

    def _answer(self, bracket: Bracket, reason: str) -> Enclosure:
        """The extreme value: for an integer the largest that meets the target."""
        if self.parameter.integer and not reason and bracket.low == 0 and not self.edge_meets:
            reason = f"{self.aim.name} without any cannot be told from the target"
        found = bracket.enclosure().labelled(self.method)
        if self.parameter.integer and bracket.high < math.inf:
            top = bracket.low if not reason else max(bracket.high - 1, bracket.low + 1)
            found = Enclosure(bracket.low, top, self.method)
        return found.short(
            f"{self.template.parameter} was not determined: {reason}" if reason else ""
        )

    # --- evaluations ------------------------------------------------------------------------------

    def _evaluate(self, mechanism: Mechanism, digits: int) -> tuple[Enclosure, Ternary]:
        """The quantity of ``mechanism``, and whether it certainly is, or is not, in the target."""
        found = self.aim.ask(mechanism, digits, self.direction)
        meets = found.at_most(self.target)
        if meets is Ternary.HOLDS:
            self.method = found.method
        return found, meets

    def _meets(self, mechanism: Mechanism) -> bool:
        """Whether ``mechanism`` certainly meets the target."""
        return self._evaluate(mechanism, self.digits + 3)[1] is Ternary.HOLDS

    def _gap(self, found: Enclosure) -> Fraction | None:
        """About ``log(quantity/target)``; None if infinite."""
        if found.upper == math.inf:
            return None
        middle = (Fraction(found.lower) + Fraction(found.upper)) / 2
        if middle <= 0 or self.target.upper <= 0:
            return None
        with balls.precision(balls.bits_for(self.digits + 10)):
            ratio = balls.ball(middle) / balls.ball(Fraction(self.target.upper))
            return balls.midpoint(ratio.log())
