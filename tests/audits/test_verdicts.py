"""Verdicts against truths known exactly, and against enclosures of every shape."""

import itertools
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.accounting import queries
from dpexact.audits import Claim, judge
from dpexact.comparison import RIGHT, VERDICTS, WRONG
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism

TINY = Fraction(1, 10**30)


def brute_force_delta(ratio, delta, times, epsilon_power):
    """delta(log(ratio) * epsilon_power) of approx_dp(log(ratio), delta)^times by enumeration."""
    p, q = ratio / (1 + ratio), 1 / (1 + ratio)
    total = 1 - (1 - delta) ** times
    for outcome in itertools.product((0, 1), repeat=times):
        ones = sum(outcome)
        left = p**ones * q ** (times - ones)
        right = q**ones * p ** (times - ones)
        total += (1 - delta) ** times * max(left - ratio**epsilon_power * right, 0)
    return total


@pytest.mark.parametrize("kind", ["upper", "lower", "estimate"])
@given(
    ratio=st.fractions(min_value="1.1", max_value=9, max_denominator=20),
    delta=st.fractions(min_value=0, max_value="0.5", max_denominator=50),
    times=st.integers(1, 5),
    power=st.integers(0, 4),
    error=st.one_of(
        st.sampled_from([Fraction(0), TINY, -TINY, Fraction(1, 8), -Fraction(1, 8)]),
        st.fractions(min_value=-1, max_value=2, max_denominator=1000),
    ),
)
def test_the_verdict_is_that_of_exact_arithmetic(kind, ratio, delta, times, power, error):
    truth = brute_force_delta(ratio, delta, times, power)
    claimed = truth * (1 + error)
    eps = f"log({ratio})"
    tolerance = Fraction(1, 8) if kind == "estimate" else None
    mechanism = f"approx_dp({eps}, {delta})^{times}"
    finding = judge(
        Claim(mechanism, "delta", claimed, f"{eps}*{power}", kind, tolerance=tolerance), 5
    )
    right = {
        "upper": claimed >= truth,
        "lower": claimed <= truth,
        "estimate": abs(claimed - truth) <= truth / 8,
    }[kind]
    assert finding.verdict in (RIGHT if right else WRONG)
    assert truth in finding.enclosure
    assert (finding.relative_error is None) == (truth == 0 != claimed)
    if finding.relative_error is not None:
        assert (error if truth else 0) in finding.relative_error


def stub(monkeypatch, answer):
    """Let the accounting answer ``answer``, an enclosure, an exception or a function of digits."""
    asked = []

    def ask(mechanism, at, digits, direction):
        asked.append((digits, direction))
        given = answer(digits) if callable(answer) else answer
        if isinstance(given, Exception):
            raise given
        return given

    monkeypatch.setattr(queries, "epsilon_answer", ask)
    monkeypatch.setattr(queries, "delta_answer", ask)
    return asked


def claim(claimed, kind="upper", **options):
    return Claim("gaussian(1)", "epsilon", claimed, "1e-5", kind, **options)


WIDE = Enclosure(Fraction(2), Fraction(3), "test")
HALF_OPEN = Enclosure(Fraction(2), math.inf, "test")
INFINITE = Enclosure.exact(math.inf, "test")
ZERO = Enclosure.exact(Fraction(0), "test")


