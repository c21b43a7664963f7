"""Random mechanisms with a certificate, and answers about them."""

import json
import random
from fractions import Fraction
from functools import cache
from pathlib import Path

import jsonschema

import dpexact
from dpexact import certificate_checker as checker
from dpexact.answers import PrecisionNotReached
from dpexact.certificates import NoCertificate, certificate, to_text
from dpexact.certificates.statements import mechanism_tree
from dpexact.conversion import real


@cache
def _validator():
    """Of the schema, which is checked itself once."""
    text = (Path(__file__).parents[1] / "docs/certificate.schema.json").read_text()
    kind = jsonschema.validators.validator_for(json.loads(text))
    kind.check_schema(json.loads(text))
    return kind(json.loads(text))


def validate(document):
    """Raise what is wrong with a certificate by the schema."""
    _validator().validate(document)


def certified(text, quantity="delta", at="1/2", digits=15, way="both"):
    """The certificate of an answer."""
    mechanism = dpexact.parse(text)
    found = getattr(dpexact, quantity)(mechanism, at, digits, way)
    return certificate(mechanism, quantity, real(at), way, found)


def verdict(document):
    """None if the certificate is verified, else why not."""
    try:
        checker.check(checker.read(to_text(document).encode()))
    except (checker.Invalid, checker.Unreadable) as error:
        return str(error)
    return None


def bound(text, epsilon, way="remove", bits=160):
    """The value of the profile, by the checker alone."""
    a = checker.Arithmetic(bits)
    at = a.exact(Fraction(epsilon))
    steps = checker.steps_of(mechanism_tree(dpexact.parse(text)))
    return checker.profile_of(steps, way, a).delta(checker.Point(a, checker.exp(at), at))


def _number(rng, low, high):
    return str(Fraction(rng.randint(low * 100, high * 100), 100))


def _finite(rng):
    kind = rng.choice(["pure_dp", "approx_dp", "log", "staircase", "discrete_laplace"])
    if kind == "pure_dp":
        return f"pure_dp({_number(rng, 1, 3)}/4)^{rng.randint(1, 40)}"
    if kind == "approx_dp":
        return f"approx_dp({_number(rng, 1, 3)}/4, 1/{rng.randint(1000, 9999)})^{rng.randint(1, 9)}"
    if kind == "log":
        return f"approx_dp(log({rng.randint(4, 9)}/3), 1/{rng.randint(7, 99)})^{rng.randint(1, 9)}"
    if kind == "staircase":
        return f"staircase({_number(rng, 1, 2)}, 1/{rng.randint(3, 9)})^{rng.randint(1, 9)}"
    return f"discrete_laplace({_number(rng, 1, 3)}, {rng.randint(1, 4)})^{rng.randint(1, 6)}"


def _gaussian(rng):
    return f"gaussian({_number(rng, 1, 4)}, {_number(rng, 1, 2)})^{rng.randint(1, 9)}"


def _laplace(rng):
    return f"laplace({_number(rng, 1, 4)})^{rng.randint(1, 6)}"


def _discrete(rng):
    return f"discrete_gaussian({_number(rng, 1, 3)}, {rng.randint(1, 2)})^{rng.randint(1, 3)}"


def _mixed(rng):
    return f"{rng.choice([_finite, _laplace])(rng)} * {_finite(rng)}"


def _sampled(rng):
    inner = rng.choice(
        [f"gaussian({_number(rng, 1, 3)})", f"laplace({_number(rng, 1, 3)})", "pure_dp(1/2)^3"]
    )
    rate = f"{rng.randint(1, 9)}/10"
    repeated = f"poisson(approx_dp({_number(rng, 1, 2)}, 1/100), {rate})^{rng.randint(2, 6)}"
    return rng.choice([f"poisson({inner}, {rate})", repeated])


def _averaged(rng):
    eps = f"{rng.randint(1, 9)}/9"
    whole = f"mix({eps}: {_gaussian(rng)}, {9 - int(eps[0])}/9: pure_dp({eps}))"
    given = f"renyi_dp((2, 1/{rng.randint(9, 99)}), (9, {eps}))^{rng.randint(1, 9)} * gdp({eps})"
    return rng.choice(
        [
            *(whole, given, f"zcdp({eps}, 1/{rng.randint(3, 99)}) * {_gaussian(rng)}"),
            f"partition_selection({eps}, 1/{rng.randint(9, 999)})",
            f"poisson(zcdp({eps}), 1/{rng.randint(3, 99)})^{rng.randint(1, 9)}",
            f"truncated_laplace({_number(rng, 1, 3)}, {rng.randint(2, 9)})",
            f"truncated_poisson(gaussian({_number(rng, 1, 3)}), {eps}, 30, {rng.randint(4, 29)})",
            f"group(poisson(gaussian({_number(rng, 1, 3)}), {eps}), {rng.randint(2, 5)})",
        ]
    )


def text_of(rng):
    """The text of a mechanism."""
    kinds = [_finite, _gaussian, _laplace, _discrete, _mixed, _sampled, _averaged]
    return rng.choices(kinds, [4, 3, 2, 1, 2, 3, 5])[0](rng)


def fresh(seed):
    """A random certificate whose bounds depend on every number in it."""
    rng = random.Random(seed)
    while True:
        mechanism = dpexact.parse(text_of(rng))
        way = rng.choice(["remove", "add", "both"])
        try:
            if rng.random() < 0.5:
                quantity, at = "delta", real(rng.choice(["1/10", "1/2", "1", "log(3/2)"]))
                found = dpexact.delta(mechanism, at, 15, way)
                if not dpexact.delta(mechanism, 2, 15, way).upper < found.lower:
                    continue  # beyond the largest loss delta is constant
            else:
                quantity, at = "epsilon", real(f"1/{rng.randint(20, 10**6)}")
                found = dpexact.epsilon(mechanism, at, 15, way)
        except PrecisionNotReached:
            continue
        if found.lower > 0 and found.upper < 10**6:
            try:
                return certificate(mechanism, quantity, at, way, found)
            except NoCertificate as error:  # by chance a short number, of masses that are not
                if "the exact value is not found" not in str(error):
                    raise
