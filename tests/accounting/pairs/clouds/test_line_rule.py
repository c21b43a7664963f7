"""One rule for all steps on a line against the rule of each, and poor rules."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from alike_steps import Pair, more, some
from flint import acb, arb

from dpexact.accounting.pairs.clouds import fixed_lines, line_rule
from dpexact.accounting.pairs.clouds.common_rule import Placing, Rule
from dpexact.accounting.pairs.clouds.line_rule import Row, line_rows, logarithms, scaled, still
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.balls import precision
from dpexact.reals import rational

STRIPS = [(line_rule.strip_above, ()), (line_rule.strip_below, (arb(0),))]

KINDS = [
    ((0.6, 1.34), (1e-3, 2e-2), 2.0, 0.22, 39),
    ((1.0, 1.4), (1e-3, 2e-2), 6.5, 1.0, 90),
    ((0.6, 3.0), (1e-6, 0.8), 0.5, 0.05, 20),
    ((1.5, 1e4), (1e-10, 0.6), 8.0, 0.5, 60),
    ((0.7, 0.7), (0.3, 0.3), 0.1, 2.0, 7),
]


def asked(
    pairs: list[Pair], c: float, step: float, count: int, removes: bool, fine: float
) -> list[Row]:
    """``E_v[A^t]`` by the rule of each pair."""
    lines = [
        (remove if removes else add)(sigma, q).moments(c, step, count, fine) for q, sigma in pairs
    ]
    return lines if removes else [[x.conjugate() for x in line] for line in lines]


def never(pair: Pair) -> Row:
    raise AssertionError(pair)


def found_of(pairs: list[Pair], power: arb, step: float, count: int, accuracy: float) -> list[Row]:
    """The moments, in order."""
    rows = by_place(line_rows(pairs, power, step, count, accuracy, never))
    return [scaled(rows[k], still(pair), power, step) for k, pair in enumerate(pairs)]


def by_place(groups: Iterable[tuple[list[int], Any]]) -> dict[int, Row]:
    """Rows, each at the place of its pair."""
    return {k: row for group, lines in groups for k, row in zip(group, lines.rows(), strict=True)}


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("noises", "rates", "c", "step", "count"), KINDS)
def test_lines_are_those_of_each_step(
    noises: tuple[float, float],
    rates: tuple[float, float],
    c: float,
    step: float,
    count: int,
    removes: bool,
) -> None:
    pairs = some(count, noises, rates)
    with precision(120):
        power = arb(c) + 1 if removes else -arb(c)
        found = found_of(pairs, power, step, count, 40.0)
        for row, line in zip(found, asked(pairs, c, step, count, removes, 60.0), strict=True):
            off = 1e-15 * (1 + abs(line[0]))
            for value, other in zip(row, line, strict=True):
                assert value.overlaps(other)
                assert value.real.rad() < off
                assert value.imag.rad() < off


def test_few_bits_are_said_to_be_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is rounded of densities and powers is off by more than sums are rounded by."""
    pairs = some(1, (0.6, 3.0), (1e-3, 0.3))
    monkeypatch.setattr(line_rule, "_SPARE_BITS", -30)
    with precision(120):
        found = found_of(pairs, arb(3), 0.5, 40, 40.0)
        off = []
        for row, line in zip(found, asked(pairs, 2.0, 0.5, 40, True, 60.0), strict=True):
            for value, other in zip(row, line, strict=True):
                assert value.overlaps(other)
                off.append(float(abs(acb(value.real.mid(), value.imag.mid()) - other).mid()))
        assert max(off) > 1e-10


