"""Trade-off functions at many levels: as exact functions, and as one by one."""

import math
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import PrecisionNotReached, balls, parse, tradeoff
from dpexact.accounting.levels.dual import Value, ceiling
from dpexact.accounting.levels.looks import Look
from dpexact.accounting.levels.polygon import trade_offs
from dpexact.accounting.profiles import profile
from dpexact.accounting.tradeoff_of import DualTradeoff
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

F = Fraction


def exact(number):
    return fmpq(number.numerator, number.denominator)


LEVELS = [F(k, 40) for k in range(1, 40)]


def of_profile(text, levels, digits, direction="both"):
    """By the values of the profile alone, also where tests are known."""
    found = profile(parse(text), direction)
    exact = [Enclosure.exact(level) for level in levels]
    return trade_offs(found.deltas, exact, digits, "", found.deltas)


@pytest.mark.parametrize("digits", [4, 8, 15, 30])
@pytest.mark.parametrize(
    "text", ["gaussian(1)", "gaussian(1/10)", "gaussian(100)", "laplace(1)", "pure_dp(log(3))^3"]
)
def test_many_levels_have_the_exact_function(text, digits):
    exact = tradeoff(text)
    levels = [F(1, 10**6), *LEVELS, 1 - F(1, 10**6)]
    for level, found in zip(levels, of_profile(text, levels, digits), strict=True):
        truth = exact._enclose(level, digits + 10)
        assert found.overlaps(truth), level
        assert found.digits >= digits


@pytest.mark.parametrize("digits", [4, 8, 15])
def test_large_losses_leave_the_digits_of_tiny_errors(digits):
    """``D`` is nearly 1 where the lines touch, of which the difference to 1 matters."""
    levels = [F(1, 10**9), F(1, 40), F(1, 2), 1 - F(1, 10**6)]
    for level, found in zip(levels, of_profile("gaussian(1/30)", levels, digits), strict=True):
        assert found.overlaps(tradeoff("gaussian(1/30)")._enclose(level, digits + 10))
        assert found.digits >= digits


@pytest.mark.parametrize(
    ("text", "level"),
    [("poisson(gaussian(10), 0.5)^100000", F(1, 10**8)), ("gaussian(1/20)", F(1, 10**12))],
)
def test_large_losses_take_few_values(text, level):
    found, asked = profile(parse(text)), []

    def deltas(epsilons, digits):
        asked.extend(epsilons)
        return found.deltas(epsilons, digits)

    (answer,) = trade_offs(deltas, [Enclosure.exact(level)], 15, "")
    assert answer.digits >= 15
    assert len(asked) < 60


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("poisson(laplace(1), 1/10)", "both"),
        ("poisson(gaussian(1), 1/10)^3", "remove"),
        ("poisson(gaussian(1), 1/10)^3", "add"),
        ("gaussian(1) * laplace(1)", "both"),
        ("laplace(1)^20", "both"),
    ],
)
@pytest.mark.slow
def test_many_levels_are_answered_as_one_by_one(text, direction):
    f = tradeoff(text, direction)
    assert isinstance(f, DualTradeoff)
    levels = [0, F(1, 1000), *LEVELS[::4], F(999, 1000), 1]
    together = f(levels, 8)
    for level, found in zip(levels, together, strict=True):
        alone = f(level, 8)
        assert found.digits >= 8
        assert found.overlaps(alone)
        assert (found.safe_end, found.bound) == (alone.safe_end, alone.bound)


def test_many_levels_take_little_more_than_one():
    """Values of the profile that are asked for, which is what takes time."""

    class Counted(type(profile(parse("gaussian(1)")))):
        asked = 0

        def delta(self, epsilon, digits):
            Counted.asked += 1
            return super().delta(epsilon, digits)

    f = DualTradeoff(profile(parse("gaussian(1)")))
    f.profile.__class__ = Counted
    found = f([F(k, 200) for k in range(1, 200)], 8)
    assert min(a.digits for a in found) >= 8
    assert Counted.asked < 4 * len(found)


@pytest.mark.parametrize(
    ("first", "last", "most"),
    [(34, 67, 13), (50, 51, 13), (1, 100, 350)],  # touched by all, by one, and by some
)
def test_few_values_serve_all_levels_that_touch_the_kink_of_both_directions(first, last, most):
    """And polynomials for levels beside it keep to their side."""
    text, asked = "poisson(gaussian(1), 1/100)", []
    found = profile(parse(text))

    def deltas(epsilons, digits):
        asked.extend(epsilons)
        return found.deltas(epsilons, digits)

    levels = [F(k, 100) for k in range(first, last)]
    answers = trade_offs(deltas, [Enclosure.exact(level) for level in levels], 12, "")
    assert all(answer.digits >= 12 for answer in answers)
    assert len(asked) <= most
    for level, answer in list(zip(levels, answers, strict=True))[::9]:
        # the convex hull of both directions, which are inverse to one another
        one, other = (tradeoff(text, way)(level, 8) for way in ("remove", "add"))
        assert answer.upper <= min(one.upper, other.upper)
        at_one = 1 - found.delta(real(0), 15).upper - level
        assert answer.lower >= at_one * (1 - F(1, 10**12))


