"""Public coins and cut batches: averages, against the pairs of many coins."""

import math
from fractions import Fraction
from itertools import combinations, product

import pytest
from flint import acb
from mpmath import mp, mpf
from oracles import to_mpf

import dpexact
from dpexact import balls, delta, gaussian, mix, poisson, replace, truncated_poisson
from dpexact.accounting import coins, laws, profiles
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.coin import Coin
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Fallback
from dpexact.accounting.reflection import WorseDirection
from dpexact.accounting.standing import standing
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import binomial_tail, rational

MIXED = "mix(1/3: gaussian(1), 2/3: poisson(gaussian(2), 1/2)^2)"


def test_one_coin_is_the_average():
    for epsilon in ("-1/2", "1/2", "2"):
        for way in ("remove", "add"):
            found = dpexact.delta(MIXED, epsilon, 10, way)
            parts = [
                dpexact.delta(text, epsilon, 14, way)
                for text in ("gaussian(1)", "poisson(gaussian(2), 1/2)^2")
            ]
            low = parts[0].lower / 3 + 2 * parts[1].lower / 3
            high = parts[0].upper / 3 + 2 * parts[1].upper / 3
            assert found.lower <= high
            assert found.upper >= low


def no_pairs(monkeypatch):
    def refused(*_):
        raise UnsupportedMechanism("nothing but the average")

    monkeypatch.setattr(profiles, "glanced", refused)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "method"),
    [
        (f"({MIXED})^5", "contour"),
        ("mix(1/2: gaussian(1)^3, 1/2: approx_dp(1/2, 1/100))^4 * gaussian(2)", "contour"),
        ("truncated_poisson(gaussian(1), 1/2, 20, 12)^6", "contour"),
        ("mix(1/3: laplace(1), 1/3: approx_dp(1, 1/100), 1/3: gdp(0))^6", "contour of atoms"),
        ("mix(1/2: pure_dp(1), 1/2: pure_dp(0.3))^20", "outcomes by type"),
        ("mix(1/2: pure_dp(1/2)^3, 1/2: approx_dp(1/3, 1/50))^6", "outcomes by type"),
    ],
)
@pytest.mark.parametrize("way", ["remove", "add"])
def test_more_coins_are_pairs_and_the_average(text, method, way, monkeypatch):
    monkeypatch.setattr(profiles, "averaged", lambda *_: None)
    pairs = dpexact.delta(text, "1/3", 8, way)
    assert (pairs.method, pairs.digits >= 8) == (method, True)
    epsilon = dpexact.epsilon(text, "1/10", 8, way)
    monkeypatch.undo()
    no_pairs(monkeypatch)
    average = dpexact.delta(text, "1/3", 10, way)
    assert average.method == "average over public coins"
    assert average.overlaps(pairs)
    assert epsilon.overlaps(dpexact.epsilon(text, "1/10", 8, way))


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    "text",
    [
        "mix(1/2: pure_dp(1), 1/2: pure_dp(0.3))^20",
        "mix(1/3: approx_dp(1/5, 1/99), 2/3: pair((1/2, 1/3), (1/2, 2/3)))^20",
        "mix(1/2: mix(1/3: approx_dp(1/5, 1/99), 2/3: pure_dp(1)), 1/2: gaussian(2))^70",
        "mix(1/2: pure_dp(1), 1/2: randomized_response(1/2, 5))^20 * laplace(1/3)^3",
        "mix(1/3: pair((1/2, 1/3), (1/2, 0), (0, 2/3)), 2/3: pair((2/3, 3/4), (1/3, 1/4)))^3",
        "mix(1/3: poisson(approx_dp(1, 1/9), 1/8), 2/3: pair((2/3, 3/4), (1/3, 1/4)))^3",
        "mix(1/3: poisson(pure_dp(1), 1/8) * pure_dp(1/2), 2/3: poisson(pure_dp(2), 1/9)^2)^9",
    ],
)
def test_coins_over_few_outcomes_are_one_law(text, way, monkeypatch):
    found = dpexact.delta(text, "1/2", 8, way)
    monkeypatch.setattr(laws, "_MOST_OUTCOMES", 0)
    apart = dpexact.delta(text, "1/2", 6, way)
    assert found.digits >= 8
    assert apart.digits >= 6
    assert found.overlaps(apart)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_sample_on_a_side_of_a_coin_is_a_list_of_outcomes(way):
    coin = "mix(1/3: poisson(pair((1/2, 1/4), (1/2, 3/4)), 1/4), 2/3: pair((1/5, 4/5), (4/5, 1/5)))"
    same = "pair((5/48, 1/12), (11/48, 1/4), (2/15, 8/15), (8/15, 2/15))"
    for law in ("{}^40", "poisson({}, 1/7)^40"):
        found, listed = (dpexact.delta(law.format(m), "1/2", 12, way) for m in (coin, same))
        assert found.digits >= 12
        assert (found.method, found.overlaps(listed)) == (listed.method, True)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_sample_of_coins_over_few_outcomes(way):
    """Of the coin and what it ran both at once: as a list of outcomes, and one by one."""
    sides = {"1/3": [("1/2", "1/4"), ("1/2", "3/4")], "2/3": [("1/5", "4/5"), ("4/5", "1/5")]}
    law = [
        (Fraction(w) * Fraction(p), Fraction(w) * Fraction(q))
        for w, pairs in sides.items()
        for p, q in pairs
    ]
    mixed = ", ".join(
        f"{w}: pair({', '.join(f'({p}, {q})' for p, q in pairs)})" for w, pairs in sides.items()
    )
    listed = ", ".join(f"({p}, {q})" for p, q in law)
    q = Fraction(1, 10)
    both = [
        (q * b + (1 - q) * a, a) if way == "remove" else (a, q * b + (1 - q) * a) for b, a in law
    ]
    # at e^epsilon = 1
    truth = sum(max(a[0] * b[0] - a[1] * b[1], 0) for a in both for b in both)
    found = dpexact.delta(f"poisson(mix({mixed}), 1/10)^2", 0, 12, way)
    assert found.lower <= truth <= found.upper
    assert found.overlaps(dpexact.delta(f"poisson(pair({listed}), 1/10)^2", 0, 12, way))


