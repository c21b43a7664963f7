"""A record takes part in one of t Gaussian steps: the pair, its moments, lower bounds."""

from __future__ import annotations

from typing import Final

from proofs_checks.prover.goals import step
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

JENSEN: Final = "Jensen's inequality"


@check("bins.pair", expects="proved", smoke=True)
def likelihood_ratio() -> Derivation:
    """Coordinates without the record cancel."""
    return argued("the log ratio of the coordinate that the record is in")


@check("bins.remove", "bins.add", expects="proved", assumes=("bins.pair",), smoke=True)
def as_options() -> Derivation:
    """Put-call parity, with a mean of 1, and a positive factor."""
    return argued(
        "the positive parts of either direction, outcome by outcome",
        step(
            "((S - E) + sqrt((S - E)^2))/2 = (S - E) + ((E - S) + sqrt((E - S)^2))/2",
            {"S": "real > 0", "E": "real > 0"},
        ),
        step("1 - E*S = E*(1/E - S)", {"S": "real", "E": "real > 0"}),
    )


@check("bins.bins.kept", expects="proved", assumes=("bins.pair",), smoke=True)
def epochs_with_the_same_bins() -> Derivation:
    """The sum over the epochs is sufficient."""
    return argued("the ratio depends on the mean over the epochs alone")


@check("bins.chi.square", expects="proved", smoke=True)
def one_square() -> Derivation:
    """The square completed."""
    return argued("a normal density centred at 2 is left")


@check("bins.chi", "bins.limit", expects="proved", assumes=("bins.chi.square",), smoke=True)
def second_moment() -> Derivation:
    """Squares and products of independent ratios of mean 1."""
    return argued("t squares and t (t - 1) products; the excess over 1 falls like 1/t")


@check("bins.beside.poisson", expects="proved", assumes=("bins.chi",), smoke=True)
def beside_poisson_samples() -> Derivation:
    """Bernoulli's inequality, by induction."""
    return argued("(1 + y)^t >= 1 + t y: the step adds what is not negative")


@check("bins.beside.all", expects="proved", assumes=("bins.pair",), smoke=True)
def a_single_bin() -> Derivation:
    """One ratio."""
    return argued("the ratio of the Gaussian mechanism")


@check("bins.convex", expects="proved", assumes=(JENSEN,), smoke=True)
def more_bins_are_never_worse() -> Derivation:
    """A mean of equally distributed means, under a convex function."""
    return argued("what is averaged is linear in the ratios; then Jensen's inequality")


@check("bins.laplace.transform", expects="proved", smoke=True)
def transform_of_the_mean() -> Derivation:
    """Independent ratios."""
    return argued("the exponential of a sum is a product")


@check("bins.cube.shuffle", "bins.cube.lower", expects="proved", smoke=True)
def cube_event() -> Derivation:
    """Probabilities of a product event, and what an event is worth."""
    return argued(
        "one factor of the product differs; the best event has the largest gain",
        step("x*f <= x", {"x": "real >= 0", "f": "real in [0, 1]"}),
        step("y*f <= 0", {"y": "real <= 0", "f": "real in [0, 1]"}),
    )


@check("bins.shuffle.twos", expects="proved", smoke=True)
def shuffled_batches() -> Derivation:
    """The densities at both centres."""
    return argued("the log ratio of the batch with the record")


@check("bins.montecarlo", expects="proved", smoke=True)
def samples_needed() -> Derivation:
    """Of a binomial proportion."""
    return argued("the standard deviation of a proportion, divided by its mean")
