"""Certificates of groups, replacement and several sensitivities: written, verified, and forged."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest
from certified_answers import certified

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid
from dpexact.certificate_checker_mpfr import checking

TEXTS = [
    "group(poisson(gaussian(1), 1/100)^1000, 3)",
    "group(poisson(gaussian(2), 1/20)^200, 2) * gaussian(10)",
    "replace(poisson(gaussian(1), 1/100)^1000)",
    "gaussian_mixture(2, 0: 3/4, 1: 3/16, 2: 1/16)^100",
    "gaussian_mixture(2, 0: 1/2, 1/2: 1/4, 1: 1/4)^50 * poisson(gaussian(3), 1/10)^20",
]
PLAIN = [
    "group(laplace(5)^3, 2)",
    "group(gaussian(5) * pure_dp(1/100), 1)",
    "replace(gaussian(3)^5)",
    "group(discrete_laplace(5), 3)^2",
]


@pytest.mark.parametrize("text", TEXTS + PLAIN)
@pytest.mark.parametrize(("quantity", "at"), [("delta", "1"), ("epsilon", "1e-5")])
@pytest.mark.slow
def test_what_is_written_is_verified(text, quantity, at):
    written = certified(text, quantity, at, 12)
    assert checking.check(written)
    assert (written["statements"][0]["method"] == "contour") is (text in TEXTS)


@pytest.mark.parametrize("text", TEXTS[::2])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_each_direction(text, direction):
    assert checking.check(certified(text, "delta", "1", 12, direction))


def forged(written, path, value):
    changed = copy.deepcopy(written)
    place = changed["statements"][0]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    statement = changed["statements"][0]
    statement["text"] = standard.shown(statement["mechanism"])
    changed["digest"] = standard.digest(changed)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        (TEXTS[0], ("mechanism", 2), "2"),
        (TEXTS[0], ("mechanism", 2), "4"),
        (TEXTS[0], ("mechanism", 1, 1, 2), "1/101"),
        (
            TEXTS[0],
            ("mechanism",),
            ["replace", ["repeat", ["poisson", ["gaussian", "1", "1"], "1/100"], "1000"]],
        ),
        (TEXTS[2], ("mechanism", 1, 1, 2), "1/99"),
        (TEXTS[3], ("mechanism", 1, 2), ["0", "1/2"]),
        (TEXTS[3], ("mechanism", 1, 4), ["3", "1/16"]),
        (TEXTS[3], ("mechanism", 1, 1), "1"),
    ],
)
def test_another_mechanism_is_not_what_was_certified(text, path, value):
    with pytest.raises(Invalid):
        checking.check(forged(certified(text, "delta", "1", 12), path, value))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("units", [-1, 1])
@pytest.mark.slow
def test_moved_bounds_are_rejected(text, units):
    written = certified(text, "delta", "1", 12)
    statement = written["statements"][0]
    unit = Fraction(statement["upper"]) - Fraction(statement["lower"])
    for name in ("lower", "upper"):
        statement[name] = str(Fraction(statement[name]) + units * unit)
    written["digest"] = standard.digest(written)
    with pytest.raises(Invalid):
        checking.check(written)