@pytest.mark.parametrize(
    ("truth", "kind", "claimed", "verdict", "error"),
    [
        (WIDE, "upper", "3", "sound", ("0", "1/2")),
        (WIDE, "upper", "2", "undecided", ("-1/3", "0")),
        (WIDE, "upper", "1.99", "unsound", ("-1.01/3", "-0.01/2")),
        (WIDE, "upper", "-1", "unsound", ("-3/2", "-4/3")),
        (WIDE, "lower", "2", "sound", ("-1/3", "0")),
        (WIDE, "lower", "3", "undecided", ("0", "1/2")),
        (WIDE, "lower", "3.01", "unsound", ("0.01/3", "1.01/2")),
        (WIDE, "estimate", "2.5", "undecided", ("-0.5/3", "0.25")),
        (WIDE, "estimate", "1.97", "inaccurate", ("-1.03/3", "-0.03/2")),
        (WIDE, "estimate", "3.04", "inaccurate", ("0.04/3", "1.04/2")),
        (WIDE, "upper", "inf", "sound", math.inf),
        (WIDE, "lower", "inf", "unsound", math.inf),
        (WIDE, "estimate", "inf", "inaccurate", math.inf),
        (WIDE, "upper", "-inf", "unsound", None),
        (WIDE, "lower", "-inf", "sound", None),
        (WIDE, "estimate", "-inf", "inaccurate", None),
        (WIDE, "upper", "nan", "undecided", None),
        (WIDE, "lower", "nan", "undecided", None),
        (WIDE, "estimate", "nan", "undecided", None),
        (HALF_OPEN, "upper", "inf", "sound", None),
        (HALF_OPEN, "upper", "5", "undecided", None),
        (HALF_OPEN, "upper", "1", "unsound", None),
        (HALF_OPEN, "lower", "1", "sound", None),
        (HALF_OPEN, "lower", "inf", "undecided", None),
        (HALF_OPEN, "estimate", "inf", "undecided", None),
        (HALF_OPEN, "estimate", "5", "undecided", None),
        (HALF_OPEN, "estimate", "1", "inaccurate", None),
        (INFINITE, "upper", "1e9", "unsound", None),
        (INFINITE, "upper", "inf", "sound", "0"),
        (INFINITE, "lower", "1e9", "sound", None),
        (INFINITE, "lower", "inf", "sound", "0"),
        (INFINITE, "estimate", "inf", "accurate", "0"),
        (INFINITE, "estimate", "1e9", "inaccurate", None),
        (INFINITE, "estimate", "nan", "undecided", None),
        (ZERO, "upper", "0", "sound", "0"),
        (ZERO, "upper", "-1e-300", "unsound", None),
        (ZERO, "upper", "1e-300", "sound", None),
        (ZERO, "lower", "1e-300", "unsound", None),
        (ZERO, "estimate", "0", "accurate", "0"),
        (ZERO, "estimate", "1e-300", "inaccurate", None),
    ],
)
def test_every_shape_of_truth_and_claim(monkeypatch, truth, kind, claimed, verdict, error):
    stub(monkeypatch, truth)
    finding = judge(claim(claimed, kind))
    assert finding.verdict == verdict
    assert bool(finding.note) == (verdict == "undecided")
    if isinstance(error, tuple):
        low, high = (
            Fraction(n) / Fraction(d or 1) for n, _, d in (e.partition("/") for e in error)
        )
        assert (finding.relative_error.lower, finding.relative_error.upper) == (low, high)
    elif error is None:
        assert finding.relative_error is None
    else:
        assert finding.relative_error == Enclosure.exact(
            error if error == math.inf else Fraction(error)
        )


def test_a_tolerance_above_one_allows_every_small_claim(monkeypatch):
    stub(monkeypatch, WIDE)
    verdicts = [judge(claim(c, "estimate", tolerance="2")).verdict for c in ("-2", "0", "6", "9.1")]
    assert verdicts == ["accurate", "accurate", "accurate", "inaccurate"]
    stub(monkeypatch, HALF_OPEN)
    assert judge(claim("0", "estimate", tolerance="2")).verdict == "undecided"


def test_digits_rise_until_the_claim_is_decided(monkeypatch):
    third = Fraction(1, 3)

    def narrowing(digits):
        return Enclosure(third - Fraction(1, 10**digits), third + Fraction(1, 10**digits))

    asked = stub(monkeypatch, narrowing)
    finding = judge(claim(third - Fraction(1, 10**50), direction="add"))
    assert finding.verdict == "unsound"
    assert asked == [(15, "add"), (30, "add"), (60, "add")]
    assert finding.digits == 60


def test_digits_stop_at_the_cap(monkeypatch):
    asked = stub(monkeypatch, WIDE)
    assert "240 digits do not tell" in judge(claim("2.5")).note
    assert [digits for digits, _ in asked] == [15, 30, 60, 120, 240]
    asked.clear()
    assert "9000 digits do not tell" in judge(claim("2.5"), 9000).note
    assert len(asked) == 1