def test_an_average_stands_behind_pairs_that_have_fewer_digits(monkeypatch):
    monkeypatch.setattr(profiles, "_FEW_OUTCOMES", 0)
    assert dpexact.delta("mix(1/2: laplace(1), 1/2: laplace(2))^5", 1, 20).digits >= 20


@pytest.mark.parametrize("hidden", [False, True])
def test_no_side_of_a_coin_holds_infinite_loss_of_either_law(hidden):
    half, whole = rational(Fraction(1, 2)), rational(1)
    law = Finite((Atom(half, whole), Atom(half, rational(0))))
    with pytest.raises(UnsupportedMechanism, match="so many coins"):
        Composition(apart=[(law.reverse if hidden else law, 1)]).run()
    kept = Finite((Atom(half, half), Atom(half, half)))
    assert Composition(apart=[(kept, 1)]).run()[1] == ((kept, 1),)


def test_exponentials_of_coins_are_their_moments():
    laplace, response = (Laplace(rational(1)), 1), (Response(rational(2)), 1)
    sides = tuple(
        (rational(Fraction(k, 6)), run) for k, run in ((1, ()), (2, (laplace,)), (3, (response,)))
    )
    coin = Coin.public(sides)
    assert coin.has_outline
    assert not Coin.public(((rational(1), (laplace, response)),)).has_outline
    with balls.precision(100):
        for accuracy, most in ((50.0, 1e-18), (3.0, 1.0)):
            terms, error = coin.exponentials(0.5, 40.0, accuracy)
            for n, truth in enumerate(coin.moments(0.5, 10.0, 4, 50.0)):
                turn = acb(0, 10 * n)
                found = sum((w * (turn * z).exp() for w, z in terms), acb(error, error))
                assert found.overlaps(truth)
                assert abs(found - truth).upper() < most
        masses = sum(math.exp(log) for log, _ in coin.outline(0.5))
        assert abs(masses - float(coin.moment(0.5, 30.0))) < 1e-2


