"""Groups, and a record replaced: their laws, bounds and lines against mpmath, and the contour."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf

import dpexact
from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.rare.asked import rare_profile
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.law import Cells, Rule, SampledLaw, crossed
from dpexact.accounting.engines.rare.likelihood import Likelihood
from dpexact.accounting.engines.rare.picture import Question
from dpexact.accounting.engines.rare.planning import cheapest, planned
from dpexact.accounting.engines.rare.powers import real_powers
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row, half_root_of_chi_square, total_variation
from dpexact.accounting.engines.rare.windows import Window
from dpexact.accounting.pairs.mixture import Grouped, one_shift
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real

BITS = 200
FINE = [-16 + i / 20 for i in range(500)]
SIGMA, Q = "1/2", "1/50"
NEAR, MIDDLE, FAR = Window(20, 1e-3), Window(20, 1e-1, 1e-3), Window(20, None, 1e-1)
#: The size of a group, and whether a record is replaced.
KINDS = [(1, True), (2, False), (5, False)]


def densities(group, replaced, at=(SIGMA, Q)):
    """Those of ``P`` and ``Q`` over that of ``N(0, 1)``, of complex outcomes."""
    sigma, q = (mpf(x.numerator) / x.denominator for x in map(Fraction, at))

    def moved(x, j):
        return mp.exp(j * x / sigma - mpf(j * j) / (2 * sigma**2))

    def p(x):
        chances = (mp.binomial(group, j) * q**j * (1 - q) ** (group - j) for j in range(group + 1))
        return mp.fsum(chance * moved(x, j) for j, chance in enumerate(chances))

    return p, (lambda x: 1 - q + q * moved(x, -1)) if replaced else (lambda x: mpf(1))


def integrand(law, window, rho, at=(SIGMA, Q)):
    p, v = densities(law.group, law.replaced, at)
    sigma, q = (mpf(x.numerator) / x.denominator for x in map(Fraction, at))
    odds, stay = law.group * q / (1 - q), (1 - q) ** law.group

    def above(w):
        return mp.exp(-w) * mp.fsum(w**j / mp.factorial(j) for j in range(window.shape))

    def f(x):
        ratio = odds * mp.exp(x / sigma - 1 / (2 * sigma**2))
        high = mpf(1) if window.high is None else above(ratio / window.high)
        low = mpf(0) if window.low is None else above(ratio / window.low)
        weight = mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
        return weight * (p(x) / stay) ** rho * v(x) ** (1 - rho) * (high - low)

    return f


def moment(law, window, rho, fine=20):
    """A fine rule: its error is far below what is looked for."""
    f, step = integrand(law, window, rho), mpf(1) / fine
    return step * mp.fsum(f(j * step) for j in range(-20 * fine, 18 * fine + 1))


def upper(x):
    return balls.to_enclosure(x).to_mpmath(25)[1]


def holds(x, true):
    low, high = balls.to_enclosure(x).to_mpmath(25)
    return low - mpf(10) ** -20 <= true <= high + mpf(10) ** -20


@pytest.mark.parametrize(("group", "replaced"), KINDS)
def test_densities_are_those_of_mixtures(group, replaced):
    with mp.workdps(40), balls.precision(BITS):
        p, v = densities(group, replaced)
        law = Likelihood(real(SIGMA), real(Q), group, replaced=replaced)
        for x in (-3.0, 0.0, 1.25, 7.0):
            ratio = law.ratio(arb(x))
            assert holds((law.stay * (1 + law.more(ratio))).log(), mp.log(p(mpf(x))))
            assert holds(law.beside(arb(0), ratio).log(), mp.log(v(mpf(x))))
            z = mpc(x, 0.2)
            turned = acb(law.start + arb(x) * law.rate, arb(0.2) * law.rate).exp()
            loss, below = law.losses(turned)
            beside = law.beside(arb(3), ratio, 0.2 * float(law.rate), 5.0)
            assert holds(beside.log(), mp.re((-2 - 5j) * mp.log(v(z))))
            assert holds(below.imag, mp.arg(v(z)))
            assert holds((loss + below).real + law.stay.log(), mp.log(abs(p(z))))
        assert holds(sum(law.shares, arb(0)) * law.stay, mpf(1))


@pytest.mark.parametrize(("group", "replaced"), KINDS)
@pytest.mark.parametrize("window", [NEAR, MIDDLE, FAR])
@pytest.mark.parametrize("order", [-4.0, 0.0, 1.0, 4.0])
def test_cells_are_above_moments_and_next_to_them(group, replaced, window, order):
    if window is FAR and order > 1:
        pytest.skip("large losses need a window")
    with mp.workdps(60), balls.precision(BITS):
        law = SampledLaw(real(SIGMA), real(Q), group, replaced)
        true = moment(law, window, order)
        bound = upper(Cells(law, FINE).bound(window, order))
        assert true <= bound <= 1.5 * true


@pytest.mark.parametrize("order", [0.0, -3.0, -9.0])
@pytest.mark.parametrize("first", [-6.0, -1.0])
def test_a_ray_of_losses_below_zero(order, first):
    """A record replaced: all but what is right of a place is on the ray to the left."""
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real(SIGMA), real(Q), 1, True)
        _, v = densities(1, True)
        true = mp.quad(lambda x: mp.npdf(x) * v(x) ** (1 - order), [-40, -20, -10, first])
        assert true <= upper(law.left_mass(arb(order), arb(first)))


@pytest.mark.parametrize(("group", "replaced"), KINDS)
def test_the_line_and_its_decay(group, replaced):
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real(SIGMA), real(Q), group, replaced)
        rule, cells = Rule(0.08, 0.3, 0.02, -550, 500), Cells(law, FINE)
        line = law.line(MIDDLE, 3.0, 30.0, 2, rule, cells)
        for n in (0, 2):
            true = moment(law, MIDDLE, mpc(3, 30 * n), 60)
            assert holds(line[n].real, true.real)
            assert holds(line[n].imag, true.imag)
            assert line[n].real.rad() < 1e-4
            for angle in (0.05, 0.3, 0.6):
                assert abs(true) <= upper(cells.decayed(MIDDLE, 3.0, 30.0 * n, angle))


@pytest.mark.parametrize("edges", [[-1.0, 1.5], [-2.0, 0.0, 3.0], [0.4, 0.5], [-14.0, -12.0], FINE])
@pytest.mark.parametrize("q", ["1/2", "999/1000"])
@pytest.mark.parametrize(("group", "replaced"), KINDS)
@pytest.mark.parametrize(("order", "u"), [(4.0, 0.0), (1.0, 6.0), (2.5, 25.0), (-4.0, 0.0)])
def test_cells_above_the_axis(edges, q, group, replaced, order, u):
    with mp.workdps(30), balls.precision(BITS):
        law, theta = SampledLaw(real(1), real(q), group, replaced), 0.6
        window = Window(20, 3.0 * float(law.odds))
        f = integrand(law, window, mpc(order, u), ("1", q))
        # the modulus is smooth: a rule is fine
        true = mp.fsum(abs(f(mpc(j, theta * 10) / 10)) for j in range(-160, 120)) / 10
        assert true <= upper(Cells(law, edges).decayed(window, order, u, theta))


def test_a_wide_cell_in_which_a_group_both_rises_and_falls():
    at = ("0.4", "0.9")
    with mp.workdps(30), balls.precision(BITS):
        law, window, theta, u = SampledLaw(*map(real, at), 2), Window(20, 1e4), 0.8, 10.0
        ends = [float((arb(x).log() - law.start) / law.rate) for x in (20, 600)]
        edges = [x for x in FINE if x < ends[0]] + ends + [x for x in FINE if x > ends[1]]
        f = integrand(law, window, mpc(1, u), at)
        true = mp.fsum(abs(f(mpc(j, 32 * 0.4 * theta) / 32)) for j in range(-320, 320)) / 32
        assert true <= upper(Cells(law, edges).decayed(window, 1.0, u, theta))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("order", [1.0, 6.0])
@pytest.mark.parametrize(
    ("group", "replaced", "at"),
    [(3, False, ("1", "1/2")), (5, False, ("1/2", "1/50")), (1, True, ("1", "999/1000"))],
)
def test_nodes_left_out(group, replaced, at, order, side):
    """On one side up to where the middle of the law is, none on the other."""
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(*map(real, at), group, replaced)
        place = 30 if group > 1 else 40
        ends = (place, 400) if side == "left" else (-400, place)
        rule = Rule(0.0625, 0.3, 0.125, *ends)
        window = Window(20, float(law.ratio(arb(place / 8))) / 4)
        bound = upper(law.outside(window, arb(order), rule))
        f = integrand(law, window, mpf(order), at)
        nodes = range(-160, place) if side == "left" else range(place + 1, 160)
        true = mp.fsum(abs(f(mpc(j, 0.5) / 8)) for j in nodes) / 8
        assert true <= bound


def test_of_a_replacement_nodes_of_small_orders_are_not_bounded():
    with balls.precision(BITS):
        law, rule = SampledLaw(real(1), real("1/50"), 1, True), Rule(0.08, 0.3, 0.02, -550, 500)
        with pytest.raises(ValueError, match="not bounded"):
            law.outside(MIDDLE, arb(-1), rule)


@pytest.mark.parametrize("group", [1, 2, 5])
def test_ceilings_of_groups(group):
    with balls.precision(BITS):
        law, angle = SampledLaw(real(2), real("1/50"), group), arb("0.3")
        for start, scale in ((1e-3, 2e-4), (0.1, 0.5), (4.0, 0.5), (30.0, 0.5)):
            window = Window(20, scale)
            bound = law.ceiling(window, arb(5), angle, arb(start))
            for more in (1, 1.5, 2, 3, 5):
                ratio = start * more
                height = abs(window.at(acb(ratio) * acb(0, angle).exp(), BITS))
                assert (1 + law.more(arb(ratio))) ** 5 * height <= bound


def test_chords_of_what_rises_and_of_what_falls():
    """A group of two whose records tell themselves apart: modulus times decay is no more convex."""
    theta, u, ends = 0.8, 10.0, (20.0, 600.0)
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real("0.4"), real("0.999"), 2)
        turned = acb(0, arb(theta)).exp()
        parts = [1 + law.more(arb(x) * turned) for x in ends]
        low, high = (abs(part) for part in parts)
        first, last = ((-arb(u) * part.arg()).exp() for part in parts)

        def f(x):
            a = 1 + x * mp.expj(theta) + (x * mp.expj(theta)) ** 2 * mp.exp(-6.25) / 4
            return abs(a) * mp.exp(-u * mp.arg(a))

        excess = crossed(low, high, first, last)
        # both may be next to their chords, whose product exceeds its own by that in the middle
        middle = (low + high) * (first + last) / 4 - (low * first + high * last) / 2
        assert abs(middle / excess - 1) < 1e-20
        missed = False
        for share in (0.1, 0.2, 0.3, 0.5, 0.8):
            x = ends[0] + share * (ends[1] - ends[0])
            chord = (1 - share) * low * first + share * high * last
            missed = missed or upper(chord) < f(x)
            assert f(x) <= upper(chord + excess)
        assert missed


@pytest.mark.parametrize(("group", "replaced"), KINDS)
@pytest.mark.parametrize("window", [MIDDLE, FAR])
def test_masses_of_windows(group, replaced, window):
    with mp.workdps(60), balls.precision(BITS):
        law = SampledLaw(real(SIGMA), real(Q), group, replaced)
        rule = Rule(0.0, 0.6, 0.02, -500, 600)
        found = law.masses(real_powers(law, window, law.orders, rule, Cells(law, FINE)))
        for mass, order in zip(found, (1, 0), strict=True):
            assert holds(mass, moment(law, window, order, 40))
            assert mass.rad() < 1e-9


def test_strips_in_which_a_group_turns_too_far_are_refused():
    with balls.precision(BITS):
        law = SampledLaw(real(1), real("1/50"), 4)
        assert law.angle(arb(0.78)) < arb.pi() / 4
        with pytest.raises(ValueError, match="not admissible"):
            law.angle(arb(0.79))


# --- profiles -------------------------------------------------------------------------------------


def engine(sigma, q, count, group, replaced, way="remove"):
    return RareProfile((Row(real(sigma), real(q), count, group, replaced),), way == "add")


def contour(sigma, q, count, group, replaced, way="remove"):
    if replaced:
        pair = one_shift(real(sigma), real(q), real(q))
    else:
        pair = Grouped(1 / real(sigma), real(q), group, way == "remove")
    return ContourProfile([(pair, count)], InfiniteLoss())


def meet(one, other):
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("at", ["1e-3", "0.5", "0"])
@pytest.mark.parametrize(("sigma", "q", "count"), [("1", "1/20", 5), ("2", "1/100", 40)])
@pytest.mark.parametrize(("group", "replaced"), KINDS)
def test_the_plain_line_agrees(group, replaced, sigma, q, count, at, way):
    if replaced and way == "add":
        pytest.skip("both ways are alike")
    found = engine(sigma, q, count, group, replaced, way).delta(real(at), 8)
    assert found.digits >= 8
    assert meet(found, contour(sigma, q, count, group, replaced, way).delta(real(at), 8))


@settings(max_examples=10)
@given(
    st.sampled_from(KINDS),
    st.integers(6, 30),
    st.integers(5, 200),
    st.integers(2, 12),
    st.integers(0, 20),
)
def test_every_enclosure_meets_that_of_the_plain_line(kind, noise, rate, count, at):
    ask = Fraction(noise, 10), Fraction(1, rate), count, *kind
    found = engine(*ask).delta(real(Fraction(at, 10)), 5)
    assert meet(found, contour(*ask).delta(real(Fraction(at, 10)), 5))


@pytest.mark.parametrize("at", ["0.1", "1.5"])
def test_one_record_replaced_in_one_step_has_a_closed_form(at):
    found = engine("0.9", "1e-4", 1, 1, True).delta(real(at), 10)
    assert found.digits >= 10
    assert meet(found, dpexact.delta("replace(poisson(gaussian(0.9), 1e-4))", at, digits=12))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("replace(poisson(gaussian(1), 1e-6))^20", "1"),
        ("replace(poisson(gaussian(0.637), 1.3e-6))^8", "1.31"),
        ("group(poisson(gaussian(2.05), 1.06e-6), 2)^11", "0.331"),
        ("group(poisson(gaussian(0.886), 2.61e-4), 3)^3*group(poisson(gaussian(1), 1e-4), 3)", "2"),
    ],
)
def test_few_rare_steps_are_answered_and_found_again(text, at):
    found = dpexact.delta(text, at, digits=8)
    assert found.digits >= 8
    again = dpexact.epsilon(text, found.lower, digits=8)
    assert again.digits >= 8
    assert abs(again.lower / Fraction(at) - 1) < Fraction(1, 10**6)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_what_a_text_says_is_asked(direction):
    for text, kind in (("group(", (3, False)), ("replace(", (1, True))):
        step = f"{text}poisson(gaussian(3/2), 1/1000){', 3' * (kind[0] == 3)})^4"
        facing = Composition.of(dpexact.parse(step).steps().items()).facing(direction)
        found = rare_profile(facing, direction)
        assert found.rows == (Row(real("3/2"), real("1/1000"), 4, *kind),)
        assert found.add is (direction == "add" and kind[0] == 3)


@pytest.mark.parametrize(("group", "replaced"), KINDS)
def test_bounds_of_delta_at_zero(group, replaced):
    ask = "1", "1/100", 3, group, replaced
    at_zero, rows = engine(*ask).delta(reals.ZERO, 6), [Row(real("1"), real("1/100"), *ask[2:])]
    with balls.precision(100):
        for bound in (total_variation(rows), half_root_of_chi_square(rows)):
            assert bound >= balls.ball(at_zero.lower)
            assert bound <= 5 * balls.ball(at_zero.upper)


@pytest.mark.parametrize(("group", "replaced"), KINDS)
def test_the_chi_square_of_a_group_is_its_integral(group, replaced):
    """Of one replaced it is that of one removed, on both sides."""
    p, _ = densities(1 if replaced else group, False)
    square = mp.fsum(mp.npdf(x) * p(x) ** 2 for x in (mpf(i) / 20 for i in range(-320, 800))) / 20
    with balls.precision(100):
        bound = half_root_of_chi_square([Row(real(SIGMA), real(Q), 3, group, replaced)])
        found = balls.to_enclosure(bound).to_mpmath(20)[0]
    assert abs(found / ((1 + replaced) * mp.sqrt(square**3 - 1) / 2) - 1) < mpf(10) ** -10


def test_of_one_step_the_bound_is_attained():
    at_zero = dpexact.delta("replace(poisson(gaussian(1), 1/100))", 0, digits=20)
    with balls.precision(100):
        assert total_variation([Row(real(1), real("1/100"), 1, replaced=True)]).overlaps(
            balls.ball(at_zero.lower).union(balls.ball(at_zero.upper))
        )


@pytest.mark.parametrize(("sigma", "q", "count"), [("1", "1e-2", 5), ("2", "1e-4", 300)])
def test_adding_a_group_is_shown_to_be_below_a_level(sigma, q, count):
    profile = engine(sigma, q, count, 3, False, "add")
    at = real(3 * count) * real(q) / 4
    true = profile.delta(at, 3)
    for level, shown in ((true.lower, False), (30 * true.lower + Fraction(1, 10**12), True)):
        assert profile.is_below(at, reals.rational(level)) is shown


def test_losses_below_zero_need_a_bound_however_long_the_period():
    rows = (Row(real(1), real("1e-3"), 5, replaced=True),)
    ask = RareProfile(rows, False).question(0.5)
    plan = cheapest(ask, math.log(1e-16))
    assert isinstance(ask, Question)
    assert plan.orders[-1] > 0
    with balls.precision(plan.bits):
        Inversion(rows, plan).delta(balls.ball(real("0.5")))
        plan = plan.__class__(**{**plan.__dict__, "orders": (*plan.orders[:3], 0.0)})
        assert 2 * math.pi / plan.step > ask.gap
        line = Inversion(rows, plan)
        with pytest.raises(ValueError, match="below the gap"):
            line.delta(balls.ball(real("0.5")))


@pytest.mark.parametrize("kind", [(1, True), (2, False)])
def test_powers_of_lambda_are_refused(kind):
    rows = (Row(real("0.1"), real("1e-3"), 5, *kind),)
    ask = RareProfile(rows, False).question(150.0)
    plan = planned(ask, math.log(1e-15), 60, 0.25, with_near=True, by_powers=True)
    assert plan.tiny is not None
    with balls.precision(plan.bits), pytest.raises(ValueError, match="one record"):
        Inversion(rows, plan)


def test_no_level_is_proved_of_a_replacement():
    """The bounds are those of adding, whose losses have a largest."""
    profile = RareProfile((Row(real(1), real("1e-3"), 5, replaced=True),), False)
    least = profile.delta(real("1/2"), 3).lower
    assert least > 0
    assert not profile.is_below(real("1/2"), reals.rational(Fraction(least)))