@pytest.mark.parametrize("block", [1, 3, 10])
def test_a_line_goes_on_in_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which only the first tells how large moments are."""
    monkeypatch.setattr(line_rule, "_BLOCK", block)
    pairs = some(2, (0.6, 3.0), (1e-3, 0.3))
    with precision(100):
        found = found_of(pairs, arb(3), 0.5, 10, 40.0)
        for row, line in zip(found, asked(pairs, 2.0, 0.5, 10, True, 60.0), strict=True):
            for value, other in zip(row, line, strict=True):
                assert value.overlaps(other)
                assert value.real.rad() < 1e-12


def test_many_places_on_either_side_of_a_density_are_a_rule() -> None:
    """As those of little noise high on a line: together they are more than a walk may have."""
    pairs = some(4, (0.15, 0.16), (1e-3, 5e-2))
    (_, lines), *_ = line_rows(pairs, arb(1), 2.0, 11, 30.0, never)
    assert isinstance(lines, fixed_lines.Lines)


def test_steps_of_too_many_places_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = some(2, (0.6, 3.0), (1e-3, 0.3))
    with precision(100):
        lines = asked(pairs, 2.0, 0.5, 10, True, 60.0)
        monkeypatch.setattr(fixed_lines, "MOST_PLACES", 10)
        groups = line_rows(pairs, arb(3), 0.5, 10, 40.0, lambda at: lines[pairs.index(at)])
        rows = by_place(groups)
        for k, line in enumerate(lines):
            for value, other in zip(
                scaled(rows[k], still(pairs[k]), arb(3), 0.5), line, strict=True
            ):
                assert value.overlaps(other)
                assert value.real.rad() < 1e-20


def test_logarithms_are_those_of_products_before_each_end() -> None:
    pairs, counts, ends = some(3, (0.6, 3.0), (1e-3, 0.3)), [1, 1, 5, 2] * 3, [1] * 5 + [3] * 7
    steps = list(zip(pairs, counts, ends, strict=True))
    with precision(100):
        rows = line_rows(pairs, arb(3), 0.5, 30, 40.0, never)
        found = logarithms(rows, steps, 5, arb(3), 0.5)
        lines = asked(pairs, 2.0, 0.5, 30, True, 60.0)
        assert found[0] == []
        for end in range(1, 5):
            for n, log in enumerate(found[end]):
                exact = acb(1)
                for line, (_, count, at) in zip(lines, steps, strict=True):
                    exact *= line[n] ** count if at <= end else 1
                assert log.exp().overlaps(exact)
                assert abs(log.exp() - exact) < 1e-12 * (1 + abs(exact))


def test_products_too_small_for_their_units_have_logarithms() -> None:
    """Of steps that are loud the product falls below what integers know of it."""
    pairs = some(6, (0.6, 0.7), (0.4, 0.6)) * 4
    steps = [(pair, 1, 0) for pair in pairs]
    with precision(200):
        rows = list(line_rows(pairs, arb(3), 0.5, 12, 20.0, never))
        assert any(value.contains(0) for _, lines in rows for value in products_of(lines)[0])
        [found] = logarithms(rows, steps, 1, arb(3), 0.5)
        lines = asked(pairs, 2.0, 0.5, 12, True, 60.0)
        for n, log in enumerate(found):
            exact = acb(1)
            for line in lines:
                exact *= line[n]
            assert log.is_finite()
            assert log.exp().overlaps(exact)


def products_of(lines: Any) -> list[Row]:
    whole: list[Row] = lines.joined([list(range(len(lines.rows())))[:32]]).rows()
    return whole


def test_groups_hold_every_step_once() -> None:
    pairs = some(4, (1e-2, 1e5), (1e-9, 0.8)) * 100
    for most in (1, 7, 1000):
        groups = list(line_rule.groups_of(pairs, most))
        assert sorted(k for group in groups for k in group) == list(range(len(pairs)))
        assert max(map(len, groups)) <= most


# --- poor rules: each error term alone is most of what they are off -------------------------------

Q, SIGMA = rational(Fraction(1, 100)), rational(1)


def by(monkeypatch: pytest.MonkeyPatch, rule: Rule, power: float, step: float) -> Row:
    """One step at two nodes, by a poor rule whose places are those of ``w``."""
    moved = round(float(-still((Q, SIGMA)) + (1 / arb(99)).log()) / rule.spacing)
    rule = rule._replace(first=rule.first + moved, last=rule.last + moved)
    monkeypatch.setattr(line_rule, "_rule", lambda *_: rule)
    monkeypatch.setattr(fixed_lines, "_POOR", 2.0**10)
    [row] = found_of([(Q, SIGMA)], arb(power), step, 1, 60.0)
    return row


@pytest.mark.parametrize(
    "rule",
    [
        # a top next to the line, a bottom next to it, ends within the bulk on either side
        Rule(0.25, 3.0, 0.0, 1.0, -20, 30),
        Rule(1.0, 2.75, 1.0, 1.5, -20, 30),
        Rule(1.0, 3.0, 3.0, 0.25, -10, 200),
        Rule(1.0, 3.0, 3.0, 0.25, -200, 15),
    ],
)
@pytest.mark.parametrize("power", [3.0, -2.0])
def test_poor_rules_say_how_poor_they_are(
    monkeypatch: pytest.MonkeyPatch, rule: Rule, power: float
) -> None:
    pair, order = (remove, power - 1) if power > 0 else (add, -power)
    with precision(150):
        found, exact = by(monkeypatch, rule, power, 1.0)[0].real, pair(SIGMA, Q).moment(order, 60.0)
        assert found.overlaps(exact)
        assert found.rad() > 1e-12


def test_a_frequency_equal_to_that_of_the_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """At large orders losses are about the places, and a moment of their frequency adds to all."""
    spacing, c = 0.5, 39.0
    with precision(400):
        step = float(2 * arb.pi().mid() / spacing)
        _, found = by(monkeypatch, Rule(0.125, 3.0, 0.0, spacing, -40, 160), c + 1, step)
        first, exact = remove(SIGMA, Q).moments(c, step, 1, 60.0)
        assert found.overlaps(exact)
        assert abs(acb(found.real.mid(), found.imag.mid()) - exact) > first.real / 10
        # far below the real line powers are so large that this is no bound
        with pytest.raises(AssertionError):
            by(monkeypatch, Rule(0.125, 3.0, 3.0, spacing, -40, 160), c + 1, step)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(0.5, 3.2, 0.5, 0.25, -100, 100),
        Rule(0.5, 0.4, 0.5, 0.25, -100, 100),
        Rule(0.5, 3.0, 3.2, 0.25, -100, 100),
        Rule(-0.5, 3.0, 1.0, 0.25, -100, 100),
    ],
)
def test_strips_beyond_the_domain_are_refused(monkeypatch: pytest.MonkeyPatch, rule: Rule) -> None:
    with precision(100), pytest.raises(ValueError, match="not admissible"):
        by(monkeypatch, rule, 3.0, 1.0)


def test_a_rule_is_about_as_accurate_as_is_asked() -> None:
    rule = line_rule._rule(Placing(3.0, 0.01), [(0.01, 1.0)], 20.0, 40.0)
    assert 0 < rule.shift < rule.top
    assert rule.last - rule.first < 200


def test_what_is_rounded_is_granted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of densities and powers, all some units too large, where that is most of the error."""
    walked, powers = fixed_lines.walked, fixed_lines.powers
    monkeypatch.setattr(line_rule, "walked", lambda *asked: more(walked(*asked)))
    monkeypatch.setattr(fixed_lines, "powers", lambda *asked: more(powers(*asked)))
    monkeypatch.setattr(line_rule, "_SPARE_BITS", -30)
    noises, rates, c, step, count = KINDS[0]
    pairs = some(3, noises, rates)
    with precision(120):
        found = found_of(pairs, arb(c) + 1, step, count, 40.0)
        for row, other in zip(found, asked(pairs, c, step, count, True, 60.0), strict=True):
            assert all(x.overlaps(y) for x, y in zip(row, other, strict=True))