#: What runs beside Gaussian noise on one sample, and how often: of many steps few have no noise.
BESIDE = (
    *(("pure_dp(1/3)", 7), ("discrete_laplace(2) * pure_dp(1)", 7)),
    *(("randomized_response(2, 4)^2", 7), ("pair((1/3, 1/4), (1/3, 3/4), (1/3, 0))", 7)),
    *(("approx_dp(1/2, 1/50)", 60), ("mix(1/3: pure_dp(1), 2/3: approx_dp(1, 1/9))", 60)),
)


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(("law", "count"), BESIDE)
def test_noise_beside_outcomes_on_one_sample(law, count, way):
    """A coin of what comes up, against the profile of the step itself and the lattice engine."""
    step = f"poisson(gaussian(3/2) * {law}, 1/5)"
    for epsilon in ("-1/10", "1/4") if count < 10 else ():
        found = dpexact.delta(step, epsilon, 10, way, method="contour")
        assert found.overlaps(dpexact.delta(step, epsilon, 10, way))
    many = f"{step}^{count} * laplace(5)"
    found = dpexact.delta(many, "1/2", 10, way)
    assert (found.method, found.digits >= 10) == ("contour", True)
    assert found.overlaps(dpexact.delta(many, "1/2", 2, way, method="lattice"))


@pytest.mark.parametrize("way", ["remove", "add"])
def test_moments_and_masses_of_noise_beside_outcomes(way):
    """By integrals over the noise of every outcome."""
    text = "pair((1/2, 1/4), (1/3, 3/4), (1/6, 0))"
    inner = Composition.running(dpexact.parse(f"gaussian(2) * {text}"))
    coin = inner.on_sample(rational(Fraction(1, 5)), way)
    with mp.workdps(30), balls.precision(120):
        q = mpf(1) / 5

        def laws(x, p, r):
            with_it, without = mp.npdf(x, mpf(1) / 2), mp.npdf(x)
            both = ((1 - q) * r * without + q * p * with_it, r * without)
            return both if way == "remove" else both[::-1]

        def mean(of):
            ends = [-12, -4, 0, 4, 12]
            chances = [(mpf(1) / 2, mpf(1) / 4), (mpf(1) / 3, mpf(3) / 4), (mpf(1) / 6, mpf(0))]
            return mp.fsum(mp.quad(lambda x: of(*laws(x, *one)), ends) for one in chances)

        for c in (-0.5, 0.75, 3.0):
            expected = mean(lambda p, r: p * (p / r) ** c if r and p else mpf(0))
            assert abs(to_mpf(balls.midpoint(coin.moment(c, 60.0))) - expected) < mpf(10) ** -15
            assert math.isclose(coin.cumulant(c).value, mp.log(expected), abs_tol=1e-6)
            if way == "add" and c > 0:  # removing, the divergence is infinite
                found = dpexact.renyi(f"poisson(gaussian(2) * {text}, 1/5)", 1 + c, 12, way)
                assert abs(to_mpf(found.lower) - mp.log(expected) / c) < mpf(10) ** -13
        assert to_mpf(balls.midpoint(coin.overlap())) <= mean(min)
        lost = q / 6 if way == "remove" else 0
        assert abs(to_mpf(balls.midpoint(coin.mass())) - (1 - lost)) < mpf(10) ** -25
        around = coin.reverse.moment(-0.25, 60.0)
        assert around.overlaps(coin.moment(-0.75, 60.0))


def test_the_worse_direction_is_taken_of_the_average():
    """Not the average of the worse directions, which no pair of datasets attains."""
    both = dpexact.delta(f"({MIXED})^3", "1/3", 10)
    ways = [dpexact.delta(f"({MIXED})^3", "1/3", 10, way) for way in ("remove", "add")]
    assert both.overlaps(max(ways, key=lambda found: found.lower))


def test_coins_over_pairs_that_are_not_symmetric():
    law = "pair((1/2, 1/3), (1/2, 2/3))"
    other = "pair((1/3, 1/2), (2/3, 1/2))"
    for way, same in (("remove", law), ("add", other), ("both", law)):
        found = dpexact.delta(f"mix(1/2: {law}, 1/2: gdp(0))", "1/10", 10, way)
        alone = dpexact.delta(same, "1/10", 15, "remove")
        if way == "both":
            alone = alone.larger(dpexact.delta(other, "1/10", 15, "remove"))
        assert 2 * found.lower <= alone.upper
        assert 2 * found.upper >= alone.lower


