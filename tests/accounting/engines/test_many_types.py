"""Types of two halves: against every outcome in mpmath, against blurs, and with lists cut hard."""

from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import comb

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import PrecisionNotReached, UnsupportedMechanism, balls, delta, epsilon, parse
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines import many_types
from dpexact.accounting.engines.contour.atoms import AtomsProfile
from dpexact.accounting.engines.many_types import Half, ManyTypes, types_of
from dpexact.conversion import real

WAYS = ("remove", "add")
DIGITS = 40


def factors(text, way):
    whole = Composition.of(parse(text).steps().items()).facing(way)
    return whole.everything(way), whole.infinite(add=way == "add")


def types(text, way):
    return ManyTypes(*factors(text, way))


def discrete(sigma, q, way, reach=5):
    """The outcomes of one step on a sample."""
    s, q = mpf(sigma), mpf(q)
    weights = {x: mp.exp(-(mpf(x) ** 2) / (2 * s * s)) for x in range(-reach - 1, reach + 2)}
    total = mp.jtheta(3, 0, mp.exp(-1 / (2 * s * s)))
    law = []
    for x in range(-reach - 1, reach + 1):
        q_mass, p_mass = weights[x] / total, weights[x + 1] / total
        mixed = (1 - q) * q_mass + q * p_mass
        law.append((mixed, q_mass) if way == "remove" else (q_mass, mixed))
    return law


def response(e):
    high = 1 / (1 + mp.exp(-mpf(e)))
    return [(high, 1 - high), (1 - high, high)]


def hockey_stick(laws, level):
    total = mpf(0)
    for outcome in product(*laws):
        p, q = mp.fprod(a for a, _ in outcome), mp.fprod(b for _, b in outcome)
        total += max(p - level * q, mpf(0))
    return total


def inside(found, truth):
    """Whether a ball holds a number of many digits."""
    low, high = (mpf(x.str(30, radius=False)) for x in (found.lower(), found.upper()))
    return low - mpf(10) ** -25 <= truth <= high + mpf(10) ** -25


@settings(max_examples=25)
@given(
    st.floats(0.3, 0.5),
    st.floats(-3, -0.1),
    st.integers(1, 2),
    st.floats(0, 5),
    st.sampled_from(WAYS),
    st.sampled_from([3, 8, 15]),
)
def test_against_every_outcome(sigma, log_q, count, at, way, digits):
    sigma, q, at = f"{sigma:.3g}", f"{10**log_q:.3g}", f"{at:.3g}"
    profile = types(f"poisson(discrete_gaussian({sigma}), {q})^{count} * pure_dp(1/3)", way)
    found = profile.delta(real(at), digits)
    with mp.workdps(DIGITS):
        laws = [discrete(sigma, q, way)] * count + [response(mpf(1) / 3)]
        truth = hockey_stick(laws, mp.exp(mpf(at)))
        low, high = (mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
        assert low - mpf(10) ** -20 <= truth <= high + mpf(10) ** -20
    assert found.digits >= digits or found.upper < 1e-12
    if found.lower > 1e-12:
        back = profile.epsilon(real(found.lower), digits)
        # delta there is at least the lower end of what was found
        assert back.upper >= real(at).fraction


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("poisson(discrete_gaussian(0.5), 1/10)^10", "1/2"),
        ("poisson(discrete_gaussian(1), 1/100)^5", "1/100"),
        ("poisson(discrete_gaussian(0.6), 1/10)^3 * poisson(discrete_gaussian(0.4), 1/5)", "2"),
    ],
)
def test_blurs_meet(text, at, way):
    found = types(text, way).delta(real(at), 15)
    blurred = AtomsProfile(*factors(text, way)).delta(real(at), 5)
    assert found.digits >= 15
    assert blurred.digits >= 4
    assert found.overlaps(blurred)


