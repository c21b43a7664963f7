"""Random statements about numbers, whose truth is known from how they were made."""

from __future__ import annotations

import random
from fractions import Fraction

from soundness.asking import family
from soundness.trial import Failed, Trial

from proofs_checks.evidence import Declined, Refuted
from proofs_checks.prover.goals import settle
from proofs_checks.statements.reading import statement

HOLDS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def rational(rng: random.Random, depth: int) -> tuple[str, Fraction]:
    """The text of a number, and the number."""
    kind = rng.randrange(6) if depth else 5
    if kind == 5:
        number = Fraction(rng.randint(-9, 9), rng.choice((1, 1, 2, 3, 7, 10**6)))
        return f"({number})", number
    (left, a), (right, b) = rational(rng, depth - 1), rational(rng, depth - 1)
    if kind == 4 and a:
        power = rng.choice((-2, -1, 0, 1, 2, 3, 10))
        return f"({left})^({power})", a**power
    if kind == 3 and b:
        return f"({left})/({right})", a / b
    sign, found = rng.choice((("+", a + b), ("-", a - b), ("*", a * b)))
    return f"(({left}) {sign} ({right}))", found


@family(1)
def statements_of_numbers(trial: Trial, rng: random.Random) -> None:
    """What is settled is true, and what is refuted false."""
    (left, a), (right, b) = rational(rng, 3), rational(rng, 3)
    if rng.random() < 0.4:  # nearly or exactly the same
        b = a + rng.choice((0, 1, -1)) * Fraction(1, 10 ** rng.choice((1, 9, 60)))
        right = f"({b})"
    sign = rng.choice(tuple(HOLDS))
    plain = rng.random() < 0.6
    if not plain:  # strictly increasing
        a, b = max(a, Fraction(0)) % 50, max(b, Fraction(0)) % 50
        name = rng.choice(("exp", "tanh", "erf"))
        left, right = f"{name}({a})", f"{name}({b})"
    goal = statement({"then": [f"{left} {sign} {right}"]})
    true = HOLDS[sign](a, b)

    def said() -> str:
        try:
            return settle(goal).kind
        except Refuted:
            return "refuted"
        except Declined:
            return "declined"

    found = trial.attempt(f"settle({left} {sign} {right})", said)
    if found == "declined":
        trial.wide = True
    elif (found == "refuted") == true:
        raise Failed(f"{found}, and it is {true}")