def test_what_bends_without_a_kink_is_not_looked_at_next_to_1():
    """Values of many digits there say little of it."""
    found, asked = profile(parse("gaussian(1)")), []

    def deltas(epsilons, digits):
        asked.extend(map(balls.approximate, epsilons))
        return found.deltas(epsilons, digits)

    answers = trade_offs(deltas, [Enclosure.exact(F(k, 100)) for k in (30, 32)], 8, "")
    assert all(answer.digits >= 8 for answer in answers)
    assert min(at for at in asked if at) > 1e-4


@pytest.mark.parametrize("slack", [F(0), F(1, 20)])
def test_a_kink_between_places(slack):
    """f(1/5) = 2/5 of randomised response with e^eps = 3, attained at x = 3."""

    def g(x):
        return 1 - max(F(0), (3 - x) / 4) - x / 5

    places = [F(1), F(2), F(31, 10), F(4), F(5)]
    # the first, which is far away, is known to be at least so large
    values = [Value(*map(exact, (x, g(x), g(x) + slack * (x == 1)))) for x in places]
    assert ceiling(values, fmpq(1, 5)) == fmpq(2, 5)


@given(
    st.lists(st.tuples(st.fractions(0, 9), st.fractions(0, 9)), min_size=1, max_size=5),
    st.lists(st.fractions(F(1, 50), 9), min_size=3, max_size=7, unique=True),
    st.fractions(0, F(1, 5)),
)
@settings(max_examples=scaled(300), deadline=None)
@pytest.mark.slow
def test_chords_of_wide_values_bound_the_maximum(lines, places, width):
    """Of the smallest of some lines that end below 0 at ``1/alpha``, which is concave."""
    alpha = F(1, 10)
    # each is g at 0 and its rise up to where the maximum is looked for
    concave = [(start, slope) for start, slope in lines] + [(F(9), -F(9, 10))]

    def g(x):
        return min(start + (slope - 4) * x for start, slope in concave)

    values = [
        Value(*map(exact, (x, g(x) - width * (i % 2), g(x) + width * (i % 3))))
        for i, x in enumerate(sorted(places))
    ]
    corners = [F(0), F(10)] + [
        (c - a) / (b - d)
        for a, b in concave
        for c, d in concave
        if b != d and 0 < (c - a) / (b - d) < 10
    ]
    assert ceiling(values, exact(alpha)) >= exact(max(g(x) for x in corners))


@pytest.mark.slow
def test_a_wide_level_keeps_both_ends():
    exact = tradeoff("gaussian(1)")
    found = profile(parse("gaussian(1)"))
    wide = [Enclosure(F(k, 40), F(k + 1, 40)) for k in range(1, 39)]
    for level, answer in zip(
        wide, trade_offs(found.deltas, wide, 8, "", found.deltas), strict=True
    ):
        assert answer.lower <= exact(level.upper).upper
        assert answer.upper >= exact(level.lower).lower


def test_arrays_and_what_is_no_level():
    numpy = pytest.importorskip("numpy")
    f = tradeoff("gaussian(1)")
    assert f(numpy.array([0.25, 0.5])) == [f(0.25), f(0.5)]
    assert f([]) == []
    with pytest.raises(InvalidInput, match="alpha"):
        f([F(1, 2), 2])
    with pytest.raises(InvalidInput, match="shape"):
        f(numpy.zeros((2, 2)))


def test_missing_digits_are_no_error_of_many():
    found = tradeoff("poisson(zcdp(0), 1/2) * poisson(gaussian(1), 1/2)")([F(1, 3)], 60)
    assert isinstance(found, list)
    assert 0 < found[0].lower <= found[0].upper < math.inf


def test_tiny_values_are_found():
    """Of little noise, where the maximum lies at ``e^epsilon`` of a hundred digits."""
    found = tradeoff("gaussian(1/10)^3 * laplace(1/10)^2", "add")(
        ["0.9999", "0.999", "0.99", "0.9"], 8
    )
    assert min(a.digits for a in found) >= 8
    assert F(13, 10**107) < found[0].lower < F(14, 10**107)