def test_renyi_divergences_average_their_exponentials():
    found = dpexact.renyi("mix(1/3: gaussian(1), 2/3: gaussian(2)^2)", 3, 12)
    expected = math.log((math.exp(3) + 2 * math.exp(1.5)) / 3) / 2
    assert abs(float(found.lower) - expected) < 1e-9
    assert dpexact.renyi("mix(1/3: gaussian(1), 2/3: pure_dp(1))", "inf").lower == math.inf
    assert dpexact.renyi("mix(1/3: pure_dp(2), 2/3: pure_dp(1))", "inf", 8).overlaps(
        dpexact.renyi("pure_dp(2)", "inf", 8)
    )


def test_a_coin_over_a_leak():
    text = "mix(1/4: approx_dp(0, 1/10), 3/4: gdp(0))^2"
    assert dpexact.delta(text, 1).overlaps(dpexact.delta("approx_dp(0, 1/40)^2", 1))
    assert dpexact.epsilon(text, "1/100").lower == math.inf


def test_cut_batches():
    found = dpexact.delta("truncated_poisson(gaussian(1), 1/100, 10000, 110)^1000", 1, 18)
    assert found.shown(18).startswith("0.10451393407541962")
    assert found.bound == "upper"
    rate, n, cut = Fraction(1, 10), 100, 12
    masses = [math.comb(n - 1, j) * rate**j * (1 - rate) ** (n - 1 - j) for j in range(n)]
    tau = sum(masses[cut:])
    kept = sum(m * rate * cut / (j + 1) for j, m in enumerate(masses) if j >= cut) / tau
    (weight, _), (other, both) = coins.sides(
        dpexact.parse("truncated_poisson(gaussian(1), 1/10, 100, 12)")
    )
    assert (weight.fraction, other.fraction) == (1 - tau, tau)
    assert both.mechanism.q.fraction == kept


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("truncated_poisson(gaussian(1), 1/10, 20, 20)^3", "poisson(gaussian(1), 1/10)^3"),
        ("truncated_poisson(gaussian(1), 0, 20, 10)^3", "gdp(0)"),
        ("truncated_poisson(gaussian(1), 1/10, 20, 0)^3", "gdp(0)"),
        ("truncated_poisson(gdp(0), 1/10, 20, 10)^3", "gdp(0)"),
        ("truncated_poisson(gaussian(1), 1, 20, 20)", "gaussian(1)"),
        ("truncated_poisson(gaussian(1), 1, 20, 10)^3", "replace(poisson(gaussian(1/2), 1/2)^3)"),
        ("mix(1: gaussian(1), 0: pure_dp(1))", "gaussian(1)"),
    ],
)
def test_corners(text, same):
    assert dpexact.delta(text, "1/2", 8).overlaps(dpexact.delta(same, "1/2", 8))
    assert (standing(dpexact.parse(text)).bound == "upper") == ("replace" in same)


@pytest.mark.slow
def test_binomial_tails_by_the_beta_function():
    exact = binomial_tail(100, rational(Fraction(1, 10)), 20)
    assert exact.fraction is not None
    large = binomial_tail(20_000, rational(Fraction(1, 10)), 2_200)
    assert large.fraction is None
    direct = sum(
        math.comb(20_000, j) * 9 ** (20_000 - j) for j in range(2_200, 2_700)
    )  # beyond it less than 1e-40 of it
    with balls.precision(100):
        about = balls.ball(Fraction(direct, 10**20_000))
        assert abs(balls.ball(large) / about - 1) < 1e-12
    assert binomial_tail(5, rational(Fraction(1, 2)), 0).fraction == 1
    assert binomial_tail(5, rational(Fraction(1, 2)), 6).fraction == 0


def test_what_is_refused():
    for text, said in (
        ("truncated_poisson(laplace(1), 1/10, 20, 10)", r"one gaussian\(sigma\)"),
        ("mix(1/2: poisson(approx_dp(1, 1/10), 1/2), 1/2: gaussian(1))^200", "so many coins"),
        ("poisson(mix(1/2: poisson(gaussian(1), 1/2), 1/2: gaussian(1)), 1/2)", "no certified"),
        ("mix(1/2: poisson(gaussian(1), 1/2), 1/2: replace(gaussian(1)))", "beside replace"),
    ):
        with pytest.raises(UnsupportedMechanism, match=said):
            dpexact.delta(text, 1)


