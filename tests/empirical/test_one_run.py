import random
from fractions import Fraction
from itertools import product

import pytest
from exact_binomials import exceeds, mass, upper_tail

from dpexact import InvalidInput
from dpexact.empirical import from_guesses, one_run_p_value

ZERO, ONE = Fraction(0), Fraction(1)


def bound(m: int, r: int, v: int, odds: Fraction, delta: Fraction) -> Fraction:
    """The theorem in fractions, where ``e^epsilon = odds`` is rational."""
    q = odds / (1 + odds)
    beta = upper_tail(r, v, q)
    return beta + m * delta * beta * (1 - beta) / (v * mass(r, v, q))


def published(m: int, r: int, v: int, odds: Fraction, delta: Fraction) -> Fraction:
    """The bound of Steinke, Nasr and Jagielski (2023), in fractions."""
    q = odds / (1 + odds)
    beta = upper_tail(r, v, q)
    steepest = max((upper_tail(r, v - i, q) - beta) / i for i in range(1, v + 1))
    return beta + 2 * m * delta * steepest


# --- the theorem ----------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_the_theorem_on_random_posteriors(r: int) -> None:
    """Its core: laws of right and wrong guesses, whose excess over the odds is counted exactly."""
    generator = random.Random(r)
    for _ in range(60):
        odds = Fraction(generator.randint(1, 4), 1)
        weights = {
            c: Fraction(generator.choice([0, 1, 2, 5, 30])) for c in product((0, 1), repeat=r)
        }
        weights[(1,) * r] += 1
        total = sum(weights.values())
        law = {c: w / total for c, w in weights.items()}
        excess = sum(
            max(law[(*c[:i], 1, *c[i:])] - odds * law[(*c[:i], 0, *c[i:])], ZERO)
            for i in range(r)
            for c in product((0, 1), repeat=r - 1)
        )
        for v in range(1, r + 1):
            right = sum(p for c, p in law.items() if sum(c) >= v)
            assert right <= bound(1, r, v, odds, excess)


@pytest.mark.parametrize(("r", "v", "odds"), [(5, 4, 1), (6, 4, 2), (3, 1, 3)])
def test_no_smaller_bound_holds(r: int, v: int, odds: int) -> None:
    """A law that reaches it: binomial below ``v`` and from ``v`` on, with a step between."""
    q = Fraction(odds, 1 + odds)
    step = Fraction(1, 5)
    beta = upper_tail(r, v, q)
    low = 1 - step * beta
    law = [mass(r, k, q) * (low + step if k >= v else low) for k in range(r + 1)]
    assert sum(law) == 1
    excess = sum(max((k + 1) * law[k + 1] - odds * (r - k) * law[k], ZERO) for k in range(r))
    assert sum(law[v:]) == bound(1, r, v, Fraction(odds), excess)


@pytest.mark.parametrize("odds", [1, 2])
def test_the_theorem_on_random_mechanisms(odds: int) -> None:
    generator = random.Random(odds)
    sides = list(product((0, 1), repeat=2))
    for _ in range(40):
        law = {}
        for s in sides:
            weights = [generator.choice([0, 1, 1, 2, 9]) + (s == t) for t in sides]
            law[s] = dict(zip(sides, (Fraction(w, sum(weights)) for w in weights), strict=True))
        delta = max(
            sum(max(law[s][t] - odds * law[z][t], ZERO) for t in sides)
            for s in sides
            for z in sides
            if sum(a != b for a, b in zip(s, z, strict=True)) == 1
        )
        for v in (1, 2):
            right = sum(
                law[s][t] / 4
                for s, t in product(sides, sides)
                if sum(a == b for a, b in zip(s, t, strict=True)) >= v
            )
            assert right <= bound(2, 2, v, Fraction(odds), delta)


# --- beside the published bound ----------------------------------------------------------------