class Limited:
    """Values of a profile as wide as an engine leaves them that has no more digits; counted."""

    def __init__(self, text, digits):
        self.profile, self.digits, self.asked = profile(parse(text)), digits, 0

    def __call__(self, epsilons, digits):
        self.asked += len(epsilons)
        found = self.profile.deltas(epsilons, min(digits, self.digits + 5))
        if digits <= self.digits:
            return found
        wide = [F(d.lower) / 10**self.digits / 4 for d in found]
        return [
            Enclosure(max(d.lower - w, F(0)), d.upper + w) for d, w in zip(found, wide, strict=True)
        ]


@pytest.mark.parametrize("text", ["gaussian(1)", "laplace(1)", "poisson(laplace(1), 1/10)^3"])
def test_values_without_more_digits_are_not_asked_for_again_and_again(text):
    level, deltas = Enclosure.exact(F(1, 10)), Limited(text, 10)
    (found,) = trade_offs(deltas, [level], 15, "")
    truth = tradeoff(text)(F(1, 10), 15)
    assert found.overlaps(truth)
    assert found.digits >= 8
    assert deltas.asked < 150


def test_profiles_that_say_nothing_are_left_alone():
    asked = []

    def nothing(epsilons, digits):
        asked.extend(epsilons)
        return [Enclosure(F(0), F(1)) for _ in epsilons]

    (found,) = trade_offs(nothing, [Enclosure.exact(F(1, 3))], 6, "")
    assert found == Enclosure(F(0), F(2, 3))
    assert len(asked) < 30


def test_places_beyond_floats():
    """Of so many digits the outermost values lie where ``e^epsilon`` would be no float."""
    found = tradeoff("poisson(gaussian(1/8), 1-1e-30)")(["1e-4000"], 1600)
    assert 1 - F(1, 10**800) < found[0].lower
    assert found[0].upper <= 1 - F(1, 10**4000)


@pytest.mark.parametrize("sigma", [30, 10**4, 10**9, 10**14])
def test_no_value_is_asked_far_beyond_the_losses(sigma):
    """Far out delta is tiny, and of rare samples takes long."""
    found, asked = profile(parse(f"gaussian({sigma})")), []

    def deltas(epsilons, digits):
        asked.extend(F(balls.approximate(at)) for at in epsilons)
        return found.deltas(epsilons, digits)

    for level in (F(1, 10**6), F(1, 1000), F(1, 2), 1 - F(1, 10**6)):
        (answer,) = trade_offs(deltas, [Enclosure.exact(level)], 10, "")
        assert answer.overlaps(tradeoff(f"gaussian({sigma})")._enclose(level, 30))
        assert answer.digits >= 10
    assert max(asked) < max(F(20, sigma), F(1, 10**11))


@pytest.mark.parametrize("move", [-300.0, -4.5, -1.0, 0.2, 5.0])
@pytest.mark.parametrize("step", [1e-9, 1 / 16, 0.3, 0.9])
def test_places_stay_positive_wherever_a_parabola_points(move, step):
    """Values of little precision point far to the left, again and again."""
    look: Look | None = Look(Fraction(1, 2), Fraction(1), step, 1.0, 1.0, 1e-9)
    for _ in range(12):
        assert look is not None
        values = []
        for place, x in enumerate(look.places()):
            height = Fraction((place - 1 - move) ** 2) - look.alpha * x
            values.append((x, Enclosure(height, height)))
        assert all(x > 0 for x, _ in values)
        look = look.following(values, 0.1, 5)


def test_a_level_next_to_one_where_floats_overflow_is_bounded():
    """How closely to look there was infinite, which no number of digits is."""
    mechanism = "poisson(pure_dp(log(6)), 1/2) * poisson(pure_dp(log(6)), 1/2)"
    with pytest.raises(PrecisionNotReached) as short:
        tradeoff(mechanism)("1-sqrt(2)*1e-100", digits=6)
    assert short.value.best.lower == 0
    assert short.value.best.upper < 1e-40


def test_both_sides_of_what_is_symmetric_are_asked_for_at_once():
    ask, asked = profile(parse("gaussian(1)")).deltas, []

    def counted(points, digits):
        asked.append(len(set(points)))
        return ask(points, digits)

    levels = [Enclosure.exact(Fraction(k, 10)) for k in range(1, 10)]
    one = trade_offs(counted, levels, 8, "dual")
    rounds = len(asked)
    two = trade_offs(counted, levels, 8, "dual", lambda *x: counted(*x))
    assert one == two
    assert len(asked) > 1.5 * rounds + rounds
