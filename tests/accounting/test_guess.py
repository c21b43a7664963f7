"""First guesses: near the truth for sampled Gaussians, absent elsewhere."""

import math
from fractions import Fraction

import pytest

from dpexact import delta, parse
from dpexact.accounting.calibration.search import saddle_gap
from dpexact.conversion import real


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [("poisson(gaussian(1), 1/100)^10000", 5), ("poisson(gaussian(1.3), 256/60000)^3515", 1)],
)
@pytest.mark.parametrize("direction", ["remove", "add", "both"])
def test_near_the_truth(text, epsilon, direction):
    truth = float(delta(text, epsilon, 6, direction).upper)
    target = Fraction(1, 10**6)
    gap = saddle_gap(parse(text), real(epsilon), target, direction)
    assert gap == pytest.approx(math.log(truth * 10**6), abs=1.5)


@pytest.mark.parametrize("text", ["gaussian(1)", "laplace(1)^3", "poisson(gaussian(1), 1/2)"])
def test_absent_where_evaluations_are_cheap(text):
    assert saddle_gap(parse(text), real(1), Fraction(1, 10), "both") is None


def test_absurd_parameters_give_no_number_that_misleads():
    gap = saddle_gap(parse("poisson(gaussian(1e-9), 1/2)^9"), real(1), Fraction(1, 10), "both")
    assert gap is None or gap > 0