@pytest.mark.slow
def test_never_above_the_published_bound_where_that_is_below_a_half() -> None:
    for r, odds in product([1, 2, 5, 12, 30], [ONE, Fraction(3, 2), Fraction(4), Fraction(50)]):
        for v, m in product(range(1, r + 1), (r, 3 * r)):
            theirs = published(m, r, v, odds, Fraction(1, 1000))
            if theirs <= Fraction(1, 2):
                assert bound(m, r, v, odds, Fraction(1, 1000)) <= theirs


def test_the_published_bound_is_no_bound_where_nearly_all_guesses_may_be_wrong() -> None:
    """All guesses but the opposite of the truth, evenly: (0, 1/(2^m - 1))-DP, never all wrong."""
    m, delta = 3, Fraction(1, 7)
    sides = list(product((0, 1), repeat=m))

    def output(s: tuple[int, ...]) -> set[tuple[int, ...]]:
        return {t for t in sides if any(a == b for a, b in zip(s, t, strict=True))}

    neighbour = (1, *sides[0][1:])
    assert len(output(sides[0]) - output(neighbour)) * delta == delta
    assert published(m, m, 1, ONE, delta) < 1 <= bound(m, m, 1, ONE, delta)


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "r"), [(1, 1), (9, 4), (25, 25)])
def test_p_values_against_sums_in_fractions(m: int, r: int) -> None:
    for v, odds, delta in product(range(r + 1), (1, 3), (ZERO, Fraction(1, 10**4))):
        found = one_run_p_value(m, r, v, f"log({odds})", delta, digits=20)
        exact = min(bound(m, r, v, Fraction(odds), delta), ONE) if v else ONE
        assert exact in found
        assert found.digits >= 20


def test_the_bound_lies_where_the_p_value_crosses_the_error() -> None:
    for v, looks in [(95, 1), (95, 20), (100, 1), (70, 1)]:
        found = from_guesses(1000, 100, v, "1e-5", looks=looks).epsilon
        assert found.digits >= 15
        error = Fraction(1, 20) / looks
        assert one_run_p_value(1000, 100, v, found.lower, "1e-5").upper <= error
        assert one_run_p_value(1000, 100, v, found.upper, "1e-5").lower >= error


def test_nothing_is_shown_by_chance_or_by_no_right_guess() -> None:
    assert from_guesses(100, 100, 50).epsilon.upper == 0
    assert from_guesses(100, 10, 0).epsilon.upper == 0


@pytest.mark.parametrize(
    ("m", "r", "odds", "delta"),
    [(8, 8, 1, "0"), (8, 8, 3, "0"), (10, 4, 2, "1/200"), (6, 6, 2, "1/50"), (9, 3, 1, "1/30")],
)
@pytest.mark.parametrize("confidence", ["0.95", "0.6"])
def test_coverage_by_enumeration(m: int, r: int, odds: int, delta: str, confidence: str) -> None:
    """Each canary is given away with probability delta, or else a response is randomised."""
    d, q = Fraction(delta), Fraction(odds, 1 + odds)
    law = [ZERO] * (r + 1)
    for given in range(m + 1):
        sure = min(given, r)
        for lucky in range(r - sure + 1):
            law[sure + lucky] += mass(m, given, d) * mass(r - sure, lucky, q)
    assert sum(law) == 1
    wrong = sum(
        p
        for v, p in enumerate(law)
        if exceeds(from_guesses(m, r, v, d, confidence).epsilon, Fraction(odds))
    )
    assert wrong <= 1 - Fraction(confidence)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 1, 1), "canaries: 0 is not accepted"),
        ((5, 6, 1), "guesses: 6 is not accepted; must be an integer from 1 to 5"),
        ((5, 3, 4), "correct: 4 is not accepted; must be an integer from 0 to 3"),
    ],
)
def test_what_is_refused(arguments: tuple[int, int, int], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        from_guesses(*arguments)
    with pytest.raises(InvalidInput, match=said):
        one_run_p_value(*arguments, epsilon=1)
