"""One rule for all nodes of a box against the rule of each, against Euler, and poor rules."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from flint import acb, arb

from dpexact.accounting.pairs.clouds import common_rule
from dpexact.accounting.pairs.clouds.common_rule import Nodes, Placing, Rule
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.sums.mixture_sums import Integrand, positive_sum
from dpexact.balls import ball, precision
from dpexact.reals import rational


class Some:
    """Random nodes of one box and their pairs."""

    def __init__(
        self, seed: int, noises: tuple[float, float], c: float, *, removes: bool, many: int = 5
    ) -> None:
        random = Random(seed)
        self.c, self.removes = c, removes
        self.noises = [rational(Fraction(random.uniform(*noises))) for _ in range(many)]
        self.rates = [rational(Fraction(10 ** random.uniform(-4, -2))) for _ in range(many)]
        self.rows = sorted((random.randint(1, many) for _ in range(many)), reverse=True)
        single = remove if removes else add
        self.places = [
            (q, sigma)
            for q, row in zip(self.rates, self.rows, strict=True)
            for sigma in self.noises[:row]
        ]
        self.pairs = [single(sigma, q) for q, sigma in self.places]

    def nodes(self, moment: arb | None = None) -> Nodes:
        """With a bound on the moments, which is found here by asking all."""
        power = arb(self.c) + 1 if self.removes else -arb(self.c)
        if moment is None:
            moment = arb(1)
            for pair in self.pairs:
                moment = arb.max(moment, pair.moment(self.c, 20.0).upper())
        return Nodes(self.rates, self.noises, self.rows, power, moment)


KINDS = [
    ((0.6, 1.34), 2.0, 0.22, 39),
    ((1.0, 1.4), 6.5, 1.0, 90),
    ((0.6, 3.0), 0.5, 0.05, 20),
    ((1.5, 40.0), 8.0, 0.5, 60),
    ((0.7, 0.7), 0.1, 2.0, 7),
]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("noises", "c", "step", "count"), KINDS)
def test_moments_and_moduli_are_those_of_each_node(
    noises: tuple[float, float], c: float, step: float, count: int, removes: bool
) -> None:
    some, u, angle = Some(count, noises, c, removes=removes), step * count, 0.5 / noises[1]
    with precision(80):
        moments = some.nodes().moduli(0.0, 0.0, 25.0)
        moduli = some.nodes().moduli(u, angle, 25.0)
        rows = zip(moments, moduli, some.pairs, some.places, strict=True)
        for [moment], [modulus], pair, (_, sigma) in rows:
            exact = pair.moment(c, 30.0)
            assert moment.overlaps(exact)
            assert abs(moment - exact) < 1e-9
            shift = angle * float(ball(sigma).mid())
            rule = pair._shape.positive(c, 40.0, shift)
            total, tail, strip = positive_sum(Integrand(*pair.shifts, c), rule, u)
            other = (total - strip * exact).union(total + tail + strip * exact)
            # the height of the line is rounded there
            assert modulus.overlaps(other * arb(1, 1e-12))
            assert modulus.rad() < 1e-9


def test_order_one_is_euler() -> None:
    """``E[(1 + q (e^w - 1))^2] = 1 + q^2 (e^{1/v} - 1)``."""
    some = Some(3, (0.6, 3.0), 1.0, removes=True)
    with precision(200):
        for [found], (q, sigma) in zip(
            some.nodes().moduli(0.0, 0.0, 90.0), some.places, strict=True
        ):
            noise, rate = ball(sigma), ball(q)
            exact = 1 + rate * rate * (1 / (noise * noise)).expm1()
            assert found.contains(exact)
            assert found.rad() < 1e-37


def test_a_rate_and_a_noise_that_are_no_floats() -> None:
    """Integers of more bits than the precision has are known as well."""
    q, sigma = rational(Fraction(1, 500)), rational(Fraction(4, 3))
    with precision(60):
        nodes = Nodes([q], [sigma], [1], arb(3), arb(2))
        [[found]] = nodes.moduli(0.0, 0.0, 40.0)
        assert found.overlaps(remove(sigma, q).moment(2.0, 45.0))


# --- poor rules: each error term alone is most of what they are off -------------------------------

Q = Fraction(1, 100)


def poor(monkeypatch: pytest.MonkeyPatch, rule: Rule, power: float) -> list[arb]:
    """``[found, exact]`` of one node at one order, by a poor rule."""
    monkeypatch.setattr(Placing, "positive", lambda *_: rule)
    q, sigma = rational(Q), rational(1)
    pair = remove(sigma, q) if power > 0 else add(sigma, q)
    order = power - 1 if power > 0 else -power
    moment = pair.moment(order, 60.0)
    nodes = Nodes([q], [sigma], [1], arb(power), moment.upper())
    [[found]] = nodes.moduli(0.0, 0.0, 60.0)
    return [found, moment]


@pytest.mark.parametrize(
    "rule",
    [
        # wide steps, ends within the bulk on either side
        Rule(0.0, 3.0, 3.0, 3.0, -20, 30),
        Rule(0.0, 3.0, 3.0, 0.25, -10, 200),
        Rule(0.0, 3.0, 3.0, 0.25, -200, 15),
    ],
)
@pytest.mark.parametrize("power", [3.0, -2.0])
def test_poor_rules_say_how_poor_they_are(
    monkeypatch: pytest.MonkeyPatch, rule: Rule, power: float
) -> None:
    with precision(150):
        found, exact = poor(monkeypatch, rule, power)
        assert found.overlaps(exact)
        assert found.rad() > 1e-12


def test_the_integrand_grows_as_is_said() -> None:
    """Where both parts of ``A`` are alike its modulus falls by the cosine."""
    q, v, height, power = arb(0.01), arb(2), arb(2.5), arb(-3)
    with precision(100):
        w = acb(((1 - q) / q).log(), height)

        def modulus(place: acb) -> arb:
            a = 1 + q * (place.exp() - 1)
            return abs(common_rule._density(v, place)) * abs(a) ** power

        ratio = modulus(w) / modulus(acb(w.real))
        assert common_rule.growth(v, power, height).overlaps(ratio)


@pytest.mark.parametrize(
    ("rate", "power", "first", "last"),
    [("0.9", -2, -12, 80), ("0.01", -2, -80, 12), ("0.01", 3, -12, 80), ("0.01", 3, -80, 32)],
)
def test_what_is_beyond_the_ends_is_bounded(rate: str, power: int, first: int, last: int) -> None:
    q, v, spacing = rational(Fraction(rate)), arb(1), arb(0.25)
    with precision(100):
        nodes = Nodes([q], [rational(1)], [1], arb(power), arb(1))
        bound = nodes._beyond(v, Rule(0.0, 1.0, 1.0, 0.25, first, last))
        scale = spacing * (v / (2 * arb.pi())).sqrt()
        outside = [*range(first - 200, first), *range(last + 1, last + 200)]
        exact = arb(0)
        for place in (j * spacing for j in outside):
            a = 1 + ball(q) * place.expm1()
            exact += scale * common_rule._density(v, acb(place)).real * a**power
        assert exact <= bound
        assert exact > bound / 20


def test_moduli_far_up_are_refused_where_they_need_not_fall() -> None:
    some = Some(3, (0.6, 3.0), 1.0, removes=True)
    rule = Rule(1.5, 1.6, 1.6, 0.25, -100, 100)
    with pytest.MonkeyPatch.context() as patch, precision(100):
        patch.setattr(Placing, "positive", lambda *_: rule)
        with pytest.raises(ValueError, match="not admissible"):
            some.nodes().moduli(1.0, 1.5, 20.0)


def test_rates_that_are_none_are_refused() -> None:
    with precision(60), pytest.raises(ValueError, match="between 0 and 1"):
        Nodes([rational(1)], [rational(1)], [1], arb(2), arb(2))


def test_noises_that_differ_much_have_rules_of_their_own() -> None:
    assert common_rule._alike([1.0, 30.0, 2.0, 0.9, 60.0]) == [[0, 2, 3], [1, 4]]
