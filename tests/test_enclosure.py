from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mpmath import mpf
from oracles import to_fraction

from dpexact.decimals import float_down, float_up
from dpexact.enclosure import EXACT, Enclosure
from dpexact.errors import Contradiction, InvalidInput, UndecidedComparison
from dpexact.ternary import Ternary

# numbers of every size, short decimals and near ties among them
numbers = st.one_of(
    st.fractions(),
    st.builds(
        lambda m, e: m * Fraction(10) ** e, st.integers(-(10**8), 10**8), st.integers(-400, 400)
    ),
    st.floats(allow_nan=False, allow_infinity=False).map(Fraction),
)
widths = st.builds(lambda m, e: m * Fraction(10) ** e, st.integers(0, 1000), st.integers(-60, 3))


@st.composite
def enclosures(draw: st.DrawFn) -> Enclosure:
    lower = draw(numbers)
    width = draw(widths) * draw(st.sampled_from([Fraction(1), abs(lower) or Fraction(1)]))
    return Enclosure(lower, lower + width)


positive = enclosures().filter(lambda x: x.lower > 0)


def interval(low: str, high: str) -> Enclosure:
    return Enclosure(Fraction(low), Fraction(high))


# --- invariants -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (Fraction(2), Fraction(1), "exceeds"),
        (math.inf, Fraction(1), "exceeds"),
        (0.5, Fraction(1), "not a Fraction"),
        (Fraction(0), 1, "not a Fraction"),
        (Fraction(0), math.nan, "not a Fraction"),
        (math.nan, Fraction(0), "not a Fraction"),
    ],
)
def test_what_is_no_enclosure(lower: Fraction, upper: Fraction, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Enclosure(lower, upper)


def test_an_enclosure_is_a_value_and_its_method_a_label() -> None:
    x = Enclosure(Fraction(1, 3), Fraction(1, 2), "one")
    other = x.labelled("two")
    assert (other.method, x.method) == ("two", "one")
    assert x == other
    assert hash(x) == hash(other)
    assert x != Enclosure.exact(Fraction(1, 3))
    with pytest.raises(AttributeError):
        x.lower = Fraction(0)  # type: ignore[misc]


@given(enclosures())
def test_copies(x: Enclosure) -> None:
    labelled = x.labelled("method")
    for twin in (pickle.loads(pickle.dumps(labelled)), copy.deepcopy(labelled)):
        assert (twin.lower, twin.upper, twin.method) == (x.lower, x.upper, "method")


def test_a_reason_is_a_label_too() -> None:
    x = interval("0", "1").labelled("m").short("why")
    assert (x.method, x.reason) == ("m", "why")
    assert x == interval("0", "1")
    assert pickle.loads(pickle.dumps(x)).reason == "why"
    assert x.labelled("n").reason == "why"


def test_the_larger_of_two() -> None:
    x = interval("-1/2", "3/2").labelled("m")
    y = interval("0", "1").labelled("n").short("why")
    assert x.larger(y) == y.larger(x) == interval("0", "3/2")
    assert x.larger(y).method == y.larger(x).method == "m"
    assert x.larger(y).reason == y.larger(x).reason == "why"


def test_a_known_range_cuts_and_keeps_the_label() -> None:
    x = interval("-1/2", "3/2").labelled("m").short("why")
    cut = x.within(Fraction(0), Fraction(1))
    assert cut == interval("0", "1")
    assert (cut.method, cut.reason) == ("m", "why")
    assert x.within(Fraction(-1), math.inf) == x
    assert x.within(Fraction(3, 2), Fraction(2)) == Enclosure.exact(Fraction(3, 2))
    with pytest.raises(Contradiction, match=r"by m and .* by the known range"):
        x.within(Fraction(2), Fraction(3))


@given(enclosures(), enclosures())
@example(interval("0", "1"), interval("1", "2"))
@example(Enclosure(Fraction(1), math.inf), Enclosure(-math.inf, Fraction(1)))
@example(Enclosure(-math.inf, math.inf), Enclosure.exact(math.inf))
def test_two_enclosures_of_one_number_meet_in_the_points_of_both(
    x: Enclosure, y: Enclosure
) -> None:
    x, y = x.labelled("x").short("of x"), y.labelled("y").short("of y")
    if not x.overlaps(y):
        for one, other in ((x, y), (y, x)):
            with pytest.raises(Contradiction) as caught:
                one.meet(other)
            texts = (caught.value.first, caught.value.second)
            for text, asked in zip(texts, (one, other), strict=True):
                lower, upper = asked.decimal_bounds(40)
                assert text == f"[{lower}, {upper}] by {asked.method}"
        return
    both = x.meet(y)
    assert both == y.meet(x)
    for point in {x.lower, x.upper, y.lower, y.upper}:
        assert (point in both) is (point in x and point in y)
    assert (both.method, both.reason) in {("x", "of x"), ("y", "of y")}


def test_the_narrower_of_two_says_how() -> None:
    wide, narrow = interval("0", "2").labelled("wide"), interval("1", "5/2").labelled("narrow")
    assert wide.meet(narrow).method == narrow.meet(wide).method == "narrow"
    huge = Enclosure(Fraction(10**400), math.inf, "huge")  # beyond the largest float
    assert huge.meet(Enclosure(Fraction(1), math.inf)) == huge
    unbounded = Enclosure(-math.inf, Fraction(2), "unbounded")
    assert unbounded.meet(narrow).method == narrow.meet(unbounded).method == "narrow"
    infinite = Enclosure.exact(math.inf, "exact")
    assert Enclosure(Fraction(0), math.inf, "wide").meet(infinite).method == "exact"


def test_what_lies_between_two_numbers() -> None:
    below, above = interval("0", "3").labelled("a"), interval("2", "4").labelled("b")
    found = below.between(above.short("why"), "both")
    assert found == interval("0", "4")
    assert (found.method, found.reason) == ("both", "why")
    assert above.between(below, "") == interval("2", "3")  # they may be equal
    with pytest.raises(Contradiction, match=r"by high and .* by low"):
        interval("2", "3").labelled("high").between(interval("0", "1").labelled("low"), "")


def test_a_bracket_of_bounds_certified_apart() -> None:
    found = Enclosure.bracket(Fraction(1), math.inf, "m", "why")
    assert found == Enclosure(Fraction(1), math.inf)
    assert (found.method, found.reason) == ("m", "why")
    assert Enclosure.bracket(Fraction(1), Fraction(1), "m").is_exact
    with pytest.raises(Contradiction, match=r"by m, from below and .* by m, from above"):
        Enclosure.bracket(Fraction(2), Fraction(1), "m")


def test_a_contradiction_names_both_answers_and_asks_for_a_report() -> None:
    with pytest.raises(Contradiction) as caught:
        interval("1/4", "1/2").labelled("the sum").meet(Enclosure.exact(Fraction(3, 4)))
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, Contradiction)
        for part in ("0.25", "0.5", "by the sum", "0.75", "by no method", "please report"):
            assert part in str(error)


