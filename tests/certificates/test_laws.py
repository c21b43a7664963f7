"""Laws that the checkers derive by themselves, against the accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from certified_answers import bound, certified

import dpexact
from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid
from dpexact.certificates import NoCertificate, certificate
from dpexact.certificates.statements import mechanism_tree
from dpexact.conversion import real


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "truncated_laplace(1, 3)",
        "truncated_laplace(1, 3)^2",
        "truncated_laplace(1, 2/3)",
        "truncated_laplace(1, 1/2)",
        "truncated_laplace(2, 9)^2 * laplace(2, 3)",
        "poisson(zcdp(1/2), 1/100)^1000",
        "poisson(zcdp(1/5, 1/8) * gaussian(3), 1/20)^10 * zcdp(1/9) * gaussian(9) * pure_dp(1/9)",
        "poisson(zcdp(1/90), 1/3)",
        "group(poisson(gaussian(5), 1/200), 300)",
        "group(poisson(gaussian(1), 1/36), 156)",
        "permute_and_flip(1/2)^9",
        "bounded_range(1/4)^30",
        "bounded_range(3)^2",
        "allocation(bounded_range(3), 1)",
        "allocation(bounded_range(1), 2, 2)^2",
        "shuffle(pure_dp(1), 50)",
        "shuffle(pure_dp(3), 4) * pure_dp(1/9)",
    ],
)
def test_the_checker_alone_encloses_what_the_accounting_says(text):
    for way, epsilon in (("remove", "0"), ("add", "1/20"), ("remove", "2")):
        found, known = bound(text, epsilon, way), dpexact.delta(text, epsilon, 3, way)
        assert found.lo <= known.upper
        assert known.lower <= found.hi
        assert found.hi - found.lo < Fraction(1, 2**90)


@pytest.mark.parametrize("direction", ["remove", "add", "both"])
@pytest.mark.parametrize("at", ["1/2", "-1/2"])
def test_a_sample_of_a_fixed_size_has_no_direction(direction, at):
    document = certified("fixed_size(gaussian(2), 1, 3)", "delta", at, 9, direction)
    (statement,) = document["statements"]
    assert standard.check_statement(statement)


@pytest.mark.parametrize("text", ["fixed_size(gaussian(1), 1, 3)^2", "bounded_range(1) * gdp(1)"])
def test_what_does_not_stand_beside_others_is_refused(text):
    mechanism = dpexact.parse(text)
    found = dpexact.delta("pure_dp(1)", 0)
    with pytest.raises(NoCertificate, match="beside others"):
        certificate(mechanism, "delta", real("1/2"), "both", found)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_shifts_that_are_left_out_are_counted(way, monkeypatch):
    """Those of a chance below 1/1000, so that they matter."""

    def coarse(count, q):
        masses = (math.comb(count, j) * q.lo**j * (1 - q.lo) ** (count - j) for j in range(count))
        return 2**60, {j: int(m * 2**60) for j, m in enumerate(masses) if m > Fraction(1, 1000)}

    monkeypatch.setattr(standard, "_binomial_masses", coarse)
    text = "group(poisson(gaussian(1), 1/100), 300)"
    for epsilon in ("1/10", "2"):
        found, known = bound(text, epsilon, way), dpexact.delta(text, epsilon, 9, way)
        assert found.lo <= known.upper
        assert known.lower <= found.hi
        assert Fraction(1, 10**4) < found.hi - found.lo < Fraction(1, 20)


def test_a_group_that_is_too_wide_is_refused_soon():
    with pytest.raises(Invalid, match="more work"):
        bound("group(poisson(gaussian(1), 1/100), 10000)", "1")


@pytest.mark.slow
def test_groups_repeated_are_certified_by_the_second_checker():
    pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")
    from dpexact.certificate_checker_mpfr import arithmetic, checking
    from dpexact.certificate_checker_mpfr.inversion import parts_of

    text = "group(poisson(gaussian(1), 1/100)^10, 3)"
    (statement,) = certified(text, "delta", 1, 6, "remove")["statements"]
    assert checking.check_statement(statement)
    unit = Fraction(statement["upper"]) - Fraction(statement["lower"])
    moved = {name: str(Fraction(statement[name]) + unit) for name in ("lower", "upper")}
    with pytest.raises(Invalid):
        checking.check_statement(statement | moved)
    wide = standard.steps_of(mechanism_tree(dpexact.parse("group(poisson(gdp(1), 1/9)^2, 201)")))
    with pytest.raises(Invalid, match="larger than this checker composes"):
        parts_of(wide, arithmetic.Arithmetic(64))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("laplace(1) * gaussian(2)", "laplace(2) * gaussian(2)"),
        ("truncated_laplace(1, 5)^3 * gaussian(2)", "truncated_laplace(1, 6)^3 * gaussian(2)"),
        ("truncated_laplace(3, 2, 3) * gdp(1)", "truncated_laplace(3, 2, 2) * gdp(1)"),
        (
            "poisson(gaussian(1), 1/100)^100 * laplace(2)^2 * randomized_response(1/2, 2)",
            "poisson(gaussian(1), 1/100)^100 * laplace(2)^2 * randomized_response(1/2, 3)",
        ),
        (
            "poisson(gaussian(1), 1/100)^50 * truncated_discrete_gaussian(3, 6)",
            "poisson(gaussian(1), 1/100)^50 * truncated_discrete_gaussian(3, 7)",
        ),
    ],
)
def test_other_laws_beside_normal_ones(text, other, direction):
    pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")
    from dpexact.certificate_checker_mpfr import checking

    (statement,) = certified(text, "delta", "1/2", 8, direction)["statements"]
    assert statement["method"] == "contour"
    assert checking.check_statement(statement)
    tree = mechanism_tree(dpexact.parse(other))
    with pytest.raises(Invalid):
        checking.check_statement(statement | {"mechanism": tree, "text": standard.shown(tree)})


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(1), 0)",
        "poisson(gaussian(1), 0) * poisson(gaussian(2), 1/10)^3",
        "poisson(laplace(1), 0) * laplace(2)",
        "truncated_poisson(gaussian(1), 0, 100, 10) * gaussian(2)",
        "replace(poisson(gaussian(1), 0) * poisson(gaussian(2), 1/10)^3)",
    ],
)
def test_samples_of_no_records_lose_nothing(text):
    if "1/10" in text:
        pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")
    found = dpexact.epsilon(text, "1e-5")
    (statement,) = certificate(dpexact.parse(text), "epsilon", real("1e-5"), "both", found)[
        "statements"
    ]
    assert Fraction(statement["lower"]) <= found.upper
    assert found.lower <= Fraction(statement["upper"])


def test_the_moments_of_a_law_are_symmetric_and_whole():
    pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")
    from dpexact.certificate_checker_mpfr import arithmetic
    from dpexact.certificate_checker_mpfr.inversion import parts_of

    tree = mechanism_tree(dpexact.parse("truncated_laplace(1, 5) * staircase(1, 1/3) * gdp(1)"))
    for law, _ in parts_of(standard.steps_of(tree), arithmetic.Arithmetic(96)).laws:
        finite = law.lost + law.moment(Fraction(0)) - 1
        assert abs(float(finite.lo)) < 1e-26
        assert abs(float(finite.hi)) < 1e-26
        for b in (Fraction(1, 2), Fraction(2)):
            gap = law.moment(b) - law.moment(-1 - b)
            assert gap.lo <= 0 <= gap.hi
        step = law.moment(Fraction(-1, 2)) - law.moment(Fraction(-1, 2) + Fraction(1, 10**9))
        assert abs(float(step.hi)) < 1e-15


def test_counts_of_clones_that_are_left_out_are_counted(monkeypatch):
    """Those of a chance below 1/1000, so that they matter."""
    whole = standard._binomial_masses

    def coarse(count, q):
        scale, masses = whole(count, q)
        few = {j: mass for j, mass in masses.items() if 1000 * mass > scale}
        return (scale, few) if count == 49 else (scale, masses)

    monkeypatch.setattr(standard, "_binomial_masses", coarse)
    found, known = (
        bound("shuffle(pure_dp(1), 50)", "0"),
        dpexact.delta("shuffle(pure_dp(1), 50)", 0),
    )
    assert found.lo < known.lower
    assert known.upper < found.hi
    assert found.hi - found.lo < Fraction(1, 100)
