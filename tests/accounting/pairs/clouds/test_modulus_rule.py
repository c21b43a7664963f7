"""Integrals of moduli of many steps by one rule against each by itself, and poor rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from alike_steps import Pair, more, some
from flint import arb
from mpmath import mp, mpf

from dpexact.accounting.pairs.clouds import fixed_lines, line_rule, modulus_rule
from dpexact.accounting.pairs.clouds.common_rule import Placing, Rule
from dpexact.accounting.pairs.clouds.line_rule import still
from dpexact.accounting.pairs.clouds.modulus_rule import moduli
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import ball, precision
from dpexact.reals import rational

#: Noises, rates, the order, a height and an angle.
KINDS = [
    ((0.6, 1.34), (1e-3, 2e-2), 2.0, 9.0, 0.25),
    ((1.0, 1.4), (1e-3, 2e-2), 6.5, 40.0, 0.05),
    ((0.6, 3.0), (1e-6, 0.8), 0.5, 1.0, 0.5),
    ((1.5, 1e3), (1e-10, 0.6), 8.0, 3.0, 0.0),
]


def never(pair: Pair) -> arb:
    raise AssertionError(pair)


def integral(pair: Pair, power: float, height: float, angle: float) -> arb:
    """``Int |g_v A^t|`` at ``Im w = angle``, by quadrature."""
    with mp.workdps(30):
        q, sigma = (mpf(x.fraction.numerator) / x.fraction.denominator for x in pair)
        v = sigma * sigma

        def modulus(w: mpf) -> mpf:
            a = 1 + q * mp.expm1(mp.mpc(w, angle))
            density = mp.exp(v * (mpf(angle) ** 2 - (w + 1 / (2 * v)) ** 2) / 2)
            return density * abs(a) ** power * mp.exp(-height * mp.arg(a))

        middle = [mpf(k) / (2 * v) for k in (-1, 2 * power - 1 if power > 0 else 2 * power)]
        ends = [middle[0] - 14 / sigma, *sorted({0, *middle}), max(middle) + 14 / sigma]
        return arb(mp.nstr(mp.sqrt(v / (2 * mp.pi)) * mp.quad(modulus, sorted(ends)), 28))


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("noises", "rates", "c", "height", "angle"), KINDS)
def test_at_height_0_they_are_moments(
    noises: tuple[float, float],
    rates: tuple[float, float],
    c: float,
    height: float,
    angle: float,
    removes: bool,
) -> None:
    pairs = some(5, noises, rates)
    single = remove if removes else add
    with precision(150):
        power = arb(c) + 1 if removes else -arb(c)
        for (q, sigma), found in zip(
            pairs, moduli(pairs, power, 0.0, 0.0, 40.0, never), strict=True
        ):
            exact = single(sigma, q).moment(c, 60.0)
            assert found.overlaps(exact)
            assert found.rad() < exact / 10**16
        ways = [moduli(pairs, power, u, angle, 25.0, never) for u in (height / 2, height)]
        for (q, sigma), lower, upper in zip(pairs, *ways, strict=True):
            # what falls bounds moments there and further up
            assert upper.upper() <= lower.upper() * arb(1.000001)
            *_, value = single(sigma, q).moments(c, height / 4, 8, 40.0)
            assert abs(value).lower() <= upper.upper()


@pytest.mark.parametrize("power", [3.0, -2.0])
@pytest.mark.parametrize(("height", "angle"), [(0.0, 0.25), (6.0, 0.25), (6.0, 1.5), (20.0, 0.0)])
def test_they_are_integrals(power: float, height: float, angle: float) -> None:
    pairs = some(7, (0.8, 1.1), (1e-2, 0.3))[:3]
    with precision(100):
        found = moduli(pairs, arb(power), height, angle, 35.0, never)
        for pair, value in zip(pairs, found, strict=True):
            exact = integral(pair, power, height, angle)
            assert abs(value.mid() - exact) <= value.rad() + exact / 10**20
            assert value.rad() < exact / 10**9


def test_the_second_moment_is_euler() -> None:
    """``E[(1 + q (e^w - 1))^2] = 1 + q^2 (e^{1/v} - 1)``."""
    pairs = some(3, (0.6, 3.0), (1e-3, 0.5))
    with precision(200):
        for (q, sigma), found in zip(
            pairs, moduli(pairs, arb(2), 0.0, 0.0, 90.0, never), strict=True
        ):
            assert found.contains(1 + ball(q) ** 2 * (1 / ball(sigma) ** 2).expm1())
            assert found.rad() < 1e-37


def test_of_large_rates_and_powers_below_0_they_keep_their_digits() -> None:
    """Powers are small where these densities are large, and what is left out next to them large."""
    pairs = [(rational(q), rational(sigma)) for q, sigma in (("0.2", 13), ("0.1", 12), ("0.4", 14))]
    with precision(150):
        found = moduli(pairs, arb(-480), 0.0, 0.0, 40.0, never)
        for (q, sigma), value in zip(pairs, found, strict=True):
            exact = add(sigma, q).moment(480.0, 60.0)
            assert value.overlaps(exact)
            assert value.rad() < exact / 10**16


def test_rules_of_very_many_places_are_not_begun() -> None:
    """An angle that is far too large for this noise: of more places than there is memory for."""
    pair = rational("0.001"), rational(10**6)
    with precision(100):
        assert moduli([pair], arb("1.5"), 0.04, 0.2, 5.0, lambda _: arb(7)) == [arb(7)]


def test_below_the_real_line_nothing_falls() -> None:
    with precision(100), pytest.raises(ValueError, match="do not fall"):
        moduli([(Q, SIGMA)], arb(2), -1.0, 0.25, 20.0, never)


def test_steps_that_no_rule_has_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> list[arb]:
        raise TooExpensive("too many places")

    monkeypatch.setattr(modulus_rule, "_moduli", refused)
    pairs = some(5, (0.6, 3.0), (1e-3, 2e-2))
    assert moduli(pairs, arb(3), 0.0, 0.0, 20.0, lambda pair: ball(pair[1])) == [
        ball(sigma) for _, sigma in pairs
    ]


# --- poor rules: each error term alone is most of what they are off -------------------------------

Q, SIGMA = rational(Fraction(1, 100)), rational(1)


def by(monkeypatch: pytest.MonkeyPatch, rule: Rule, power: float, height: float) -> arb:
    """One step by a poor rule, whose places are those of ``w``."""
    moved = round(float(-still((Q, SIGMA)) + (1 / arb(99)).log()) / rule.spacing)
    rule = rule._replace(first=rule.first + moved, last=rule.last + moved)
    monkeypatch.setattr(Placing, "positive", lambda *_: rule)
    monkeypatch.setattr(line_rule, "moved", lambda rule, _: rule)
    [found] = moduli([(Q, SIGMA)], arb(power), height, rule.shift, 60.0, never)
    return found


@pytest.mark.parametrize("height", [0.0, 2.0])
@pytest.mark.parametrize("shift", [0.0, 0.75])
@pytest.mark.parametrize(
    ("top", "spacing", "first", "last"),
    [
        # wide steps, ends within the bulk on either side
        (0.75, 1.25, -30, 40),
        (0.75, 0.125, -20, 400),
        (0.75, 0.125, -400, 30),
    ],
)
@pytest.mark.parametrize("power", [3.0, -2.0])
def test_poor_rules_say_how_poor_they_are(
    monkeypatch: pytest.MonkeyPatch,
    power: float,
    top: float,
    spacing: float,
    first: int,
    last: int,
    shift: float,
    height: float,
) -> None:
    rule = Rule(shift, top, top, spacing, first, last)
    with precision(150):
        found = by(monkeypatch, rule, power, height)
        exact = integral((Q, SIGMA), power, height, shift)
        assert found.overlaps(exact)
        assert found.rad() > 1e-12


@pytest.mark.parametrize(
    "rule",
    [
        Rule(1.5, 1.6, 1.6, 0.25, -100, 100),
        Rule(1.6, 1.55, 1.55, 0.25, -100, 100),
        Rule(0.0, 3.2, 3.2, 0.25, -100, 100),
        Rule(-0.5, 0.4, 0.4, 0.25, -100, 100),
    ],
)
def test_strips_beyond_the_domain_are_refused(monkeypatch: pytest.MonkeyPatch, rule: Rule) -> None:
    with precision(100), pytest.raises(ValueError, match="not admissible"):
        by(monkeypatch, rule, 3.0, 1.0)


def test_a_rule_that_is_no_bound_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with precision(100), pytest.raises(AssertionError):
        by(monkeypatch, Rule(0.0, 0.1, 0.1, 2.0, -30, 30), 3.0, 1.0)


@pytest.mark.parametrize("height", [0.0, 3.0])
def test_what_is_rounded_is_granted(monkeypatch: pytest.MonkeyPatch, height: float) -> None:
    """Of densities and powers, all some units too large, where that is most of the error."""
    walked, powers = fixed_lines.walked, fixed_lines.powers
    monkeypatch.setattr(line_rule, "walked", lambda *asked: more(walked(*asked)))
    monkeypatch.setattr(fixed_lines, "powers", lambda *asked: more(powers(*asked)))
    monkeypatch.setattr(line_rule, "_SPARE_BITS", -30)
    pairs = some(3, (0.6, 1.34), (1e-3, 2e-2))
    with precision(120):
        for pair, found in zip(pairs, moduli(pairs, arb(3), height, 0.0, 40.0, never), strict=True):
            assert found.overlaps(integral(pair, 3.0, height, 0.0))


def test_the_moment_is_more_than_its_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a strip leaves is a share of the moment, which the sum may fall short of by as much."""
    spacing, least = arb(2.5), arb(0)
    with precision(80):
        q, v, power = arb(1) / 2, arb(1), arb(2)
        rule = Rule(0.0, 2.0, 2.0, 2.5, -9, 10)
        share = modulus_rule.strip_modulus(v, least, arb(0), arb(2), spacing)
        assert 0.01 < share < 0.5
        moment = arb(10)
        # of sums next to (1 - q)^2
        first = 4 * moment * (1 - share)
        found = modulus_rule._enclosed(q, v, rule, power, first, first)
        assert found.rad() >= share * moment
        assert found.rad() < 1.01 * share * moment