def test_enclosures_of_all_tries_are_combined(monkeypatch):
    halves = {15: Enclosure(Fraction(1), Fraction(3)), 30: Enclosure(Fraction(0), Fraction(2))}
    stub(monkeypatch, halves.__getitem__)
    finding = judge(claim("2"))
    assert finding.verdict == "sound"
    assert finding.enclosure == Enclosure(Fraction(1), Fraction(2))


def test_the_best_enclosure_may_decide_when_digits_were_not_reached(monkeypatch):
    stub(monkeypatch, WIDE.short("only so far"))
    decided, open_ = judge(claim("4")), judge(claim("2.5"))
    assert (decided.verdict, decided.note) == ("sound", "only so far")
    assert (open_.verdict, open_.note) == ("undecided", "only so far")
    assert open_.enclosure == WIDE
    assert open_.enclosure.method == "test"


def test_an_unsupported_mechanism_is_undecided_with_the_reason(monkeypatch):
    stub(monkeypatch, UnsupportedMechanism("no method for this"))
    finding = judge(claim("4"))
    assert (finding.verdict, finding.note) == ("undecided", "no method for this")
    assert finding.enclosure == Enclosure(Fraction(0), math.inf)
    assert judge(claim("-4")).verdict == "unsound"
    delta = Claim("gaussian(1)", "delta", "1", "1", "upper")
    assert judge(delta).verdict == "sound"


@pytest.mark.parametrize("failure", [RuntimeError("two\nlines"), MemoryError(), RecursionError()])
def test_a_crash_is_a_finding(monkeypatch, failure):
    stub(monkeypatch, failure)
    finding = judge(claim("4"))
    assert finding.verdict == "undecided"
    assert f"failed with {type(failure).__name__}" in finding.note
    assert finding.relative_error is None


def test_irrational_claims_are_compared_exactly_enough():
    truth = "pure_dp(log(3))^2"  # epsilon(0) = log(9)
    for value, kind, verdict in [
        ("2*log(3)+1e-40", "upper", "sound"),
        ("2*log(3)-1e-40", "upper", "unsound"),
        ("sqrt(2)", "lower", "sound"),
        ("2*log(3)", "estimate", "accurate"),
        ("2*log(3)", "upper", "sound"),
        ("log(9)", "lower", "sound"),
        ("log(27)*2/3", "estimate", "accurate"),
    ]:
        assert judge(Claim(truth, "epsilon", value, 0, kind)).verdict == verdict


def test_equality_is_sound():
    assert judge(Claim("pure_dp(1/3)^7", "epsilon", "7/3", 0, "upper")).verdict == "sound"
    assert judge(Claim("pure_dp(1/3)^7", "epsilon", "7/3", 0, "lower")).verdict == "sound"


def test_bad_digits_are_the_callers_mistake():
    with pytest.raises(InvalidInput, match="digits"):
        judge(claim("4"), 0)


def test_findings_pickle():
    finding = judge(claim("4"))
    assert pickle.loads(pickle.dumps(finding)) == finding
    assert set(VERDICTS) == WRONG | RIGHT | {"undecided"}


def test_a_claim_that_is_a_hidden_zero():
    zero = "log(6)-log(2)-log(3)"
    assert judge(Claim("gaussian(1)", "delta", zero, 1, "lower")).verdict == "sound"
    assert judge(Claim("gaussian(1)", "delta", zero, 1, "upper")).verdict == "unsound"


def test_a_wide_enclosure_leaves_estimates_near_the_tolerance_open(monkeypatch):
    stub(monkeypatch, WIDE)  # within 1/2 of every truth in [2, 3]: from 1.5 to 3
    claims = ("0.99", "1.01", "1.49", "1.51", "2.99", "3.01", "4.49", "4.51")
    assert [judge(claim(c, "estimate", tolerance="1/2")).verdict for c in claims] == [
        "inaccurate",
        "undecided",
        "undecided",
        "accurate",
        "accurate",
        "undecided",
        "undecided",
        "inaccurate",
    ]