# --- digits ---------------------------------------------------------------------------------------


def certified(x: Enclosure, n: int) -> bool:
    """The definition of at least ``n`` certified digits."""
    size = max(abs(x.lower), abs(x.upper))
    return (x.upper - x.lower) * 10**n <= size


@given(enclosures())
@example(interval("1", "1.00000001"))
@example(interval("99999999", "100000000"))
@example(interval("100000000", "100000001"))
@example(interval("-1", "1"))
@example(interval("0", "1e-300"))
@example(interval("-100000001", "-100000000"))
@example(Enclosure(1 - Fraction(1, 10**7), Fraction(1)))
@example(Enclosure(1 - Fraction(1, 10**7 - 1), Fraction(1)))
@example(Enclosure(1 - Fraction(1, 10**7 + 1), Fraction(1)))
def test_digits_is_the_largest_certified_number(x: Enclosure) -> None:
    if x.is_exact:
        assert x.digits == EXACT
    else:
        assert x.digits == 0 or certified(x, x.digits)
        assert not certified(x, x.digits + 1)


def test_digits_of_the_infinite() -> None:
    assert Enclosure(-math.inf, Fraction(1)).digits == 0
    assert Enclosure(-math.inf, math.inf).digits == 0
    assert Enclosure(Fraction(1), math.inf).digits == 0
    assert Enclosure.exact(math.inf).digits == EXACT


