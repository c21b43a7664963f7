"""Words and numbers for people: only certain digits, commands that a shell reads back."""

import math
import shlex
from fractions import Fraction

import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim, audit, judge
from dpexact.audits.reports.wording import error_text, judgement, reproduce, worst_first
from dpexact.enclosure import Enclosure


def interval(low, high):
    return Enclosure(Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (None, "undefined"),
        (Enclosure.exact(Fraction(0)), "0"),
        (Enclosure.exact(math.inf), "+inf"),
        (Enclosure.exact(Fraction(-1)), "-100 %"),
        (interval("0.012345678", "0.012345679"), "+1.234... %"),
        (interval("-0.012345679", "-0.012345678"), "-1.234... %"),
        (interval("2e-9", "2.000001e-9"), "+2.000...e-7 %"),
        (interval("12.3456", "12.3457"), "+1234... %"),
        (interval("-2.38e-16", "-2.03e-16"), "[-2.38e-14, -2.03e-14] %"),
        (interval("-0.01", "0.02"), "[-1, 2] %"),
        (interval("-1e-9", "2e-9"), "[-1e-7, 2e-7] %"),
    ],
)
def test_relative_errors(error, text):
    assert error_text(error) == text


@given(st.fractions(min_value=-20, max_value=20), st.fractions(min_value=0, max_value=1))
def test_shown_digits_of_an_error_are_certain(low, width):
    high = low + width / 1000
    text = error_text(Enclosure(low, high))
    if "..." in text:
        digits, _, exponent = text.removesuffix(" %").partition("...")
        mantissa = Fraction(digits)
        power = Fraction(10) ** int((exponent or "e0")[1:])
        places = len(digits.partition(".")[2])
        for truth in (low, high):
            distance = abs(truth * 100) - abs(mantissa) * power
            assert 0 <= distance < power / Fraction(10) ** places
            assert (truth < 0) == digits.startswith("-")


def test_the_command_computes_the_truth_again():
    claim = Claim("approx_dp(log(3/2), 1/7)^2", "epsilon", "1", "1/2", "upper", direction="add")
    command = reproduce(judge(claim))
    program, *arguments = shlex.split(command)
    assert program == "dpexact"
    assert arguments[-4:] == ["--direction", "add", "--digits", "30"]
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert result.output.startswith("epsilon = 0\n")


def test_the_command_asks_for_the_digits_that_decided():
    claim = Claim("pure_dp(log(3))", "epsilon", "log(3)+1e-90", 0, "upper")
    assert reproduce(judge(claim)).endswith("--digits 120")


def test_the_most_harmful_claim_comes_first():
    """By what is hidden: a bound of the boundless, all, a half, nothing; last what is right."""
    claims = [
        ("sound", Claim("pure_dp(1)", "epsilon", "1", "0", "upper")),
        ("too large", Claim("pure_dp(1)", "epsilon", "9", "0", "estimate")),
        ("a half", Claim("pure_dp(1)", "epsilon", "0.5", "0", "upper")),
        ("undecided", Claim("zcdp(1)", "epsilon", "1", "1e-5", "upper")),
        ("a rounding", Claim("pure_dp(1)", "epsilon", "1-1e-16", "0", "upper")),
        ("all", Claim("pure_dp(1)", "epsilon", "-5", "0", "upper")),
        ("two thirds", Claim("pure_dp(3)", "epsilon", "1", "0", "estimate")),
        ("boundless", Claim("gaussian(1)", "epsilon", "5", "0", "upper")),
    ]
    order = [claims[place - 1][0] for place, _ in worst_first(audit([c for _, c in claims]))]
    assert order == [
        "boundless",
        "all",
        "two thirds",
        "a half",
        "too large",
        "undecided",
        "a rounding",
        "sound",
    ]


def test_the_judgement():
    def said(*values):
        return judgement(audit([Claim("pure_dp(1)", "epsilon", v, "0", "upper") for v in values]))

    assert said() == "Nothing was judged."
    assert said("1", "1-1e-16") == "No claim is wrong by more than a rounding."
    assert said("nan").endswith("but not all are decided.")
    assert said("0.5", "0.9").endswith("2 claims; the worst hides 50 % of the truth.")
    over = judgement(audit(Claim("pure_dp(1)", "epsilon", "9", "0", "estimate")))
    assert over.endswith("1 claim; the worst overstates the loss.")


@pytest.mark.parametrize(
    ("claim", "worst"),
    [
        (Claim("gdp(1)", "epsilon", "9", "1/2", "lower"), "overstates the loss"),  # it is 0
        (Claim("gdp(1)", "epsilon", "9", "1/2", "estimate"), "overstates the loss"),
        (Claim("pure_dp(1)", "epsilon", "9", "0", "lower"), "overstates the loss"),
        (Claim("pure_dp(1)", "epsilon", "-5", "0", "upper"), "hides 100 % of the truth"),
        (Claim("gdp(1)", "epsilon", "9", "0", "estimate"), "names a bound where there is none"),
        (Claim("gdp(1)", "beta", "1/2", "1/2", "lower"), "hides 100 % of the truth"),
        (Claim("gdp(1)", "beta", "1/10", "1/2", "upper"), "overstates the loss"),
    ],
)
def test_what_the_worst_claim_does(claim, worst):
    assert judgement(audit(claim)).endswith(f"1 claim; the worst {worst}.")