def test_types_are_all_there_with_their_masses():
    law = [(arb(p) / 10, arb(q) / 10) for p, q in ((5, 2), (3, 3), (1, 4))]
    with balls.precision(100):
        found = types_of(law, 7, 0.0, 0.0)
        whole = [sum((t[i] for t in found), arb(0)) for i in (0, 1)]
        assert all(x.contains((arb(9) / 10) ** 7) for x in whole)
        assert len(found) == comb(9, 2)
        assert all(t.loss.overlaps((t.p / t.q).log()) for t in found)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("tilt", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("rare", [2.0**-4, 2.0**-9, 2.0**-20])
def test_what_is_not_listed(way, tilt, rare, monkeypatch):
    """Lists cut hard, under any tilt: the ball still holds the truth, and is not vacuous."""
    monkeypatch.setattr(many_types, "_RARE", round(mp.log(rare, 2)) + 120)
    profile = types("poisson(discrete_gaussian(0.4), 1/5)^3", way)
    profile._tilt = tilt
    with mp.workdps(DIGITS):
        laws = [discrete("0.4", "0.2", way, 4)] * 3
        for at in ("0", "0.7", "1.5"):
            with balls.precision(120):
                p, q, doubt = profile.tangent(balls.ball(real(at)))
                level = balls.ball(real(at)).exp()
                assert tilt > 1 or doubt < 200 * rare**0.5
                assert inside(
                    (p - level * q) + arb(0).union(doubt), hockey_stick(laws, level_of(at))
                )


def level_of(at):
    return mp.exp(mpf(at))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shift", [-0.49, 0.49])
@pytest.mark.parametrize("what", ["first", "second", "goal", "all"])
def test_coarse_keys(way, shift, what, monkeypatch):
    """Keys of a half, the goal or all are rounded to one side: pairs on the wrong one are doubt."""
    step, halves, exact = 1 << 119, [], many_types.nearest

    def nearest(x):
        part = what if what == "all" else ("first", "second", "goal")[min(len(halves), 2)]
        if part != what:
            return exact(x)
        return int((x.mid() / step + arb(0.5 + shift)).floor().fmpz()) * step

    def half(*masses):
        halves.append(masses)
        return Half(*masses)

    monkeypatch.setattr(many_types, "nearest", nearest)
    monkeypatch.setattr(many_types, "Half", half)
    profile = types("poisson(discrete_gaussian(0.4), 1/5)^3", way)
    with mp.workdps(DIGITS), balls.precision(120):
        laws = [discrete("0.4", "0.2", way, 4)] * 3
        for i in range(1, 12):
            point = arb(i) / 9
            found = profile.tangent(point).value(point.exp())
            assert inside(found, hockey_stick(laws, mp.exp(mpf(i) / 9)))
    assert len(halves) == 2


@pytest.mark.parametrize("way", WAYS)
def test_beside_infinite_loss(way):
    text = "poisson(discrete_gaussian(0.4), 1/5)^2 * approx_dp(1/3, 1/10)"
    with mp.workdps(DIGITS), balls.precision(120):
        laws = [discrete("0.4", "0.2", way)] * 2 + [response(mpf(1) / 3)]
        truth = mpf(1) / 10 + 9 * hockey_stick(laws, mp.exp(mpf(1) / 2)) / 10
        assert inside(types(text, way).delta_ball(arb(1) / 2), truth)


def test_at_the_mass_of_infinite_loss_the_largest_finite_one():
    found = epsilon("poisson(discrete_gaussian(1), 1/10)^10", 0, 12, direction="add")
    assert abs(float(found.upper) - 1.0536051565782628) < 1e-12
    assert epsilon("poisson(discrete_gaussian(1), 1/10)^10", 0, 12).upper == float("inf")


def test_too_many_types_are_left_to_blurs(monkeypatch):
    monkeypatch.setattr(many_types, "MAX_TYPES", 9)
    found = delta("poisson(discrete_gaussian(0.5), 1/10)^10", ["1/2", "0.6"], 4, direction="add")
    assert all(x.method == "contour of atoms" for x in found)


@pytest.mark.parametrize("sigma", ["1e-300", "1e-5", "1e300"])
def test_noise_out_of_proportion_is_answered_or_refused(sigma):
    with suppress(PrecisionNotReached, UnsupportedMechanism):
        epsilon(f"poisson(discrete_gaussian({sigma}), 1/10)^3", "1e-5", 3)


@pytest.mark.parametrize("way", WAYS)
def test_atoms_of_a_sample_and_what_is_left(way):
    ((pair, _),), _ = factors("poisson(discrete_gaussian(0.4), 1/5)", way)
    with mp.workdps(DIGITS), balls.precision(120):
        listed, left = pair.atoms(1e-9)
        truth = dict(zip(range(-10, 10), discrete("0.4", "0.2", way, 9), strict=True))
        masses = sorted(truth.values())[-len(listed) :]
        by_p = sorted(listed, key=lambda masses: float(masses[0].mid()))
        assert all(
            inside(a[0], b[0]) and inside(a[1], b[1]) for a, b in zip(by_p, masses, strict=True)
        )
        assert all((sum((m[i] for m in listed), arb(0)) + left[i]).contains(1) for i in (0, 1))
        assert left[0] < 1e-8


def discrete_alone(sigma, reach):
    """The outcomes of one step that is not sampled."""
    with mp.workdps(DIGITS):
        return discrete(sigma, 1, "remove", reach)


@pytest.mark.parametrize("rare", [-80, -20, 16])
@pytest.mark.parametrize("tilt", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("at", ["0", "1", "9/2"])
def test_lattices_beside_each_other(tilt, rare, at, monkeypatch):
    """Losses of all steps of a lattice at once, however hard the lists are cut."""
    monkeypatch.setattr(many_types, "_RARE", -rare + 16)
    profile = types("discrete_gaussian(0.5)^2 * pure_dp(1/3)^3", "remove")
    profile._tilt = tilt
    with mp.workdps(DIGITS):
        laws = [discrete_alone("0.5", 7)] * 2 + [response(mpf(1) / 3)] * 3
        with balls.precision(120):
            point = balls.ball(real(at))
            found = profile.tangent(point).value(point.exp())
            assert inside(found, hockey_stick(laws, level_of(at)))


@pytest.mark.parametrize("count", [21, 2100])
def test_far_strides_on_one_lattice(count):
    """By types first; blurs and the law on the common lattice agree where they answer."""
    text = f"discrete_gaussian(1.3)^{count} * pure_dp(1.81)^36"
    found = delta(text, "40", 15, direction="remove")
    assert found.method == "outcomes by type, in halves"
    assert found.digits >= 15
    blurred = AtomsProfile(*factors(text, "remove")).delta(real("40"), 5)
    assert found.overlaps(blurred)
    back = epsilon(text, "1e-10", 12)
    assert delta(text, back.upper, 3, direction="remove").lower <= Fraction(1, 10**10)


def test_two_samples_of_few_outcomes_meet_as_they_are():
    text = "poisson(staircase(1/3, 1/5), 1/250)^235 * poisson(approx_dp(0.6, 1e-4), 1/7)^68"
    found = epsilon(text, "1e-8", 15, direction="add")
    assert found.digits >= 15
    assert found.method == "outcomes by type, in halves"
    assert found.overlaps(AtomsProfile(*factors(text, "add")).epsilon(real("1e-8"), 5))