# --- comparison -----------------------------------------------------------------------------------


@given(enclosures(), enclosures() | numbers | st.integers() | st.just(math.inf))
@example(interval("0", "1"), interval("1", "2"))
@example(interval("1", "1"), 1)
@example(Enclosure.exact(math.inf), math.inf)
@example(Enclosure(Fraction(1), math.inf), Enclosure.exact(math.inf))
def test_comparison_is_three_valued(x: Enclosure, y: Enclosure | Fraction | int) -> None:
    low, high = (y.lower, y.upper) if isinstance(y, Enclosure) else (y, y)
    below = True if x.upper < low else False if x.lower >= high else None
    at_most = True if x.upper <= low else False if x.lower > high else None
    told = {True: Ternary.HOLDS, False: Ternary.FAILS, None: Ternary.UNDECIDED}
    assert x.less_than(y) is told[below]
    assert x.at_most(y) is told[at_most]
    for answer, compare in (
        (below, lambda: x < y),
        (at_most, lambda: x <= y),
        (None if at_most is None else not at_most, lambda: x > y),
        (None if below is None else not below, lambda: x >= y),
    ):
        if answer is None:
            with pytest.raises(UndecidedComparison, match="ask for more digits"):
                compare()
        else:
            assert compare() is answer


def test_reflected_comparison_and_membership() -> None:
    x = interval("1/3", "1/2")
    assert 0 < x < 1
    assert Fraction(1) >= x
    assert Fraction(2, 5) in x
    assert 0.5 in x
    assert 1 not in x
    assert math.nan not in x
    assert x.overlaps(interval("1/2", "1"))
    assert interval("1/2", "1").overlaps(x)
    assert not x.overlaps(interval("2/3", "1"))


# --- decimal output -------------------------------------------------------------------------------


def value_of(text: str) -> Fraction:
    return Fraction(Decimal(text))


def ulp(text: str, significant: int) -> Fraction:
    adjusted = Decimal(text).adjusted() if Decimal(text) else 0
    return Fraction(10) ** (adjusted - significant + 1)


@given(enclosures(), st.integers(1, 60))
def test_decimal_bounds_are_outward_and_tight(x: Enclosure, significant: int) -> None:
    low, high = x.decimal_bounds(significant)
    assert value_of(low) <= x.lower
    assert value_of(high) >= x.upper
    assert x.lower - value_of(low) < ulp(low, significant) or x.lower == 0
    assert value_of(high) - x.upper < ulp(high, significant) or x.upper == 0


def truncated(value: Fraction, exponent: int) -> int:
    """The decimal digits of ``value >= 0`` down to ``10^exponent``, as an integer."""
    return math.floor(value / Fraction(10) ** exponent)


def check_shown(x: Enclosure, text: str, limit: int) -> None:
    """Shown digits are the common leading digits of both bounds; brackets hold both bounds."""
    if text.startswith("["):
        low, high = text[1:-1].split(", ")
        assert value_of(low) <= x.lower
        assert high == "inf" or value_of(high) >= x.upper
        return
    mantissa, dots, tail = text.partition("...")
    shown = mantissa + tail
    if not dots:
        assert x.is_exact
        assert value_of(shown) == x.lower
        return
    _, digits, exponent = Decimal(shown).as_tuple()
    assert isinstance(exponent, int)
    integer = int("".join(map(str, digits)))
    assert integer == truncated(x.lower, exponent)
    assert integer == truncated(x.upper, exponent)
    assert len(str(integer)) <= limit


@given(positive, st.integers(1, 50))
@example(interval("1200.0001", "1200.0002"), 6)
@example(interval("0.9999", "1.0001"), 10)
@example(interval("0.0001234", "0.0001235"), 10)
@example(interval("12345", "12346"), 3)
@example(interval("1/3", "1/3"), 5)
@example(interval("1e-400", "1.000000001e-400"), 5)
@example(interval("1", "1.000000001"), 40)
def test_shown_digits_are_certain(x: Enclosure, limit: int) -> None:
    check_shown(x, x.shown(limit), limit)