@pytest.mark.parametrize("rate", ["1/10", "1/3"])
def test_the_largest_loss_is_that_of_the_worst_side(rate):
    """At delta 0: profiles made of profiles were taken for unbounded."""
    with mp.workdps(40):
        step = -mp.log1p(-to_mpf(Fraction(rate)))
        for text, count in (
            (f"mix(1/2: poisson(gaussian(1), {rate})^9, 1/2: poisson(gaussian(2), {rate})^3)", 9),
            (f"truncated_poisson(gaussian(1), {rate}, 10, 10)^5", 5),
            (f"mix(1/3: poisson(gaussian(1), {rate})^2, 2/3: gdp(0))^2 * pure_dp(1/100)", 4),
        ):
            found = dpexact.epsilon(text, 0, 12, "add")
            low, high = found.to_mpmath(30)
            truth = count * step + ("pure_dp" in text) * mp.mpf(1) / 100
            assert low * (1 - mp.mpf(10) ** -25) <= truth <= high * (1 + mp.mpf(10) ** -25)
            assert dpexact.epsilon(text, 0, 12, "remove").lower == math.inf


@pytest.mark.parametrize("revealing", ["approx_dp(0, 1)", "pair((1, 0), (0, 1))"])
@pytest.mark.parametrize("beside", ["gaussian(1)", "poisson(gaussian(1), 1/2)"])
def test_beside_what_reveals_everything_no_finite_loss_is_left(revealing, beside):
    """The side of unbounded loss has none that is finite: the other one's is the largest."""
    text = f"mix(1/4: pure_dp(1), 3/4: {beside} * {revealing})"
    found = dpexact.epsilon(text, "3/4")
    assert found.lower == found.upper == 1
    assert dpexact.epsilon(f"{beside} * {revealing}", 1).upper == 0


@pytest.mark.parametrize(
    "never",
    [
        "zcdp(1)",
        "renyi_dp((2, 1))",
        "permute_and_flip(1)",
        "bounded_range(1)",
        "group(pure_dp(1), 2)",
    ],
)
def test_a_side_that_never_comes_up_bounds_nothing(never):
    """It was among what is known from above only, and answers bounded what they could give."""
    text = f"mix(0: {never}, 1: gaussian(1))"
    for found, alone in (
        (dpexact.epsilon(text, "1e-5"), dpexact.epsilon("gaussian(1)", "1e-5")),
        (dpexact.renyi(text, 2), dpexact.renyi("gaussian(1)", 2)),
    ):
        assert found.bound == "exact"
        assert found.overlaps(alone)
    grouped = dpexact.parse(f"group(mix(0: {never}, 1: laplace(1)), 2)")
    assert never == "group(pure_dp(1), 2)" or standing(grouped).bound == "exact"


# --- cut batches with a record replaced -----------------------------------------------------------


def cut_sums(values, q, batch):
    """The law of the sum of a Poisson sample of ``values``, cut at random to ``batch`` of them."""
    law = {}
    for drawn in product((0, 1), repeat=len(values)):
        kept = [v for v, taken in zip(values, drawn, strict=True) if taken]
        chance = math.prod(q if taken else 1 - q for taken in drawn)
        choices = list(combinations(kept, min(batch, len(kept))))
        for choice in choices:
            law[sum(choice)] = law.get(sum(choice), 0) + chance / len(choices)
    return law


@pytest.mark.slow
@pytest.mark.parametrize("others", [(1, 1), (-1, 1), (0, 0), (-1, -1, -1)])
@pytest.mark.parametrize("epsilon", ["0", "1/2"])
def test_a_replaced_record_of_cut_batches_is_below_the_coin(others, epsilon):
    q, batch, n = Fraction(1, 2), 1, len(others) + 1
    with mp.workdps(20):
        laws = [cut_sums((*others, value), q, batch) for value in (1, -1)]

        def density(law, x):
            return mp.fsum(mpf(float(w)) * mp.npdf(x, s, 1) for s, w in law.items())

        growth = mp.exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        truth = mp.quad(
            lambda x: max(density(laws[0], x) - growth * density(laws[1], x), 0),
            list(range(-9, 10)),
        )
    m = replace(truncated_poisson(gaussian(1), q, n, batch))
    found = delta(m, epsilon, 10)
    assert found.bound == "upper"
    assert float(found.upper) >= truth - 1e-6
    tail = 1 - (1 - q) ** (n - 1)
    taken = (1 - (1 - q) ** n - n * q * (1 - q) ** (n - 1)) / n / tail
    coin = mix(
        (1 - tail, replace(poisson(gaussian(1), q))),
        (tail, replace(poisson(gaussian("1/2"), taken))),
    )
    assert found.overlaps(delta(coin, epsilon, 10))
    assert delta(m**3, epsilon, 8).overlaps(delta(coin**3, epsilon, 8))
    assert delta(replace(m.mechanism**3), epsilon, 8).overlaps(delta(m**3, epsilon, 8))


