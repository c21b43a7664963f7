"""Families of certificates, true and forged."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import Any

from soundness import reference as ref
from soundness.asking import composed, dense, direction_of, family, fraction_text, rate, some
from soundness.trial import Failed, Trial

import dpexact
from dpexact import Enclosure


def _certificate(trial: Trial, text: str, quantity: str, at: str, way: str, digits: int) -> Any:
    from dpexact.certificates import certificate
    from dpexact.conversion import real

    found = trial.ask(quantity, text, at, digits=digits, direction=way)
    return trial.attempt(
        f"certificate(parse({text!r}), {quantity!r}, real({at!r}), {way!r}, <that>)",
        lambda: certificate(dpexact.parse(text), quantity, real(at), way, found),
    )


def _verified(document: Any) -> bool:
    from dpexact import certificate_checker as checker
    from dpexact.certificates import to_text

    try:
        checker.check(checker.read(to_text(document).encode()))
    except (checker.Invalid, checker.Unreadable):
        return False
    return True


@family(2)
def certificates(trial: Trial, rng: random.Random) -> None:
    """A fresh certificate is verified; with bounds moved off the truth it is not."""
    from dpexact import certificate_checker as checker

    m = rng.choice(
        (lambda: composed(rng, 1), lambda: dense(rng), lambda: ref.poisson(dense(rng), rate(rng)))
    )()
    quantity, way = rng.choice(("delta", "epsilon")), direction_of(rng)
    at = some(rng) if quantity == "delta" else f"1e-{rng.randint(1, 7)}"
    document = _certificate(trial, str(m), quantity, at, way, rng.choice((4, 8, 12)))
    if not _verified(document):
        raise Failed("a fresh certificate is not verified")
    (statement,) = document["statements"]
    low, high = (
        math.inf if x == "inf" else Fraction(x) for x in (statement["lower"], statement["upper"])
    )
    if quantity == "delta":
        trial.contains(Enclosure(low, high), lambda: ref.delta(m, at, way), "certified delta in ")
    else:
        trial.contains_epsilon(Enclosure(low, high), m, at, way)
    if low == high or rng.random() < 0.5:
        return
    moved = json.loads(json.dumps(document))
    forged = moved["statements"][0]
    width = high - low
    shift = rng.choice((-1, 1)) * rng.choice((1, 2, 10)) * width
    forged["lower"], forged["upper"] = fraction_text(low + shift), fraction_text(high + shift)
    moved["digest"] = checker.digest(moved)
    if _verified(moved):
        trial.calls.append(f"check of {json.dumps(moved['statements'][0])}")
        raise Failed("bounds beside the truth are verified")


#: Trees of mechanisms that do not exist, each beside one that does and has the same law by formula.
def _impossible(rng: random.Random) -> tuple[str, Any]:
    gaussian_tree = ["gaussian", "1", "1"]
    pure_tree = ["pure_dp", "1"]
    inner = rng.choice((gaussian_tree, pure_tree, ["laplace", "1", "1"]))
    text = {"gaussian": "gaussian(1)", "pure_dp": "pure_dp(1)", "laplace": "laplace(1)"}[inner[0]]
    kind = rng.randrange(8)
    if kind < 3:
        first, second = rng.choice((("2", "1/4"), ("-1/2", "-1"), ("4", "1/8"), ("3/2", "1/3")))
        outer = ["poisson", ["poisson", inner, first], second]
        if rng.random() < 0.5:
            outer = ["poisson", ["poisson", inner, second], first]
        return f"poisson({text}, 1/2)", outer
    return rng.choice(
        (
            ("pure_dp(1)", ["pure_dp", "-1"]),
            ("gaussian(1)", ["gaussian", "-1", "1"]),
            ("gaussian(1)", ["gaussian", "1", "-1"]),
            ("gaussian(1)", ["gaussian", "-1", "-1"]),
            ("laplace(1)", ["laplace", "-1", "-1"]),
            ("laplace(1)", ["laplace", "-1", "1"]),
            ("gdp(1)", ["gdp", "-1"]),
            ("discrete_laplace(2)", ["discrete_laplace", "-2", "1"]),
            ("discrete_laplace(2)", ["discrete_laplace", "-2", "-1"]),
            ("staircase(1, 1/3)", ["staircase", "1", "1/3", "-1"]),
            ("staircase(1, 1/3)", ["staircase", "1", "1/3", "0"]),
            ("discrete_gaussian(2)", ["discrete_gaussian", "-2", "1"]),
            ("discrete_gaussian(2)", ["discrete_gaussian", "2", "-1"]),
            ("pure_dp(1)^2", ["compose", ["repeat", pure_tree, "3"], ["repeat", pure_tree, "-1"]]),
            ("pure_dp(1)^2", ["repeat", ["repeat", pure_tree, "-1"], "-2"]),
            ("pure_dp(1)^2", ["repeat", ["repeat", pure_tree, "4"], "1/2"]),
            ("pure_dp(1)", ["compose", pure_tree, ["repeat", ["gaussian", "1", "1"], "0"]]),
            ("pure_dp(1)", ["compose", pure_tree, ["approx_dp", "0", "-0"]]),
            (
                "approx_dp(1, 1/4)",
                ["compose", ["approx_dp", "1", "-1/2"], ["approx_dp", "0", "1/2"]],
            ),
            (
                "approx_dp(1, 3/4)",
                ["compose", ["approx_dp", "1", "3/2"], ["approx_dp", "0", "3/2"]],
            ),
            ("poisson(pure_dp(1), 1/2)", ["poisson", ["pure_dp", "1"], "3/2"]),
            ("pure_dp(1)", ["compose", pure_tree, ["poisson", ["gaussian", "-1", "1"], "0"]]),
            ("pure_dp(1)", ["compose", pure_tree, ["poisson", ["poisson", pure_tree, "2"], "0"]]),
            ("pure_dp(1)", ["poisson", ["poisson", pure_tree, "2"], "1/2"]),
            ("gaussian(1)", ["poisson", ["poisson", gaussian_tree, "2"], "1/2"]),
        )
    )


@family(2)
def forgeries(trial: Trial, rng: random.Random) -> None:
    """A certificate that speaks of a mechanism that cannot exist is not verified."""
    from dpexact import certificate_checker as checker

    text, tree = _impossible(rng)
    quantity, way = rng.choice(("delta", "epsilon")), direction_of(rng)
    at = "1/2" if quantity == "delta" else "1/100"
    document = _certificate(trial, text, quantity, at, way, 6)
    (statement,) = document["statements"]
    statement["mechanism"] = tree
    try:
        statement["text"] = checker.shown(tree)
        statement["method"] = checker.method_of(checker.steps_of(tree))
    except (checker.Invalid, checker.Unreadable):
        pass
    document["digest"] = checker.digest(document)
    trial.calls.append(f"checker.check(...) of a statement about {json.dumps(tree)}")
    try:
        verified = _verified(document)
    except Exception as error:
        raise Failed(f"the checker stops with {type(error).__name__}: {error}") from error
    if verified:
        raise Failed(f"{checker.shown(tree)} does not exist, and is verified")