@given(enclosures(), st.integers(1, 50))
def test_shown_never_lies_about_any_enclosure(x: Enclosure, limit: int) -> None:
    if x.lower > 0 or not x.shown(limit).startswith("["):
        check_shown(x, x.shown(limit), limit)
    else:
        low, high = x.shown(limit)[1:-1].split(", ")
        assert value_of(low) <= x.lower <= x.upper <= value_of(high)


def test_that_check_notices_a_digit_too_many() -> None:
    x = interval("0.12344", "0.12346")
    check_shown(x, "0.1234...", 10)
    with pytest.raises(AssertionError):
        check_shown(x, "0.12345...", 10)
    with pytest.raises(AssertionError):
        check_shown(x, "[0.12345, 0.12346]", 10)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), st.integers(2, 30))
def test_shown_shows_nearly_all_certain_digits(value: Fraction, digits: int) -> None:
    x = Enclosure(value, value * (1 + Fraction(1, 10**digits)))
    text = x.shown()
    if "..." in text:
        mantissa = text.partition("e")[0].replace("...", "").replace(".", "").lstrip("0")
        assert len(mantissa) >= min(x.digits, 40) - 1


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (interval("1/3", "1/3"), "0." + "3" * 40 + "..."),
        (interval("0.5", "0.5"), "0.5"),
        (interval("-0.5", "-0.5"), "-0.5"),
        (interval("0", "0"), "0"),
        (Enclosure.exact(math.inf), "inf"),
        (interval("0.9999", "1.0001"), "[0.9999, 1.0001]"),
        (Enclosure(Fraction(1), math.inf), "[1, inf]"),
        (
            interval("-1/3", "-1/3"),
            "[-0.3333333333333333333333333333333333333334, "
            "-0.3333333333333333333333333333333333333333]",
        ),
        (interval("-1", "2"), "[-1, 2]"),
        (interval("1200.0001", "1200.0002"), "1200.000..."),
        (interval("1.5e-20", "1.50000001e-20"), "1.5000000...e-20"),
    ],
)
def test_shown_examples(x: Enclosure, text: str) -> None:
    assert str(x) == text


# --- other outputs --------------------------------------------------------------------------------


@given(numbers)
@example(Fraction(0))
@example(Fraction(1, 2**1074))
@example(Fraction(1, 2**1075))
@example(Fraction(1, 10**400))
@example(-Fraction(1, 10**400))
@example(Fraction(2) ** 1024 - Fraction(2) ** 969)
@example(Fraction(sys.float_info.max))
@example(Fraction(2) ** 1024)
@example(-(Fraction(2) ** 2000))
@example(Fraction(1, 3))
def test_float_bounds_are_outward_and_tight(value: Fraction) -> None:
    low, high = Enclosure.exact(value).to_float_bounds()
    assert (low, high) == (float_down(value), float_up(value))
    assert low <= value <= high
    assert value != 0 or math.copysign(1, low) == 1
    exact = low == value
    assert exact == (high == value)
    if not exact:
        assert math.nextafter(low, math.inf) == high


def test_float_bounds_of_the_infinite() -> None:
    assert Enclosure(Fraction(1), math.inf).to_float_bounds() == (1.0, math.inf)
    assert Enclosure.exact(math.inf).to_float_bounds() == (math.inf, math.inf)


@given(enclosures(), st.integers(1, 60))
def test_mpmath_bounds_are_outward_and_tight(x: Enclosure, digits: int) -> None:
    low, high = map(to_fraction, x.to_mpmath(digits))
    assert low <= x.lower
    assert high >= x.upper
    assert (x.lower - low) * 10**digits <= abs(x.lower)
    assert (high - x.upper) * 10**digits <= abs(x.upper)


def test_mpmath_bounds_of_the_infinite() -> None:
    low, high = Enclosure(Fraction(1), math.inf).to_mpmath()
    assert (low, high) == (1, mpf("inf"))


