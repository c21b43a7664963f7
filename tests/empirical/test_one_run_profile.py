import math
import random
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product

import pytest
from exact_binomials import mass, upper_tail

import dpexact
from dpexact import InvalidInput
from dpexact.empirical import mechanism_p_value, one_run_profile

ZERO, ONE = Fraction(0), Fraction(1)
#: Epsilons, and odds just below their exponentials.
ODDS = {Fraction(0): ONE, Fraction(7, 10): Fraction(201, 100), Fraction(2): Fraction(738, 100)}
Law = dict[tuple[int, ...], Fraction]


def excess(p: Law, q: Law, odds: Fraction) -> Fraction:
    return sum((max(p[t] - odds * q.get(t, ZERO), ZERO) for t in p), ZERO)


def guarantees(laws: dict[tuple[int, ...], Law]) -> list[tuple[Fraction, Fraction]]:
    """What a mechanism on the sides of its canaries guarantees, by all pairs of neighbours."""
    neighbours = [
        (laws[s], laws[z])
        for s, z in product(laws, laws)
        if sum(a != b for a, b in zip(s, z, strict=True)) == 1
    ]
    return [
        (epsilon, max(excess(p, q, odds) for p, q in neighbours)) for epsilon, odds in ODDS.items()
    ]


def outcomes(laws: dict[tuple[int, ...], Law], r: int) -> dict[int, Fraction]:
    """The law of the number of right guesses; an output 0 or 1 is a guess, 2 is none."""
    found: defaultdict[int, Fraction] = defaultdict(Fraction)
    for s, law in laws.items():
        for t, p in law.items():
            found[sum(a == b for a, b in zip(s, t, strict=True))] += p / len(laws)
    assert sum(found.values()) == 1
    assert all(sum(x < 2 for x in t) == r for law in laws.values() for t in law)
    return found


def random_mechanism(generator: random.Random, m: int, r: int) -> dict[tuple[int, ...], Law]:
    """Answers with guesses of any ``r`` canaries, rather right than wrong."""
    answers = [
        tuple(sides[chosen.index(i)] if i in chosen else 2 for i in range(m))
        for chosen in combinations(range(m), r)
        for sides in product((0, 1), repeat=r)
    ]
    laws = {}
    for s in product((0, 1), repeat=m):
        weights = [
            generator.choice([1, 1, 2, 5]) * 3 ** sum(a == b for a, b in zip(s, t, strict=True))
            for t in answers
        ]
        total = sum(weights)
        laws[s] = {t: Fraction(w, total) for t, w in zip(answers, weights, strict=True)}
    return laws


# --- the theorem ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "r"), [(1, 1), (2, 2), (3, 2), (3, 3), (4, 1)])
def test_right_guesses_bound_wrong_ones_on_random_mechanisms(m: int, r: int) -> None:
    """The inequality that all rests on, in fractions, for every set of numbers of right guesses."""
    generator = random.Random(10 * m + r)
    for _ in range(8):
        laws = random_mechanism(generator, m, r)
        law = outcomes(laws, r)
        for size in range(1, r + 1):
            for chosen in combinations(range(1, r + 1), size):
                right = sum(k * law[k] for k in chosen)
                wrong = sum((r - k + 1) * law[k - 1] for k in chosen)
                for (_, delta), odds in zip(guarantees(laws), ODDS.values(), strict=True):
                    assert right <= odds * wrong + m * delta
                    assert m - wrong <= odds * (m - right) + m * delta


@pytest.mark.parametrize(("m", "r"), [(2, 2), (3, 2), (3, 3)])
def test_the_p_value_on_random_mechanisms(m: int, r: int) -> None:
    generator = random.Random(m + r)
    for _ in range(8):
        laws = random_mechanism(generator, m, r)
        law, known = outcomes(laws, r), guarantees(laws)
        for v in range(r + 1):
            assert sum(law[k] for k in range(v, r + 1)) <= one_run_profile.p_value(m, r, v, known)


@pytest.mark.parametrize(
    ("m", "r", "v", "known"),
    [
        (5, 5, 5, [("0", "0.1"), ("0.7", "0.01")]),
        (9, 6, 5, [("0", "0.2"), ("0.5", "0.05"), ("1", "0.01")]),
        (20, 20, 17, [("0", "0.19"), ("0.25", "0.1"), ("0.5", "0.05"), ("1", "0.007")]),
        (40, 10, 10, [("0", "0.38"), ("1", "0.12"), ("2", "0.02"), ("3", "0.001")]),
        (7, 7, 4, [("0.1", "0")]),
    ],
)
def test_the_steps_find_the_largest_probability(
    m: int, r: int, v: int, known: list[tuple[str, str]]
) -> None:
    """Linear programming over all laws that the inequality leaves, with the tails alone."""
    optimize = pytest.importorskip("scipy.optimize")
    pairs = [(Fraction(epsilon), Fraction(delta)) for epsilon, delta in known]
    rows, limits = [], []
    for j in range(1, v + 1):
        right = [k if k >= j else 0 for k in range(r + 1)]
        wrong = [r - k if k >= j - 1 else 0 for k in range(r + 1)]
        for epsilon, delta in pairs:
            odds = math.exp(epsilon)
            rows.append([a - odds * b for a, b in zip(right, wrong, strict=True)])
            limits.append(m * float(delta))
            rows.append([odds * a - b for a, b in zip(right, wrong, strict=True)])
            limits.append(m * (odds - 1 + float(delta)))
    best = optimize.linprog(
        [-float(k >= v) for k in range(r + 1)], rows, limits, [[1] * (r + 1)], [1]
    )
    found = one_run_profile.p_value(m, r, v, pairs)
    assert 0 <= found / Fraction(-best.fun) - 1 < Fraction(2, 1000)


