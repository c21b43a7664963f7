"""Certificates of random allocation: written, verified, forged."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest
from certified_answers import certified

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid
from dpexact.certificate_checker_mpfr import checking
from dpexact.certificates import NoCertificate

ASKED = [
    ("allocation(gaussian(1), 10)", "delta", "1", 12),
    ("allocation(gaussian(1), 1000)", "delta", "1", 12),
    ("allocation(gaussian(2)^4, 100)", "epsilon", "1e-5", 10),
    ("allocation(gdp(1), 100)", "delta", "-1/10", 10),
    ("allocation(gaussian(1), 10, 1)", "epsilon", "1e-4", 8),
    ("allocation(gaussian(1), 100)^10", "epsilon", "1e-5", 10),
    ("allocation(gaussian(1), 100)^10", "delta", "-1/10", 8),
    ("allocation(gaussian(2)^4, 10)^100", "delta", "1", 8),
    ("allocation(gaussian(1/2), 2)", "delta", "1/3", 8),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "quantity", "at", "digits"), ASKED)
def test_what_is_written_is_verified(text, quantity, at, digits):
    written = certified(text, quantity, at, digits)
    assert checking.check(written)
    (one,) = written["statements"]
    assert one["method"] == "Laplace transform"
    assert int(one["digits"]) >= digits - 2


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.slow
def test_each_direction(direction):
    written = certified("allocation(gaussian(1), 100)", "delta", "1/2", 8, direction)
    assert checking.check(written)
    assert set(written["statements"][0]["plan"]) == {direction}


def test_the_standard_checker_says_which_one_to_take():
    with pytest.raises(standard.Unreadable, match="Laplace transform: python -m dpexact"):
        standard.check(certified("allocation(gaussian(1), 100)", "delta", "1/2", 5))


FORGED = [
    ("lower", None),
    ("mechanism", ["repeat", ["allocation", ["gaussian", "1", "1"], "100"], "2"]),
    ("mechanism", ["allocation", ["gaussian", "1", "1"], "101"]),
    ("mechanism", ["allocation", ["gaussian", "11/10", "1"], "100"]),
    ("direction", "add"),
    ("at", "3/5"),
    ("method", "contour"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("member", "value"), FORGED)
def test_what_is_changed_is_found_out(member, value):
    forged = copy.deepcopy(certified("allocation(gaussian(1), 100)", "delta", "1/2", 6))
    (one,) = forged["statements"]
    if member == "lower":
        one["lower"] = one["upper"]
        one["upper"] = str(standard.following(Fraction(one["lower"]), int(one["digits"])))
    else:
        one[member] = value
        if member == "mechanism":
            one["text"] = standard.shown(value)
    if member == "direction":
        one["plan"] = {"add": one["plan"]["add"]}
    forged["digest"] = standard.digest(forged)
    with pytest.raises((Invalid, standard.Unreadable)):
        checking.check(forged)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("allocation(gaussian(1), 100, 4)", "certificates do not speak of"),
        ("allocation(gaussian(1), 30)^2 * allocation(gaussian(1), 20)", "no route"),
        ("allocation(gaussian(1), 100) * gaussian(10)", "no route"),
        ("shuffle(pure_dp(1), 100)^2", "shuffled reports together"),
        ("shuffled_batches(gaussian(1), 100)", "certificates do not speak of shuffled_batches"),
        ("allocation(gaussian(1), 20000)^10", "within the work"),
    ],
)
def test_what_has_none_is_refused_by_name(text, reason):
    with pytest.raises(NoCertificate, match=reason):
        certified(text, "delta", "1/3", 5)
