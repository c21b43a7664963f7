"""Words and numbers for people: only certain digits, commands that a shell reads back."""

import math
import shlex
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audit import Claim, judge
from dpexact.audit.reports.wording import error_text, reproduce
from dpexact.cli import main
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
        (interval("2e-9", "2.000001e-9"), "+2.000...e-9"),
        (interval("12.3456", "12.3457"), "+12.34..."),
        (interval("-2.38e-16", "-2.03e-16"), "[-2.38e-16, -2.03e-16]"),
        (interval("-0.01", "0.02"), "[-1, 2] %"),
        (interval("-1e-9", "2e-9"), "[-1e-9, 2e-9]"),
    ],
)
def test_relative_errors(error, text):
    assert error_text(error) == text


@given(st.fractions(min_value=-20, max_value=20), st.fractions(min_value=0, max_value=1))
def test_shown_digits_of_an_error_are_certain(low, width):
    high = low + width / 1000
    text = error_text(Enclosure(low, high))
    if "..." in text:
        scale = 100 if text.endswith(" %") else 1
        digits, _, exponent = text.removesuffix(" %").partition("...")
        mantissa = Fraction(digits)
        power = Fraction(10) ** int((exponent or "e0")[1:])
        places = len(digits.partition(".")[2])
        for truth in (low, high):
            distance = abs(truth * scale) - abs(mantissa) * power
            assert 0 <= distance < power / Fraction(10) ** places
            assert (truth < 0) == digits.startswith("-")


def test_the_command_computes_the_truth_again():
    claim = Claim("approx_dp(log(3/2), 1/7)^2", "epsilon", "1", "1/2", "upper", direction="add")
    command = reproduce(judge(claim))
    program, *arguments = shlex.split(command)
    assert program == "dpexact"
    assert arguments[-4:] == ["--direction", "add", "--digits", "30"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert result.output.startswith("epsilon = 0\n")


def test_the_command_asks_for_the_digits_that_decided():
    claim = Claim("pure_dp(log(3))", "epsilon", "log(3)+1e-90", 0, "upper")
    assert reproduce(judge(claim)).endswith("--digits 120")