def test_one_canary_reaches_the_bound() -> None:
    """Of one guess on one canary the best attack is right with probability (1 + delta(0))/2."""
    found = mechanism_p_value(1, 1, 1, "gaussian(1)").upper
    best = (1 + dpexact.delta("gaussian(1)", 0).upper) / 2
    assert 0 <= found / best - 1 < Fraction(1, 1000)


# --- coverage, by enumeration ---------------------------------------------------------------------


@pytest.mark.parametrize(("m", "r"), [(6, 6), (6, 2), (9, 4)])
@pytest.mark.parametrize("odds", [2, 5])
def test_coverage_of_randomised_responses(m: int, r: int, odds: int) -> None:
    law = [mass(r, k, Fraction(odds, 1 + odds)) for k in range(r + 1)]
    _covered(m, r, law, f"pure_dp(log({odds}))")


@pytest.mark.parametrize(("m", "r"), [(5, 5), (6, 3), (7, 2), (8, 1)])
def test_coverage_of_the_surest_guesses(m: int, r: int) -> None:
    """Each canary goes through the same channel; the attack guesses of those it is surest of."""
    # outputs: sure it is out, rather out, rather in, sure it is in
    away = [Fraction(4, 10), Fraction(3, 10), Fraction(2, 10), Fraction(1, 10)]
    there = away[::-1]
    sure = [away[0] + there[0], away[0] / (away[0] + there[0])]  # of an output at the ends
    rather = [away[1] + there[1], away[1] / (away[1] + there[1])]
    law = [ZERO] * (r + 1)
    for ends in range(m + 1):
        chance = mass(m, ends, sure[0])
        first = min(ends, r)
        for x, y in product(range(first + 1), range(r - first + 1)):
            law[x + y] += chance * mass(first, x, sure[1]) * mass(r - first, y, rather[1])
    known = [
        (e, sum((max(p - o * q, ZERO) for p, q in zip(there, away, strict=True)), ZERO))
        for e, o in ODDS.items()
    ]
    for v in range(r + 1):
        assert sum(law[v:]) <= one_run_profile.p_value(m, r, v, known)


def _covered(m: int, r: int, law: list[Fraction], mechanism: str) -> None:
    assert sum(law) == 1
    values = [mechanism_p_value(m, r, v, mechanism).upper for v in range(r + 1)]
    assert all(sum(law[v:]) <= p for v, p in enumerate(values))
    for level in (Fraction(1, 20), Fraction(1, 3)):
        assert sum(x for x, p in zip(law, values, strict=True) if p <= level) <= level


# --- numbers --------------------------------------------------------------------------------------


def test_a_whole_profile_says_more_than_one_pair() -> None:
    """95 of 100 right of 1000 at (epsilon, 1e-5), against the same mechanism as a whole."""
    noise = "gaussian(1.4)"
    pair = one_run_profile.p_value(
        1000, 100, 95, [(Fraction(dpexact.epsilon(noise, "1e-5").upper), Fraction(1, 10**5))]
    )
    assert mechanism_p_value(1000, 100, 95, noise).upper < Fraction(1, 40) < pair


def test_more_right_guesses_are_less_likely() -> None:
    values = [mechanism_p_value(50, 20, v, "laplace(2)").upper for v in range(21)]
    assert values[0] == 1
    assert values == sorted(values, reverse=True)
    assert values[20] < Fraction(1, 1000)


def test_no_information_is_a_fair_coin() -> None:
    """All tails of one fair coin: (r - v) tosses are wrong for v that are right."""
    assert mechanism_p_value(30, 30, 15, "gdp(0)").upper == 1
    assert upper_tail(30, 29, Fraction(1, 2)) < mechanism_p_value(30, 30, 29, "gdp(0)").upper < 1


@pytest.mark.parametrize("mechanism", ["approx_dp(1, 1)", "pure_dp(1000)"])
def test_what_gives_all_away_convicts_nobody(mechanism: str) -> None:
    assert mechanism_p_value(10, 10, 10, mechanism).upper == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 1, 1, "gdp(1)"), "canaries: 0 is not accepted"),
        ((5, 6, 1, "gdp(1)"), "guesses: 6 is not accepted"),
        ((10**7, 10**7, 10**7, "gdp(1)"), "correct: 10000000 is not accepted"),
        ((5, 5, 5, "noise(1)"), "unknown mechanism"),
    ],
)
def test_what_is_refused(arguments: tuple[int, int, int, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        mechanism_p_value(*arguments)