def test_many_cut_batches_with_a_record_replaced():
    m = replace(truncated_poisson(gaussian(1), "1/100", 10_000, 110) ** 1000)
    found = delta(m, 1, 8)
    assert found.digits >= 8
    assert found.upper < delta(replace(poisson(gaussian("1/2"), "1/100") ** 1000), 1, 8).upper
    whole = replace(truncated_poisson(gaussian(1), "1/100", 10, 10) ** 10)
    assert delta(whole, 1, 8).overlaps(delta(replace(poisson(gaussian(1), "1/100") ** 10), 1, 8))


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    "beside", ["group(poisson(gaussian(2), 1/10)^3, 2)", "allocation(gaussian(2), 5)"]
)
def test_pairs_at_a_glance_are_the_average(beside, way, monkeypatch):
    text = f"mix(1/2: gaussian(2), 1/2: laplace(1))^9 * {beside}"
    pairs = dpexact.delta(text, 2, 8, way)
    assert pairs.method == "contour"
    no_pairs(monkeypatch)
    assert pairs.overlaps(dpexact.delta(text, 2, 10, way))


@pytest.mark.parametrize("count", [2, 5, 40])
def test_few_cut_batches_are_pairs_on_a_line(count):
    """Each outcome would be a contour by itself, and chances of many are numbers too long."""
    text = f"truncated_poisson(gaussian(1.11), 1/100, 1000, 12)^{count}"
    found = dpexact.epsilon(text, "1e-7", 8)
    assert (found.method, found.digits >= 8) == ("contour", True)
    if count == 2:
        low, high = (dpexact.delta(text, end, 4).method for end in (found.lower, found.upper))
        assert low == high == "contour"


def test_closed_forms_and_single_coins_are_averaged_at_once():
    for text in (
        "mix(1/2: gaussian(1), 1/2: gaussian(2))^3",
        "truncated_poisson(gaussian(2), 1/10, 20, 5)",
    ):
        assert dpexact.delta(text, 1, 20).method == "average over public coins"


def test_pairs_of_coins_are_tried_once_before_the_average(monkeypatch):
    seen = []

    def kept(first, *rest):
        seen.append(first)
        return Fallback(first, *rest)

    monkeypatch.setattr(profiles, "Fallback", kept)
    sides = "1/3: laplace(0.331), 1/6: gaussian(4.93), 1/2: laplace(3.86)"
    found = dpexact.delta(f"mix({sides})^6 * pure_dp(0.384)^5", 1, 8, "add")
    assert found.digits >= 8
    assert [x.patient for x in seen] == [False]


@pytest.mark.parametrize(
    ("coin", "level", "largest"),
    [
        ("mix(1/2: pure_dp(1), 1/2: pure_dp(2))^2", "0", 4),
        ("mix(1/2: pure_dp(1), 1/2: approx_dp(2, 1/10))^2", "39/400", 4),
        ("mix(1/2: randomized_response(2, 3)^2, 1/2: discrete_laplace(1, 3)) * pure_dp(1)", "0", 5),
    ],
)
def test_the_largest_loss_of_a_coin_over_few_outcomes_is_exact(coin, level, largest):
    """Else a claim of just that would be undecided for ever."""
    found = dpexact.epsilon(coin, level)
    assert found.lower == found.upper == largest


def test_coins_over_what_is_symmetric_are_asked_one_way():
    symmetric = profiles.profile(dpexact.parse("mix(1/3: laplace(1), 2/3: gaussian(1))"))
    directed = profiles.profile(
        dpexact.parse("mix(1/3: poisson(gaussian(1), 1/3), 2/3: gaussian(1))")
    )
    assert not isinstance(symmetric, WorseDirection)
    assert isinstance(directed, WorseDirection)