@pytest.mark.parametrize("shift", [0.0, 0.75])
def test_what_is_left_out_is_next_to_the_moment(shift: float) -> None:
    """A strip takes a share as at its shift, of a moment of which most terms may be left out."""
    with precision(80):
        q, v, power, nothing = arb(1) / 2, arb(1), arb(2), arb(0)
        rule = Rule(shift, 0.75, 0.75, 1.5, -1, 5)
        ends = -arb("1.5"), arb("7.5")
        tail = modulus_rule.beyond(v, q, power, ends, arb("1.5"), nothing)
        shares = [
            modulus_rule.strip_modulus(v, nothing, arb(at), arb("0.75"), arb("1.5"))
            for at in (0.0, shift)
        ]
        found = modulus_rule._enclosed(q, v, rule, power, nothing, nothing).rad()
        far = tail * modulus_rule.growth(v, nothing, arb(shift))
        least = far + shares[1] * tail / (1 - shares[0])
        assert 0.999 * least < found < 1.001 * least


@pytest.mark.parametrize("which", ["tops", "powers", "cut"])
def test_each_of_what_is_rounded_counts(monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    """Bounds of densities and of powers, and digits that are cut off."""
    pairs, tops, powers = [(Q, SIGMA)], line_rule.tops_of, modulus_rule._powers

    class Cut(fixed_lines.Sums):
        def __init__(self, *asked: Any) -> None:
            super().__init__(*asked)
            self.cut *= 2.0**40

    with precision(120):
        [before] = moduli(pairs, arb(3), 1.0, 0.25, 40.0, never)
        if which == "tops":
            monkeypatch.setattr(line_rule, "tops_of", lambda x: [2**30 * y for y in tops(x)])
        elif which == "powers":

            def larger(*asked: Any) -> tuple[Any, int, arb]:
                columns, tall, largest = powers(*asked)
                return columns, tall, 2**30 * largest

            monkeypatch.setattr(modulus_rule, "_powers", larger)
        else:
            monkeypatch.setattr(fixed_lines, "Sums", Cut)
        [after] = moduli(pairs, arb(3), 1.0, 0.25, 40.0, never)
        assert after.rad() > 10 * before.rad()