@pytest.mark.parametrize("power", [6, 2, -3])
def test_terms_left_out_are_granted_and_little_more(power: int) -> None:
    """Next to ``(1 - q)^t``, of a rule that is cut where terms fall."""
    q, v, t = arb(1) / 2, arb(1), arb(power)
    rule = Rule(0.0, 3.0, 3.0, 0.25, -16, 4 * (power if power > 0 else 0) + 14)

    def term(j: int) -> arb:
        w = j * arb(0.25)
        density = (-((w + arb(0.5)) ** 2) / 2).exp() / (2 * arb.pi()).sqrt() / 4
        return density * (1 + w.exp()) ** t

    with precision(80):
        whole, kept = (
            sum(map(term, range(first, last + 1)), arb(0))
            for first, last in ((-80, 200), (rule.first, rule.last))
        )
        off, _ = line_rule._error(q, v, rule, t, arb(0), acb(kept), arb(0))
        assert whole - kept < off < 40 * (whole - kept)


def test_errors_are_shares_of_the_moment_and_not_of_its_sum() -> None:
    """A sum that is smaller by all that its strips allow."""
    q, v, power, spacing = arb(1) / 2, arb(1), arb(2), arb(2.5)
    rule = Rule(0.0, 2.0, 2.0, 2.5, -7, 8)
    with precision(80):
        strips = [strip(v, arb(0), arb(0), arb(2), spacing, *height) for strip, height in STRIPS]
        share, moment = sum(strips, arb(0)), arb(10)
        assert 0.01 < share < 0.5
        first = acb(moment * (1 - share))
        off, most = line_rule._error(q, v, rule, power, arb(0), first, arb(0))
        assert share * moment <= off < 1.01 * share * moment
        assert moment <= most < 1.01 * moment


def test_what_is_rounded_counts_with_densities_and_with_powers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is off by units, of which the other one is a factor."""
    pairs, rests = some(5, (1.0, 1.2), (1e-3, 2e-2)), []
    error, powers = line_rule._error, line_rule._Powers.on

    def recorded(*asked: Any) -> tuple[arb, arb]:
        rests.append(asked[-1])
        return error(*asked)

    monkeypatch.setattr(line_rule, "_error", recorded)
    for kept in (0, 1):

        def bounded(*asked: Any, kept: int = kept) -> Any:
            found = powers(*asked)
            return found._replace(largest=kept * found.largest)

        monkeypatch.setattr(line_rule._Powers, "on", bounded)
        by_place(line_rows(pairs, arb(3), 0.5, 10, 30.0, never))
    alone, both = rests[: len(pairs)], rests[len(pairs) :]
    assert all(0 < one < two for one, two in zip(alone, both, strict=True))


def test_steps_whose_line_has_no_bound_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs, found = some(5, (1.0, 1.2), (1e-3, 2e-2)), []
    monkeypatch.setattr(line_rule, "beyond", lambda *_: arb("inf"))

    def ask(pair: Pair) -> Row:
        found.append(pair)
        return [acb(1)] * 11

    assert len(by_place(line_rows(pairs, arb(3), 0.5, 10, 30.0, ask))) == len(pairs)
    assert sorted(map(str, found)) == sorted(map(str, pairs))
