"""Families of questions at the edges of domains: masses of infinite loss, weights of 0."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

from soundness.asking import family
from soundness.trial import Failed, Trial

import dpexact
from dpexact import certificate_checker as checker
from dpexact.certificate_checker_mpfr import checking

#: Steps of unbounded loss, and steps that reveal everything.
_UNBOUNDED = ("gaussian(1)", "discrete_gaussian(2)", "gdp(1/3)^3", "poisson(gaussian(2), 1/3)")
_REVEALING = ("approx_dp(0, 1)", "truncated_laplace(1, 1/10, 1)", "pair((1, 0), (0, 1))")
#: Steps of bounded loss, with the largest one.
_BOUNDED = (("pure_dp(3/2)", "3/2"), ("laplace(1/10, 3)", "30"), ("randomized_response(1, 3)", "1"))


@family(0.5)
def coins_beside_what_reveals(trial: Trial, rng: random.Random) -> None:
    """Beside what reveals everything no finite loss is left, on whatever side of a coin."""
    bounded, largest = rng.choice(_BOUNDED)
    steps = [rng.choice(_UNBOUNDED), rng.choice(_REVEALING)]
    rng.shuffle(steps)
    share = Fraction(rng.randint(1, 9), 10)
    text = f"mix({1 - share}: {bounded}, {share}: {' * '.join(steps)})"
    found = trial.ask("epsilon", text, str(share), digits=rng.choice((3, 12)))
    if not found.lower <= Fraction(largest) <= found.upper:
        raise Failed(f"the largest finite loss is {largest}, not {found}")


def _degenerate(rng: random.Random) -> Any:
    """A mechanism with a number at the edge of its domain, written out or not."""
    zero, one = rng.choice(("0", ["*", "0", "1"])), rng.choice(("1", ["exp", "0"]))
    moving = rng.choice((["gaussian", "2", "1"], ["gdp", "1/3"]))
    all_of_it = ["compose", moving, ["approx_dp", "0", one]]
    finite = rng.choice(
        (["pure_dp", "1"], ["laplace", "2", "1"], ["randomized_response", "1", "4"])
    )
    alone = rng.choice(
        (
            ["gaussian_mixture", "1", ["0", "1"], ["5", "0"]],
            ["poisson", moving, zero],
            ["replace", ["poisson", moving, zero]],
            ["zcdp", "1", zero],
            ["zcdp", zero, "1/8"],
            ["mix", ["1/4", finite], ["3/4", all_of_it]],
            ["poisson", all_of_it, "3/4"],
            ["poisson", moving, rng.choice((one, "1/2"))],
            moving,
        )
    )
    return alone if rng.random() < 0.5 else ["compose", alone, ["pure_dp", rng.choice("12")]]


def infinite_epsilon(tree: Any, at: str, direction: str) -> dict[str, Any]:
    """The statement that epsilon of a mechanism at a delta is infinite."""
    return {
        "mechanism": tree,
        "text": checker.shown(tree),
        "quantity": "epsilon",
        "at": at,
        "direction": direction,
        "lower": "inf",
        "upper": "inf",
        "digits": "exact",
        "bits": "160",
        "method": checker.method_of(checker.steps_of(tree)),
    }


@family(0.5)
def forged_infinities(trial: Trial, rng: random.Random) -> None:
    """That epsilon is infinite is verified only where it is."""
    tree, at = _degenerate(rng), rng.choice(("0", "3/4", "3/8"))
    statement = infinite_epsilon(tree, at, rng.choice(("remove", "add", "both")))
    text, way = statement["text"], statement["direction"]
    trial.calls.append(f"check_statement({statement})")
    try:
        checking.check_statement(statement)
    except (checker.Invalid, checker.Unreadable):
        return
    if trial.ask("epsilon", text, at, digits=3, direction=way).upper < math.inf:
        raise Failed(f"an infinite epsilon of {text} at {at} is verified")


#: What answers bound, and no more, were it to run.
_NEVER = ("zcdp(1)", "renyi_dp((2, 1))", "bounded_range(1)^2", "shuffle(pure_dp(1), 5)")


@family(0.5)
def sides_that_never_come_up(trial: Trial, rng: random.Random) -> None:
    """A side of weight 0 changes no answer."""
    rest = rng.choice(("gaussian(1)", "laplace(2)^2", "pure_dp(1/2)", "zcdp(1/3)"))
    text, times = f"mix(0: {rng.choice(_NEVER)}, 1: {rest})", rng.choice((1, 2, 70))
    name, at = rng.choice((("delta", "1/2"), ("epsilon", "1/50"), ("renyi", "2")))
    way = rng.choice(("remove", "add", "both"))
    both = (f"({each})^{times}" for each in (text, rest))
    one, other = (trial.ask(name, each, at, digits=4, direction=way) for each in both)
    trial.overlap(one, other, "with a side of weight 0 and without")
    if one.bound != other.bound:
        raise Failed(f"{text} is {one.bound}, {rest} {other.bound}")


@family(0.5)
def levels_beside_what_nearly_reveals(trial: Trial, rng: random.Random) -> None:
    """A trade-off function is above the lines of its profile, though little is not revealed."""
    near, rate = (1 - Fraction(1, 10 ** rng.choice((3, 12, 30, 100))) for _ in "ab")
    step = f"poisson(approx_dp(log({rng.choice((2, 1000))}), {near}), {rate})"
    text = rng.choice(("{0}^2", "{0}^4", "{0} * pure_dp(1/3)", "{0}^2 * randomized_response(1, 3)"))
    text, digits = text.format(step), rng.choice((2, 5, 12))
    alpha = Fraction(1, 10 ** rng.choice((3, 30, 100, 300)))
    call = f"dpexact.tradeoff({text!r})({str(alpha)!r}, {digits})"
    found = trial.attempt(call, lambda: dpexact.tradeoff(text)(alpha, digits))
    for level in (1, 10**6, 10**60):
        delta = trial.ask("delta", text, f"log({level})", digits=600)
        if found.upper < (line := 1 - Fraction(delta.upper) - alpha * level):
            raise Failed(f"{found} is below a line, {float(line)}")


#: Steps that may reveal everything, under either law, and noises beside another.
_PERHAPS = (
    "approx_dp(1/10, 1/3)",
    "approx_dp(1, 1/20)",
    "truncated_laplace(1, 1, 1)",
    "truncated_laplace(1, 3/5, 1)",
    "pair((1/4, 0), (1/2, 1/2), (1/4, 1/2))",
    "pair((1/9, 0), (5/9, 1/9), (1/3, 5/9), (0, 1/3))",
)
_BESIDE = (
    "",
    " * laplace(2)",
    " * pure_dp(1/2)",
    " * discrete_laplace(2)",
    " * approx_dp(1/5, 1/9)",
    " * pair((2/3, 1/2), (1/3, 1/2))",
)


@family(0.7)
def samples_of_noise_beside_what_may_reveal(trial: Trial, rng: random.Random) -> None:
    """What may reveal everything several times, and other noise, by other routes too."""
    shown, more = f"{rng.choice(_PERHAPS)}^{rng.choice((1, 2, 3))}", rng.choice(_BESIDE)
    rate = rng.choice(("1/2", "1/10", "9/10", "1e-6"))
    noise = rng.choice(("gaussian(1)", "laplace(1)", "laplace(2)^3", "laplace(2) * laplace(1/3)"))
    text = f"poisson({noise} * {shown}{more}, {rate})^{rng.choice((1, 2, 3))}"
    name, at = rng.choice(
        (("delta", "3"), ("delta", "1/2"), ("delta", "-1/50"), ("epsilon", "9/10"))
    )
    way = rng.choice(("remove", "add", "both"))
    one, other = (
        trial.ask(name, text, at, digits=3, direction=way, method=method)
        for method in ("auto", "lattice")
    )
    trial.overlap(one, other, "beside what may reveal everything, by the lattice")
