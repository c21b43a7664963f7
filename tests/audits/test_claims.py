"""Claims: exact values, checked fields, one statement."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dpexact
from dpexact.audits.claims import DEFAULT_TOLERANCE, Claim, number_text
from dpexact.conversion import real
from dpexact.errors import InvalidInput


def claim(**changes):
    fields = {
        "mechanism": "gaussian(1)",
        "quantity": "epsilon",
        "claimed": "4.4",
        "at": "1e-5",
        "kind": "upper",
    }
    return Claim(**{**fields, **changes})


def test_text_is_kept_exactly_and_a_float_is_its_binary_value():
    assert claim(claimed="0.1").claimed.fraction == Fraction(1, 10)
    assert claim(claimed=0.1).claimed.fraction == Fraction(0.1) != Fraction(1, 10)
    assert claim(claimed=np.float64(0.1)) == claim(claimed=0.1)
    assert claim().mechanism == dpexact.gaussian(1)
    assert claim(claimed="log(3/2)").claimed == real("log(3/2)")


@pytest.mark.parametrize("text", ["inf", "+inf", "Infinity", ".inf", "INF", math.inf, np.inf])
def test_infinity_may_be_claimed(text):
    assert claim(claimed=text).claimed == math.inf


def test_nan_and_minus_infinity_are_kept_as_returned():
    assert math.isnan(claim(claimed=math.nan).claimed)
    assert claim(claimed="-inf").claimed == -math.inf


def test_only_an_estimate_has_a_tolerance():
    assert claim().tolerance is None
    assert claim(kind="estimate").tolerance == DEFAULT_TOLERANCE == real("0.01")
    assert claim(kind="estimate", tolerance="1e-9").tolerance == real("1e-9")
    with pytest.raises(InvalidInput, match=r"^tolerance: 1e-9 is not accepted with kind upper"):
        claim(tolerance="1e-9")


def test_an_expectation_fits_the_kind():
    assert claim().expect is None
    assert claim(expect="unsound").expect == "unsound"
    assert claim(kind="estimate", expect="accurate").expect == "accurate"
    with pytest.raises(InvalidInput, match=r"^expect: 'sound' is not accepted; use ina"):
        claim(kind="estimate", expect="sound")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"expect": "inaccurate"}, "expect: 'inaccurate' is not accepted; use unsound, sound"),
        ({"quantity": "rho"}, "claims: 'rho' is not accepted; use epsilon, delta"),
        ({"kind": "exact"}, "kind: 'exact' is not accepted; use upper, lower, estimate"),
        ({"direction": "up"}, "direction: 'up'"),
        ({"at": "2"}, "delta: 2 is not accepted; must be >= 0 and <= 1"),
        ({"at": "x", "quantity": "delta"}, "epsilon: column 1"),
        ({"at": "nan"}, "delta: nan"),
        ({"claimed": "four"}, "epsilon: "),
        ({"claimed": True}, "epsilon: a truth value"),
        ({"claimed": "sqrt(1-2*pi)"}, "epsilon: .* is not a finite real number"),
        ({"mechanism": "gausian(1)"}, "mechanism: column 1 .* did you mean 'gaussian'"),
        ({"mechanism": ""}, "mechanism: empty text"),
        ({"mechanism": 3}, "mechanism: 3 is neither"),
        ({"kind": "estimate", "tolerance": "-1"}, "tolerance: -1 is not accepted"),
        (
            {"kind": "estimate", "tolerance": "pi"},
            "tolerance: pi is not accepted; must be rational",
        ),
    ],
)
def test_a_bad_field_is_named(changes, message):
    with pytest.raises(InvalidInput, match=f"^{message}") as caught:
        claim(**changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("kind", "sign"), [("upper", "<="), ("lower", ">="), ("estimate", "~")])
def test_statement(kind, sign):
    assert claim(kind=kind, at="1e-9").statement == f"epsilon {sign} 4.4 at delta = 1e-9"


def test_numbers_are_shown_exactly_where_short():
    assert number_text(real("4.377178095681")) == "4.377178095681"
    assert number_text(real(0.1)) == "0.10000000000000001"
    assert number_text(real(1 / 3)) == "0.33333333333333331"
    assert number_text(real("0." + 60 * "9")) == "0.99999999999999999..."
    assert number_text(real("-1." + 30 * "9" + "e-9")) == "-1.9999999999999999...e-9"
    assert number_text(real("1" + 400 * "0" + "1")) == "1...e401"
    assert number_text(real("0.12345678901234"), 10) == "0.12345678901234"
    assert number_text(math.inf) == "inf"
    assert number_text(real("log(3)+log(5)+log(7)+log(11)")) == "log(3)+log(5)+log(7)+log(11)"


def test_claims_are_values():
    assert pickle.loads(pickle.dumps(claim())) == claim()
    assert len({claim(), claim(), claim(id="other")}) == 2
