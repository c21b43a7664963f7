"""The choice among exact laws, and products across kinds."""

from fractions import Fraction

import pytest

from dpexact import delta, epsilon, parse
from dpexact.accounting.profiles import profile
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism


def ask(text, point, direction="remove", digits=20):
    return profile(parse(text), direction).delta(real(point), digits)


@pytest.mark.parametrize(
    ("one", "other", "point"),
    [
        ("discrete_laplace(3)^10", "pure_dp(1/3)^10", "1"),
        ("staircase(1, 1/2)^7", "pure_dp(1)^7", "3"),
        ("staircase(1, 1/3)", "staircase(1, 1/3, 5)", "1/2"),
        ("laplace(2)^3", "laplace(4, 2)^3", "0.9"),
        ("laplace(2)^2 * laplace(3)", "laplace(3) * laplace(2) * laplace(2)", "0.9"),
        ("poisson(poisson(laplace(2), 1/2), 1/5)", "poisson(laplace(2), 1/10)", "1/50"),
        ("poisson(laplace(2)^3, 1)", "laplace(2)^3", "1/2"),
        ("poisson(laplace(2), 0) * pure_dp(1)", "pure_dp(1)", "1/2"),
        ("discrete_gaussian(2)^2 * pure_dp(0)", "discrete_gaussian(2)^2", "1/2"),
        ("poisson(pure_dp(1), 1/10) * pure_dp(0)", "poisson(pure_dp(1), 1/10)", "1/20"),
        ("discrete_laplace(2, 2) * pure_dp(1/2)^2", "pure_dp(1/2)^2 * discrete_laplace(2, 2)", "1"),
    ],
)
def test_equal_mechanisms_have_equal_profiles(one, other, point):
    assert ask(one, point).overlaps(ask(other, point))


@pytest.mark.parametrize("continuous", ["laplace(2)^2", "gaussian(2)"])
def test_a_lattice_beside_a_continuous_part_by_conditioning(continuous):
    """Two responses, summed over by hand with the profile of the rest at shifted points."""
    whole = ask(f"staircase(1/3, 1/2) * discrete_laplace(3) * {continuous}", "1")
    by_response = ask(f"pure_dp(1/3)^2 * {continuous}", "1")
    assert whole.overlaps(by_response)
    growth = real("exp(1/3)")
    assert growth
    from dpexact import balls

    with balls.precision(100):
        e = balls.ball(growth)
        total = balls.ball(0)
        for weight, loss in ((e * e, "1/3"), (2 * e, "1"), (1 + 0 * e, "5/3")):
            part = ask(continuous, loss)
            total += weight * balls.ball(part.lower) / (1 + e) ** 2
        value = balls.midpoint(total)
    assert abs(value - whole.lower) < Fraction(1, 10**18)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_sampling_never_hurts_and_directions_differ(direction):
    for base in ("staircase(1, 1/4)", "discrete_laplace(2, 3)", "approx_dp(1, 1/100)"):
        plain, at = ask(f"{base}^3", "1/2"), ask(f"poisson({base}, 1/2)^3", "1/2", direction)
        assert at < plain
    remove, add = (ask("poisson(staircase(1, 1/4), 1/2)^3", "1/2", d) for d in ("remove", "add"))
    assert not remove.overlaps(add)


def test_public_questions_reach_the_exact_laws():
    assert delta("laplace(2)", "1/5").overlaps(delta("laplace(2) * approx_dp(0, 0)", "1/5"))
    assert epsilon("staircase(1, 1/4)^3", 0).lower == 3
    assert delta("discrete_gaussian(2)^5 * approx_dp(0, 1)", 1).lower == 1


@pytest.mark.parametrize(
    "text",
    [
        "fixed_size(laplace(1), 1, 2)",
    ],
)
def test_what_has_no_exact_law_is_named(text):
    with pytest.raises(UnsupportedMechanism):
        ask(text, "1/2")
