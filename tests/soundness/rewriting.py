"""A family of certificates about something else than what was certified."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from typing import Any

from soundness.asking import direction_of, family
from soundness.certifying import _certificate
from soundness.trial import Failed, Trial

from dpexact import Enclosure

_STEPS = (
    *("pure_dp(1/2)^3", "approx_dp(1/10, 1/100)^4", "gdp(1/2)", "gaussian(2) * approx_dp(1/2, 0)"),
    *("laplace(1) * pure_dp(1/3)", "truncated_laplace(1, 3)^2", "discrete_laplace(2)^2"),
    *("discrete_gaussian(2)", "staircase(1, 1/3)", "randomized_response(1, 3)^2"),
    *("poisson(gaussian(1), 1/10)", "poisson(pure_dp(1), 1/3)^3", "poisson(laplace(1), 1/2)"),
    *("group(poisson(gaussian(1), 1/3), 2)", "replace(poisson(gaussian(2), 1/3))"),
    *("gaussian_mixture(1, 0: 1/2, 2: 1/2)", "pair((1/4, 1/2), (3/4, 1/2))^2"),
    *("truncated_poisson(gaussian(1), 1/10, 20, 3)", "mix(1/2: gaussian(1), 1/2: pure_dp(1))"),
    *("partition_selection(1, 1/100)", "threshold(laplace(1), 4)", "threshold(gaussian(1), 4)"),
    *("zcdp(1/10) * gaussian(2)", "poisson(zcdp(1/10), 1/5)", "renyi_dp((2, 1/10), (5, 1/2))"),
    *("group(pure_dp(1/2), 3)", "replace(approx_dp(1/3, 1/100))", "shuffle(pure_dp(1), 20)"),
    *("bounded_range(1)^3", "permute_and_flip(1)^2", "fixed_size(gaussian(1), 1, 5)"),
)
_ENDS = ("lower", "upper")
_NUMBERS = ("0", "1", "2", "1/2", "-1", "3", "1/1000000", "1000000", "-0", "2/4", "1/3", "inf")


def _places(tree: Any) -> list[tuple[list[Any], int]]:
    """Where numbers and mechanisms stand in a tree: the list and the index."""
    found = []
    for i, part in enumerate(tree):
        if i or not isinstance(part, str):
            found.append((tree, i))
        if isinstance(part, list):
            found += _places(part)
    return found


def _around(part: Any, rng: random.Random) -> Any:
    """A mechanism that holds ``part``, many of them as private as it."""
    beside = rng.choice(
        (
            *(["pure_dp", "0"], ["approx_dp", "0", "1"], ["gdp", "0"], ["zcdp", "0", "0"]),
            *(["poisson", ["gaussian", "1", "1"], "0"], ["group", ["pure_dp", "0"], "2"]),
            *(["partition_selection", "0", "0"], ["pair", ["1", "1"]], ["bounded_range", "0"]),
            *(["renyi_dp", ["2", "0"]], ["shuffle", ["pure_dp", "0"], "3"], part),
        )
    )
    return rng.choice(
        (
            *(["poisson", part, rng.choice(("0", "1", "1/2"))], ["replace", part]),
            *(["group", part, rng.choice("12")], ["repeat", part, "2"], ["compose", part, beside]),
            *(["mix", ["1", part]], ["mix", ["0", beside], ["1", part]], ["threshold", part, "9"]),
            *(["fixed_size", part, "3", "3"], ["truncated_poisson", part, "1/2", "1", "1"]),
        )
    )


def _rewritten(statement: dict[str, Any], rng: random.Random) -> None:
    """Change what a statement is about, somewhere."""
    from dpexact import certificate_checker as checker

    root = [statement["mechanism"]]
    where, i = rng.choice([place for place in _places(root) if place != (root, 1)])
    part = where[i]
    way = rng.randrange(5)
    if isinstance(part, str):
        where[i] = rng.choice(_NUMBERS)
    elif way == 0 and isinstance(part[0], str):
        part[0] = rng.choice(("compose", *checker.DOMAINS))
    elif way == 1:
        del part[rng.randrange(len(part))]
    elif way < 4:
        where[i] = _around(part, rng)
    else:
        statement["direction"] = direction_of(rng)
        statement["quantity"] = rng.choice(("delta", "epsilon"))
        statement["at"] = rng.choice(_NUMBERS)
    statement["mechanism"] = root[0]
    if rng.random() < 0.2:
        statement["lower"] = statement["upper"] = rng.choice(("0", "1", "inf"))
        statement["digits"] = "exact"


@family(1)
def rewritten(trial: Trial, rng: random.Random) -> None:
    """Bounds that are verified for another mechanism or question are right for it."""
    from dpexact import certificate_checker as checker

    quantity = rng.choice(("delta", "epsilon"))
    at = rng.choice(("0", "1/2", "-1/4") if quantity == "delta" else ("1/10", "1/100"))
    step = rng.choice(_STEPS)
    document = _certificate(trial, step, quantity, at, direction_of(rng), 5)
    document = json.loads(json.dumps(document))
    (statement,) = document["statements"]
    _rewritten(statement, rng)
    refused = (checker.Invalid, checker.Unreadable)
    try:
        checker.check_domains(statement["mechanism"], checker.Arithmetic(64))
        statement["text"] = checker.shown(statement["mechanism"])
        statement["method"] = checker.method_of(checker.steps_of(statement["mechanism"]))
    except refused:
        pass
    document["digest"] = checker.digest(document)
    trial.calls.append(f"checker.check(...) of {json.dumps(statement)}")
    try:
        checker.check(checker.read(json.dumps(document).encode()))
    except refused:
        return
    except Exception as error:
        raise Failed(f"the checker stops with {type(error).__name__}: {error}") from error
    low, high = (math.inf if x == "inf" else Fraction(x) for x in map(statement.get, _ENDS))
    options = {"digits": 4, "direction": statement["direction"]}
    found = trial.ask(statement["quantity"], statement["text"], statement["at"], **options)
    trial.overlap(Enclosure(low, high), found, "what is verified and the answer")
