"""Templates: where a ``?`` may stand, what it stands for, and what is put there."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import InvalidInput, gdp, parse
from dpexact.mechanisms.grammar import parse_template


@pytest.mark.parametrize(
    ("text", "owner", "parameter", "within"),
    [
        ("gaussian(?)", "gaussian", "sigma", ()),
        ("gaussian(sigma = ? )", "gaussian", "sigma", ()),
        ("gaussian(2, ?)", "gaussian", "sensitivity", ()),
        ("gaussian(sensitivity=?, sigma=2)", "gaussian", "sensitivity", ()),
        ("approx_dp(log((1+2)/2), ?)^3", "approx_dp", "delta", ()),
        ("poisson(gaussian(1, 2), ?)", "poisson", "q", ()),
        ("poisson(q=?, mechanism=gaussian(1, 2))", "poisson", "q", ()),
        ("poisson((laplace(?) * gdp(1))^2, 1/2)", "laplace", "scale", ("poisson",)),
        ("poisson(poisson(gdp(?), 1/2), 1/3)", "gdp", "mu", ("poisson", "poisson")),
        ("fixed_size(gaussian(?), 5, 10)", "gaussian", "sigma", ("fixed_size",)),
        ("fixed_size(gaussian(1), 5, ?)", "fixed_size", "n", ()),
        ("gaussian(1)^?", "", "times", ()),
        ("gaussian(1) ** ? * laplace(2)", "", "times", ()),
        ("(gaussian(1)^2 * laplace(2))^?", "", "times", ()),
        ("poisson(gaussian(1)^?, 1/2)^7", "", "times", ("poisson",)),
        ("poisson(gaussian(1), 1/2)^?", "", "times", ()),
        ("gaussian_mixture(1, 0: 1/2, ?: 1/2)", "gaussian_mixture", "sensitivities", ()),
        ("gaussian_mixture(1, 0: ?, 1: 1/2)^3", "gaussian_mixture", "sensitivities", ()),
        ("mix(?: gaussian(1), 1/2: gdp(1))", "mix", "parts", ()),
        ("mix(1/2: gaussian(?), 1/2: gdp(1))", "gaussian", "sigma", ("mix",)),
        ("pair((1/2, ?), (1/2, 1/2))", "pair", "outcomes", ()),
        ("randomized_response(2, ?)", "randomized_response", "k", ()),
        ("allocation(gaussian(1), 30, ?)", "allocation", "k", ()),
    ],
)
def test_what_the_unknown_is(text, owner, parameter, within):
    template = parse_template(text)
    assert (template.owner, template.parameter) == (owner, parameter)
    around = tuple(part.name for part in template.around if part.name)
    assert around == within


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "gaussian(1)",
        "gaussian(?) * gaussian(?)",
        "gaussian(??)",
        "(?)",
        "gaussian(1) * ?",
        "gaussian(1)?",
        "?(1)",
        "ga?ussian(1)",
        "poisson(?, 1/2)",
        "poisson(mechanism=?, q=1/2)",
        "gaussian(?=1)",
        "gaussian((?))",
        "gaussian(-?)",
        "gaussian(2*?)",
        "gaussian(?/2)",
        "gaussian(1?)",
        "gaussian(?5)",
        "gaussian(?^2)",
        "gaussian(2^?)",
        "gaussian((2)^?)",
        "gaussian(log(?))",
        "gaussian(log(2)^?)",
        "gaussian(1)^(?)",
        "gaussian(1)^?5",
        "gaussian(1)^1?",
        "gaussian(1)^?^2",
        "gaussian(1, 2, ?)",
        "gaussian(1, sigma=?)",
        "gaussian(mu=?)",
        "gaussian(?",
        "gaussian(?))",
        "gausian(?)",
        "poisson(gaussian(?), 2)",
    ],
)
def test_impossible_places_are_refused_in_one_line(text):
    with pytest.raises(InvalidInput) as refused:
        parse_template(text)
    assert "\n" not in str(refused.value)


def test_messages_point_at_the_text_that_was_written():
    with pytest.raises(InvalidInput, match=r"column 11 of 'gaussian\(\?': expected '\)'"):
        parse_template("gaussian(?")
    with pytest.raises(InvalidInput, match=r"column 12 of 'gaussian\(2\^\?\)': '\?' cannot stand"):
        parse_template("gaussian(2^?)")


def test_text_only():
    with pytest.raises(InvalidInput, match="not text"):
        parse_template(gdp(1))


FILLED = [
    ("gaussian({}, 2)", Fraction(13, 10)),
    ("poisson(gaussian(sigma={}), 256/60000)^3515", Fraction(8, 7)),
    ("poisson(gaussian(1), {})^3515", Fraction(1, 3)),
    ("laplace(1) * approx_dp(1, {})", Fraction(1, 10**30)),
    ("poisson(gaussian(1)^{}, 1/2)^3", Fraction(4)),
    ("(laplace(1) * gdp(2))^{}", Fraction(10**18)),
]


@pytest.mark.parametrize(("text", "value"), FILLED)
def test_filling_is_writing_the_number(text, value):
    assert parse_template(text.format("?")).fill(value) == parse(text.format(value))


@given(st.fractions(min_value=Fraction(1, 10**40), max_value=10**40))
def test_any_fraction_is_put_in_exactly(value):
    assert parse_template("gaussian(?)").fill(value).sigma.fraction == value


def test_a_value_out_of_the_domain_is_refused():
    with pytest.raises(InvalidInput, match="q: 2"):
        parse_template("poisson(gaussian(1), ?)").fill(2)
    with pytest.raises(InvalidInput, match="times"):
        parse_template("gaussian(1)^?").fill(Fraction(3, 2))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("poisson(gaussian(?, 2), 1/2)^3", "poisson(gdp(0), 1/2)^3"),
        ("laplace(1) * gaussian(1)^? * laplace(2)", "laplace(1) * gdp(0) * laplace(2)"),
        ("((laplace(1) * gdp(3))^?)^4", "(gdp(0))^4"),
        ("poisson(laplace(1), ?)", "gdp(0)"),
    ],
)
def test_the_owner_can_be_replaced(text, expected):
    assert parse_template(text).with_owner(gdp(0)) == parse(expected)


def test_the_owner_alone():
    template = parse_template("laplace(3) * poisson(gaussian(1)^?, 1/2)")
    assert template.hole.fill(1) == parse("gaussian(1)")
    assert [part.name for part in template.around] == ["", "poisson"]
    assert str(template) == template.text
