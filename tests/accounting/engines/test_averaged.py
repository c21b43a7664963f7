"""Few sampled steps beside few outcomes: against the engines that see all of it at once."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from flint import arb

import dpexact
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.averaged import Averaged, _Both, few_law
from dpexact.accounting.engines.lattice_law import few_outcomes, parted
from dpexact.accounting.reflection import OPPOSITE
from dpexact.accounting.routes import contour, routed
from dpexact.conversion import real
from dpexact.mechanisms import parse

WAYS = ("remove", "add")
RUNS = [
    "poisson(gaussian(1.3), 1/10)^5 * pure_dp(1/2)",
    "poisson(gaussian(1), 1/3)^3 * poisson(approx_dp(1, 1/1000), 1/10)",
    "poisson(gaussian(0.8), 1/20)^2 * approx_dp(1/3, 1e-4)",
    "poisson(gaussian(0.8), 1/20)^3 * discrete_gaussian(1/2)^2 * pure_dp(1) * approx_dp(0, 1e-5)",
]


def average(text, way, law=None):
    whole = Composition.running(parse(text))
    finite, noise = parted(whole)
    known, infinite = few_law(finite, way)
    sides = ((routed(noise, w), contour(noise, w)) for w in (way, OPPOSITE[way]))
    return Averaged(law or known, infinite, *sides, contour(whole, way))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", RUNS)
def test_it_meets_the_line(text, way):
    found, line = average(text, way), contour(Composition.running(parse(text)), way)
    for at in ("0", "0.05", "0.4", "1.1"):
        one, two = found.delta(real(at), 8), line.delta(real(at), 8)
        assert one.overlaps(two)
        assert one.digits >= 8
    one, two = found.epsilon(real("1e-3"), 8), line.epsilon(real("1e-3"), 8)
    assert one.overlaps(two)
    assert one.digits >= 8


def blurred(law, width):
    """The same law, of which losses are known to balls."""
    return SimpleNamespace(
        losses=lambda: ((loss + arb(width, width), mass) for loss, mass in law.losses()),
        dropped=law.dropped,
    )


def careless(law, kept):
    """Forgets all losses but the first, and says so."""
    return SimpleNamespace(
        losses=lambda: list(law.losses())[:kept],
        dropped=lambda: sum((mass for _, mass in list(law.losses())[kept:]), arb(0)),
    )


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_known_of_the_law_is_counted(way):
    text = RUNS[0]
    law = few_outcomes(parted(Composition.running(parse(text)))[0], way)
    for at in ("0.1", "0.3", "0.7"):
        truth = average(text, way).delta(real(at), 8)
        for other in (blurred(law, 0.2), careless(law, 1), careless(law, 0)):
            assert average(text, way, other).delta(real(at), 8).overlaps(truth)


@pytest.mark.parametrize(
    ("text", "at", "digits"),
    [
        ("poisson(gaussian(0.6), 1e-5)^3 * pure_dp(1/2)", "0.6", 12),
        ("poisson(gaussian(0.6), 1e-5)^3 * approx_dp(0, 1e-8)", "0.01", 12),
        ("poisson(gaussian(1.3), 1e-3)^3 * poisson(pure_dp(1), 1/10)", "0.6", 12),
        ("poisson(gaussian(1.05), 1.77e-5)^18 * discrete_gaussian(0.574)^2", "0", 12),
        ("poisson(gaussian(1.4), 1e-6)^7 * discrete_laplace(0.6)", "0.2", 12),
    ],
)
def test_few_rare_steps_have_digits(text, at, digits):
    assert dpexact.delta(text, at, digits, "remove").digits >= digits


def test_epsilon_is_where_delta_crosses():
    text = "poisson(gaussian(0.6), 1e-5)^3 * pure_dp(1/2)"
    found = dpexact.epsilon(text, "1e-6", 12, "remove")
    assert found.method.startswith("average over outcomes")
    low, high = (dpexact.delta(text, real(end), 14, "remove") for end in (found.lower, found.upper))
    assert low.lower > Fraction("1e-6") > high.upper


def test_a_search_does_not_begin_anew(monkeypatch):
    """Its first step is from where one loss is enough, far from the end."""
    asked, delta = [], Averaged.delta

    def counted(self, at, digits):
        asked.append(at)
        return delta(self, at, digits)

    monkeypatch.setattr(Averaged, "delta", counted)
    text = "poisson(gaussian(3), 1e-6)^4 * poisson(pure_dp(1), 1/10)"
    assert dpexact.epsilon(text, "1e-3", 12, "remove").digits >= 12
    assert len(asked) < 25


def test_short_answers_make_a_wide_one():
    found = average(RUNS[0], "remove")
    short = found.toward[0].delta(real("0.1"), 2)
    truth = found.delta(real("0.3"), 10)
    found.toward = Mock(delta=lambda at, digits: replace(short, lower=Fraction(0))), found.line
    answer = found.delta(real("0.3"), 10)
    assert answer.reason
    assert not truth.reason
    assert answer.lower <= truth.lower


def test_of_what_hardly_matters_a_bound_is_enough():
    """Far losses of discrete noise are rare, and deep values of rare samples dear."""
    asked, found = [], average("poisson(gaussian(1), 1e-2)^18 * discrete_gaussian(0.6)", "remove")

    def noted(side):
        profile, line = side
        return Mock(delta=lambda at, n: asked.append(at) or profile.delta(at, n)), line

    found.toward, found.back = noted(found.toward), noted(found.back)
    assert found.delta(real("0"), 8).digits >= 8
    assert len(list(found.law.losses())) > 12
    assert 0 < len(asked) < 12


def test_what_either_law_misses_is_missing():
    one, other = (
        SimpleNamespace(losses=lambda x=x: [(arb(x), arb(1 - x))], dropped=lambda x=x: arb(x))
        for x in (0.25, 0.5)
    )
    both = _Both(one, other)
    ((loss, mass),) = both.losses()
    assert (loss, mass) == (0.75, 0.375)
    assert mass + both.dropped() == 1