@given(enclosures(), st.integers(1, 40))
def test_json_holds_the_enclosure_and_counts_its_own_digits(x: Enclosure, digits: int) -> None:
    data = json.loads(json.dumps(x.to_json(digits)))
    printed = Enclosure(value_of(data["lower"]), value_of(data["upper"]))
    assert printed.lower <= x.lower <= x.upper <= printed.upper
    assert data["digits"] == min(printed.digits, digits + 5)
    if x.digits >= digits + 2:
        assert data["digits"] >= digits
    if x.is_exact and not printed.is_exact:
        assert data["digits"] >= digits + 3


def test_json_of_the_infinite() -> None:
    data = Enclosure(Fraction(1), math.inf).to_json(5)
    assert (value_of(str(data["lower"])), data["upper"], data["digits"]) == (1, "inf", 0)
    assert Enclosure.exact(math.inf).to_json(5)["upper"] == "inf"


def test_a_bound_of_a_million_bits_is_printed_at_once() -> None:
    tiny = Enclosure(Fraction(0), Fraction(1, 1 << 1_000_000))
    assert tiny.decimal_bounds(5) == ("0", "1.0101e-301030")


def test_the_representation_is_short_whatever_the_numbers() -> None:
    x = Enclosure(Fraction(0), Fraction(1, 1 << 1_000_000), "m", "the work ran out")
    assert repr(x) == "<Enclosure <= 1.010035e-301030: in [0, 1.02e-301030], m, the work ran out>"
    assert repr(Enclosure.exact(math.inf)) == "<Enclosure = inf: inf>"
    assert x._repr_html_() == (
        "<b>&lt;= 1.010035e-301030</b> <small>in [0, 1.02e-301030], m, the work ran out</small>"
    )


@given(numbers, st.integers(1, 12), st.sampled_from(["e", "f", "g", "%"]))
def test_numbers_to_quote_are_rounded_to_the_safe_side(
    value: Fraction, figures: int, kind: str
) -> None:
    x = Enclosure(value - Fraction(1, 10**9), value)
    low = x.relied_on("lower")
    assert Fraction(x.safe(figures)) >= x.upper
    assert Fraction(low.safe(figures)) <= x.lower

    def printed(of: Enclosure) -> Fraction:
        text = f"{of:.{figures}{kind}}"
        return Fraction(text.removesuffix("%")) / (100 if kind == "%" else 1)

    assert printed(x) >= x.upper
    assert printed(low) <= x.lower


def test_a_number_to_quote_is_as_near_as_its_figures_allow() -> None:
    x = Enclosure(Fraction("2.38159692"), Fraction("2.38159693"))
    assert (x.safe(), x.safe(3), f"{x:.4f}", f"{x:8.2f}") == (
        "2.381597",
        "2.39",
        "2.3816",
        "    2.39",
    )
    assert x.relied_on("lower").safe(3) == "2.38"
    assert (x.relation, x.relied_on("lower").relation) == ("<=", ">=")
    whole = Enclosure.exact(Fraction(331148304901733)).relied_on("lower")
    assert (whole.safe(), whole.relation) == ("331148304901733", "=")
    huge = Enclosure.exact(Fraction(10**5000 + 1))  # longer than Python writes whole numbers
    assert (huge.safe(), huge.relation) == (f"1{'0' * 4999}1", "=")
    assert f"{Enclosure(Fraction(0), math.inf):.2f}" == "inf"
    assert f"{x:>16}" == f"{x!s:>16}"


def test_forms_that_could_round_to_the_wrong_side_are_refused() -> None:
    x = Enclosure(Fraction("2.38159692"), Fraction("2.38159693"))
    unreadable = ("x.3f", "d", "{.3f", "\0.3f", "9" * 30 + ".2f", "." + "9" * 30 + "f")
    for spec in (".4", ".3s", "8.2", "g", "8e", "%", *unreadable):
        with pytest.raises(InvalidInput, match=r"\.lower and \.upper"):
            format(x, spec)
    for figures in (0, -1, 2.5):
        with pytest.raises(InvalidInput, match="figures"):
            x.safe(figures)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="to_float_bounds"):
        float(x)
