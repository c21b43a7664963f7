from __future__ import annotations

import math
import signal
import threading
from collections.abc import Callable, Iterator
from fractions import Fraction

import gmpy2
import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from oracles import Bracket, directed, scaled, to_fraction

from dpexact import balls, reals
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction, InvalidInput

PRECISIONS = (8, 10, 24)

# --- exhaustive checks of FLINT's operations, at low precision ------------------------------------


def dyadic(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def ends(x: arb) -> Bracket:
    """The exact bounds of a ball, read off without dpexact."""
    middle, radius = dyadic(x.mid()), dyadic(x.rad())
    return middle - radius, middle + radius


def holds(x: arb, truth: Bracket) -> bool:
    low, high = ends(x)
    return low <= truth[0] and truth[1] <= high


def floats(bits: int, binades: range, negative: bool = True) -> Iterator[Fraction]:
    """Every number of ``bits`` bits in these binades, and 0."""
    yield Fraction(0)
    for exponent in binades:
        for mantissa in range(1 << (bits - 1), 1 << bits):
            x = Fraction(mantissa) * Fraction(2) ** (exponent - bits + 1)
            yield x
            if negative:
                yield -x


def exact_ball(x: Fraction) -> arb:
    """A dyadic rational as a ball of radius 0, at any precision."""
    return arb(x.numerator) * (arb(2) ** -(x.denominator.bit_length() - 1))


UNARY: dict[str, tuple[Callable[[arb], arb], Callable[[gmpy2.mpfr], gmpy2.mpfr], range, str]] = {
    "exp": (arb.exp, gmpy2.exp, range(-9, 7), "all"),
    "expm1": (arb.expm1, gmpy2.expm1, range(-9, 7), "all"),
    "log": (arb.log, gmpy2.log, range(-9, 9), "positive"),
    "log1p": (arb.log1p, gmpy2.log1p, range(-9, 9), "above -1"),
    "sqrt": (arb.sqrt, gmpy2.sqrt, range(-9, 9), "not negative"),
    "erfc": (arb.erfc, gmpy2.erfc, range(-9, 5), "all"),
}

DOMAINS: dict[str, Callable[[Fraction], bool]] = {
    "all": lambda x: True,
    "positive": lambda x: x > 0,
    "not negative": lambda x: x >= 0,
    "above -1": lambda x: x > -1,
}


def enough_bits(x: Fraction) -> int:
    """Precision at which MPFR tells ``erfc(x)`` from 2, or ``expm1(x)`` from -1."""
    return 150 + int(max(-x, 0) ** 2 * 3 / 2)


def violations(
    operation: Callable[[arb], arb],
    reference: Callable[[gmpy2.mpfr], gmpy2.mpfr],
    binades: range,
    domain: str,
) -> tuple[int, int]:
    """``(failures, trials)`` over every 8-bit input and all precisions."""
    failures = trials = 0
    for x in floats(8, binades):
        if not DOMAINS[domain](x):
            continue
        truth = directed(reference, x, bits=enough_bits(x))
        for bits in PRECISIONS:
            with balls.precision(150):
                argument = exact_ball(x)
            with balls.precision(bits):
                image = operation(argument)
            trials += 1
            failures += not (image.is_finite() and holds(image, truth))
    return failures, trials


@pytest.mark.slow
@pytest.mark.parametrize("name", UNARY)
def test_every_8_bit_input_is_contained(name: str) -> None:
    failures, trials = violations(*UNARY[name])
    assert failures == 0
    assert trials > 3 * 2000


@pytest.mark.parametrize("name", UNARY)
def test_that_check_notices_a_dropped_radius(name: str) -> None:
    operation, reference, _, domain = UNARY[name]
    failures, trials = violations(lambda x: operation(x).mid(), reference, range(2), domain)
    assert failures > trials / 2


@pytest.mark.parametrize("name", UNARY)
def test_wide_balls_contain_the_images_of_their_ends(name: str) -> None:
    operation, reference, binades, domain = UNARY[name]
    for x in floats(4, binades):
        radius = abs(x) / 8
        if x == 0 or not DOMAINS[domain](x - radius):
            continue
        truths = [directed(reference, y, bits=enough_bits(y)) for y in (x - radius, x, x + radius)]
        with balls.precision(150):
            argument = exact_ball(x) + arb(0, exact_ball(radius))
        for bits in PRECISIONS:
            with balls.precision(bits):
                image = operation(argument)
            assert all(holds(image, truth) for truth in truths), (x, bits)


@pytest.mark.slow
def test_ten_bit_inputs_of_the_two_that_matter_most() -> None:
    for operation, reference in ((arb.exp, gmpy2.exp), (arb.erfc, gmpy2.erfc)):
        for x in floats(10, range(-3, 4)):
            with balls.precision(10):
                image = operation(exact_ball(x))
            assert holds(image, directed(reference, x, bits=enough_bits(x))), x


BINARY: dict[str, tuple[Callable[[arb, arb], arb], Callable[[Fraction, Fraction], Fraction]]] = {
    "+": (arb.__add__, Fraction.__add__),
    "-": (arb.__sub__, Fraction.__sub__),
    "*": (arb.__mul__, Fraction.__mul__),
    "/": (arb.__truediv__, Fraction.__truediv__),
    "max": (arb.max, max),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_5_bit_inputs_is_contained(name: str) -> None:
    operation, reference = BINARY[name]
    inputs = [(x, exact_ball(x)) for x in floats(5, range(-1, 1))]
    wide = {x: arb(0, exact_ball(abs(x) / 8)) for x, _ in inputs}
    for bits in (4, 8):
        with balls.precision(bits):
            for x, ball_x in inputs:
                for y, ball_y in inputs:
                    if name == "/" and y == 0:
                        continue
                    truth = reference(x, y)
                    assert holds(operation(ball_x, ball_y), (truth, truth)), (x, y)
                    inexact = operation(ball_x + wide[x], ball_y)
                    for corner in (x - abs(x) / 8, x + abs(x) / 8):
                        truth = reference(corner, y)
                        assert holds(inexact, (truth, truth)), (corner, y)


def test_union_holds_both_balls() -> None:
    inputs = [exact_ball(x) + arb(0, exact_ball(abs(x) / 8)) for x in floats(4, range(-2, 2))]
    for bits in (4, 10):
        with balls.precision(bits):
            for a in inputs:
                for b in inputs:
                    joined = a.union(b)
                    assert holds(joined, ends(a))
                    assert holds(joined, ends(b))


@pytest.mark.slow
def test_integer_powers_and_integer_operands() -> None:
    for x in floats(5, range(-2, 2)):
        for n in range(1, 12):
            for bits in PRECISIONS:
                with balls.precision(bits):
                    ball = exact_ball(x)
                    for image, truth in (
                        (ball**n, x**n),
                        (n * ball, n * x),
                        (fmpz(n) * ball, n * x),
                        (ball / n, x / n),
                        (n - ball, n - x),
                        (ball + n, x + n),
                    ):
                        assert holds(image, (truth, truth)), (x, n)
                    if x:
                        assert holds(1 / ball, (1 / x, 1 / x))
                        assert holds(ball**-n, (x**-n, x**-n))


def binomial_tail(count: int, m: int, p: Fraction) -> Fraction:
    return sum(
        (math.comb(count, j) * p**j * (1 - p) ** (count - j) for j in range(m, count + 1)),
        Fraction(0),
    )


def test_the_incomplete_beta_function_at_integers() -> None:
    for x in range(1, 32):
        p = Fraction(x, 32)
        for count in range(1, 11):
            for m in range(1, count + 1):
                truth = binomial_tail(count, m, p)
                for bits in PRECISIONS:
                    with balls.precision(bits):
                        image = exact_ball(p).beta_lower(
                            arb(m), arb(count - m + 1), regularized=True
                        )
                    assert not image.is_finite() or holds(image, (truth, truth)), (p, count, m)
                    assert image.is_finite() or bits < 24


def test_gamma_and_rising_factorials_at_integers() -> None:
    for n in range(1, 60):
        for bits in PRECISIONS:
            with balls.precision(bits):
                truth = Fraction(math.factorial(n - 1))
                assert holds(arb(n).gamma(), (truth, truth))
                for k in range(0, 20, 3):
                    truth = Fraction(math.prod(range(n, n + k)))
                    assert holds(arb(n).rising(k), (truth, truth))


def test_constants_rationals_and_bounds() -> None:
    for bits in range(4, 80):
        with balls.precision(bits):
            assert holds(arb.pi(), directed(lambda: gmpy2.const_pi(), bits=150))
            assert holds(arb.const_e(), directed(lambda: gmpy2.exp(gmpy2.mpfr(1)), bits=150))
            for n, d in ((1, 3), (-2, 7), (10**30, 3**50), (-1, 10**40)):
                assert holds(arb(fmpq(n, d)), (Fraction(n, d), Fraction(n, d)))
            x = arb(fmpq(-1, 3)) + arb(0, "0.01")
            low, high = ends(x)
            assert dyadic(x.lower()) <= low
            assert dyadic((-x).lower()) <= -high
            assert dyadic(x.abs_upper()) >= max(abs(low), abs(high))
            assert dyadic(x.mid()) == (low + high) / 2


def test_comparisons_of_balls_decide_only_what_is_certain() -> None:
    inputs = [exact_ball(x) + arb(0, exact_ball(abs(x) / 8)) for x in floats(3, range(-1, 1))]
    for a in inputs:
        for b in inputs:
            (low_a, high_a), (low_b, high_b) = ends(a), ends(b)
            assert (a < b) == (high_a < low_b)
            assert (a > b) == (low_a > high_b)
            assert (a >= b) == (low_a >= high_b)


# --- precision ------------------------------------------------------------------------------------


def test_precision_nests_and_is_restored_also_on_errors() -> None:
    before = ctx.prec
    with balls.precision(100):
        with pytest.raises(ZeroDivisionError), balls.precision(17):
            Fraction(ctx.prec, ctx.prec - 17)
        assert ctx.prec == 100
    assert ctx.prec == before
    with pytest.raises(RuntimeError):
        balls.certify(lambda: (_ for _ in ()).throw(RuntimeError()), 10)
    assert ctx.prec == before


def test_threads_take_turns() -> None:
    """Each thread computes at its own precision; a leak would make an answer wide or wrong."""
    work = [(7 + 40 * i, real(f"exp(sqrt({i + 2}))")) for i in range(4)]
    alone = [balls.certify(lambda x=x: balls.ball(x), digits) for digits, x in work]
    wrong: list[object] = []
    start = threading.Barrier(len(work))

    def run(index: int) -> None:
        digits, x = work[index]
        start.wait()
        for _ in range(scaled(300)):
            seen: list[int] = []

            def compute() -> arb:
                seen.append(ctx.prec)
                result = balls.ball(x)
                seen.append(ctx.prec)
                return result

            found = balls.certify(compute, digits)
            if found != alone[index] or seen != [balls.bits_for(digits)] * 2:
                wrong.append((index, found, seen))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- certify --------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 2, 15, 16, 100, 2000])
def test_certify_reaches_the_digits(digits: int) -> None:
    found = balls.certify(lambda: balls.ball(real("log(2)")), digits, method="m")
    bits = int(digits * 3.4) + 50
    truth = directed(lambda: gmpy2.log(gmpy2.mpfr(2)), bits=bits)
    assert digits <= found.digits < digits + 25
    assert found.lower <= truth[0] <= truth[1] <= found.upper
    assert found.method == "m"


def test_certify_raises_the_precision_through_cancellation() -> None:
    found = balls.certify(lambda: balls.ball(real("exp(1e-200)-1")), 20)
    assert found.digits >= 20
    assert found.lower < Fraction(1, 10**200) * (1 + Fraction(1, 10**200)) < found.upper


def test_certify_gives_up_at_the_cap_with_the_best_enclosure() -> None:
    used: list[int] = []

    def stubborn() -> arb:
        used.append(ctx.prec)
        return arb(1, 0.25) if len(used) == 2 else arb(1, 0.5)

    best = balls.certify(stubborn, 10, method="m")
    assert best.reason == f"{used[-1]} bits of precision did not suffice"
    assert best.lower <= Fraction(3, 4) <= best.lower + Fraction(1, 10**8)
    assert best.upper >= Fraction(5, 4) >= best.upper - Fraction(1, 10**8)
    assert best.method == "m"
    assert used == [balls.bits_for(10) * 2**i for i in range(len(used))]
    cap = balls.CAP_FACTOR * used[0] + balls.CAP_EXTRA
    assert used[-1] <= cap < 2 * used[-1]


def test_each_precision_is_for_who_needs_it() -> None:
    asked: list[list[int]] = []

    def lossy(powers: list[int]) -> list[arb]:
        asked.append(powers)
        return [
            arb(2) ** -power * (1 + arb(0, 1) * arb(2) ** (power - ctx.prec)) for power in powers
        ]

    known = Enclosure(Fraction(0), Fraction(1), "m")
    found = balls.certify_each(lossy, [0, 300, 20, 40], 10, known)
    assert asked == [[0, 300, 20, 40], [300, 40], [300], [300]]
    assert all(answer.digits >= 10 and answer.method == "m" for answer in found)
    assert [Fraction(1, 1 << power) in a for power, a in zip((0, 300), found, strict=False)]


def test_a_lower_cap_still_allows_the_first_attempt() -> None:
    used: list[int] = []

    def stubborn() -> arb:
        used.append(ctx.prec)
        return arb(1, 0.5)

    assert balls.certify(stubborn, 100, cap=10, lost_bits=7).digits == 0
    assert balls.certify(stubborn, 10, cap=300).digits == 0
    assert used == [
        balls.bits_for(100) + 7,
        balls.bits_for(10),
        balls.bits_for(10) * 2,
        balls.bits_for(10) * 4,
    ]


def test_certify_intersects_what_it_finds_and_what_was_known() -> None:
    results = iter([arb(1, 0.5), arb(1.25, 0.5), arb(1, 0.5)] + [arb(1, 2)] * 50)
    best = balls.certify(lambda: next(results), 3, lowest=Fraction(0), highest=Fraction(5, 4))
    assert best.lower <= Fraction(3, 4) <= best.lower + Fraction(1, 10**8)
    assert best.upper == Fraction(5, 4)


@pytest.mark.parametrize("never", [arb.nan, arb.pos_inf])
def test_certify_never_finite(never: Callable[[], arb]) -> None:
    assert balls.certify(never, 3) == Enclosure(-math.inf, math.inf)
    known = balls.certify(never, 3, lowest=Fraction(1, 2), highest=Fraction(1), method="m")
    assert known == Enclosure(Fraction(1, 2), Fraction(1))
    assert known.method == "m"
    assert "bits of precision did not suffice" in known.reason


def test_certify_beyond_the_largest_number() -> None:
    def huge() -> arb:
        return arb(2) ** balls.MAX_EXPONENT * 2

    largest = Fraction(1 << balls.MAX_EXPONENT)
    assert balls.certify(huge, 3) == Enclosure(largest, math.inf)
    assert balls.certify(lambda: -huge(), 3) == Enclosure(-math.inf, -largest)


def test_certify_never_hides_a_contradiction() -> None:
    outside = arb("1.1", "0.01")
    with pytest.raises(Contradiction, match="by m"):
        balls.certify(lambda: outside, 1, lowest=Fraction(0), highest=Fraction(1), method="m")
    moving = iter([arb(1, "0.25"), arb(2, "0.25")])
    with pytest.raises(Contradiction, match="by m"):
        balls.certify(lambda: next(moving), 5, method="m")


def test_values_below_the_smallest_are_said_to_be_so_at_once() -> None:
    calls = []

    def compute() -> arb:
        calls.append(1)
        return arb(-(10**11)).exp()

    found = balls.certify(compute, 10, lowest=Fraction(0))
    assert "below 1.02e-301030" in found.reason
    assert len(calls) == 1
    assert found == Enclosure(Fraction(0), balls.TINY)
    stated = Fraction(balls.TINY_TEXT)
    assert balls.TINY <= stated < balls.TINY * 2


# --- conversions ----------------------------------------------------------------------------------


dyadics = st.builds(
    lambda m, e: Fraction(m) * Fraction(2) ** e,
    st.integers(-(2**70), 2**70),
    st.integers(-200, 200),
)


@given(dyadics, dyadics.map(abs), st.integers(10, 200))
@settings(max_examples=scaled(200))
def test_enclosures_hold_the_ball(middle: Fraction, radius: Fraction, bits: int) -> None:
    with balls.precision(400):
        x = exact_ball(middle) + arb(0, exact_ball(radius))
    low, high = ends(x)
    with balls.precision(bits):
        found = balls.to_enclosure(x, "m")
    assert found.lower <= low <= high <= found.upper
    scale = max(abs(low), abs(high))
    assert low - found.lower <= scale / 2 ** (min(bits, 30) - 6)
    assert found.upper - high <= scale / 2 ** (min(bits, 30) - 6)
    with balls.precision(1000):
        assert balls.to_enclosure(x) == Enclosure(low, high)
        assert balls.midpoint(x) == middle


def test_what_is_next_to_nothing_is_asked_once() -> None:
    """No precision tells it from 0, whatever its sign may be."""
    asked = []
    for radius in (arb(0, 1), arb(1, 1)):

        def tiny(radius: arb = radius) -> arb:
            asked.append(balls.current())
            return radius * arb(2) ** -(balls.MAX_EXPONENT + 5)

        assert "below" in balls.certify(tiny, 10).reason
    assert len(asked) == 2


def test_enclosures_of_the_huge_and_the_tiny() -> None:
    tiny = arb(2) ** -(balls.MAX_EXPONENT + 5)
    assert balls.to_enclosure(tiny) == Enclosure(Fraction(0), balls.TINY)
    assert balls.to_enclosure(-tiny) == Enclosure(-balls.TINY, Fraction(0))
    assert balls.to_enclosure(arb(0)) == Enclosure.exact(Fraction(0))
    edge = arb(2) ** -balls.MAX_EXPONENT
    assert balls.to_enclosure(edge) == Enclosure.exact(balls.TINY)
    largest = arb(2) ** (balls.MAX_EXPONENT - 1)
    assert balls.to_enclosure(largest) == Enclosure.exact(Fraction(1 << (balls.MAX_EXPONENT - 1)))
    assert balls.in_range(largest)
    assert not balls.in_range(2 * largest)
    assert not balls.in_range(-2 * largest)
    bound = Fraction(1 << balls.MAX_EXPONENT)
    assert balls.to_enclosure(largest**2) == Enclosure(bound, math.inf)
    assert balls.to_enclosure(-(largest**2)) == Enclosure(-math.inf, -bound)
    across = balls.to_enclosure(largest * arb("1.5", "0.75"))
    assert Fraction(1 << (balls.MAX_EXPONENT - 2)) < across.lower < bound / 2
    assert across.upper == math.inf
    for bad in (arb.nan(), arb.pos_inf(), arb.neg_inf()):
        with pytest.raises(ArithmeticError, match="not finite"):
            balls.to_enclosure(bad)


@pytest.mark.parametrize(
    "text",
    [
        "pi",
        "e",
        "log(3)",
        "exp(2)",
        "sqrt(5)",
        "1+pi",
        "2*pi",
        "pi/7",
        "pi^3",
        "pi^(-3)",
        "1/3",
        "-e",
    ],
)
def test_reals_as_balls(text: str) -> None:
    with mp.workdps(100):
        truth = to_fraction(
            eval(  # text of ours, evaluated by mpmath
                text.replace("^", "**").replace("1/3", "mpf(1)/3"),
                {
                    "pi": +mp.pi,
                    "e": +mp.e,
                    "log": mp.log,
                    "exp": mp.exp,
                    "sqrt": mp.sqrt,
                    "mpf": mp.mpf,
                },
            )
        )
    for bits in (10, 53, 200):
        with balls.precision(bits):
            low, high = ends(balls.ball(real(text)))
        assert low <= truth <= high
        assert high - low <= abs(truth) / 2 ** (bits - 6)


def test_integers_fractions_and_the_undefined_as_balls() -> None:
    assert ends(balls.ball(-7)) == (-7, -7)
    assert holds(balls.ball(Fraction(1, 3)), (Fraction(1, 3), Fraction(1, 3)))
    for text in ("log(1-pi)", "sqrt(1-pi)", "1/(pi-pi)", "(pi-pi)^(-2)"):
        assert not balls.ball(real(text)).is_finite()


# --- signs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-3", -1),
        ("0", 0),
        ("1e-100000", 1),
        ("3-pi", -1),
        ("pi-3", 1),
        ("exp(1e-1000)-1", 1),
        ("1-exp(1e-1000)", -1),
        ("log(4)-2*log(2)", 0),
        ("log(2)-log(3)", -1),
        ("log(3)-log(2)", 1),
    ],
)
def test_sign(text: str, expected: int) -> None:
    assert balls.sign(real(text)) == expected
    assert balls.compare(real(text), real("0")) == expected
    assert balls.compare(real("0"), real(text)) == -expected


def test_sign_of_what_has_none() -> None:
    with pytest.raises(InvalidInput, match=r"^x: sqrt.* is not a finite real number$"):
        balls.sign(real("sqrt(1-2*pi)"), "x")
    with pytest.raises(InvalidInput, match=r"^x: cannot tell the sign"):
        balls.sign(real("sqrt(6)-sqrt(2)*sqrt(3)"), "x")


def test_a_block_that_is_collected_late_changes_nothing() -> None:
    """An interrupt makes Python skip the end of the inner block while its traceback is kept."""
    before = ctx.prec
    with balls.precision(100):
        skipped = balls.precision(200)
        skipped.__enter__()
        assert balls.current() == 200
    assert ctx.prec == before
    with balls.precision(300):
        del skipped
        assert balls.current() == 300
    assert ctx.prec == before
    free = threading.Thread(target=lambda: balls.approximate(Fraction(1)), daemon=True)
    free.start()
    free.join(60)
    assert not free.is_alive()


def test_an_outermost_block_that_is_collected_late_frees_the_others() -> None:
    before = ctx.prec
    skipped = balls.precision(200)
    skipped.__enter__()
    assert balls.approximate(Fraction(1)) == 1  # this thread may go on
    collecting = threading.Thread(target=skipped.gen.close)  # type: ignore[attr-defined]
    collecting.start()
    collecting.join(60)
    assert ctx.prec == before
    free = threading.Thread(target=lambda: balls.approximate(Fraction(1)), daemon=True)
    free.start()
    free.join(60)
    assert not free.is_alive()


def test_only_an_upper_end_shows_what_is_at_most_a_level():
    half = real("1/2")
    for upper, shown in (("1/3", True), ("1/2", True), ("2/3", False)):
        assert balls.at_most(Enclosure(Fraction(0), Fraction(upper)), half) is shown
    assert not balls.at_most(Enclosure(Fraction(0), math.inf), half)
    root = real("sqrt(1/4 + 1e-80)")
    assert not balls.at_most(Enclosure(Fraction(0), Fraction(1, 2) + Fraction(1, 10**70)), root)


@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OverflowError])
def test_an_integral_passes_on_what_ended_it(error, after):
    asked = []

    def integrand(z, analytic):
        asked.append(z)
        if len(asked) > after:
            raise error("in the integrand")
        return z.exp()

    with pytest.raises(error, match="in the integrand"):
        balls.integral(integrand, arb(0), arb(1))
    with balls.precision(60):
        found = balls.integral(lambda z, _: z.exp(), arb(0), arb(1)).real
        assert found.overlaps(arb(1).exp() - 1)


def integrate_for_ever():
    with balls.precision(100):
        while True:
            balls.integral(lambda z, _: (z * z).exp(), arb(0), arb(3))


@pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="no such signal")
def test_an_interrupt_within_an_integral_is_one():
    """Wherever it comes: FLINT would make a SystemError of most."""
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        for k in range(30):
            signal.setitimer(signal.ITIMER_PROF, 0.01 + 0.003 * k)
            with pytest.raises(KeyboardInterrupt):
                integrate_for_ever()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


@given(st.fractions(0, 3), st.fractions(0, 3), st.fractions(0, 3), st.fractions(0, 3))
def test_the_image_of_enclosures_holds_those_of_all_their_points(a, b, c, d):
    one, other = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    found = balls.image(one, lambda x, y: x.exp() + x * y, 12, other, method="m")
    with mp.workdps(40):
        for x, y in ((one.lower, other.lower), (one.upper, other.upper), (a, c), (b, d)):
            value = mp.exp(mp.mpf(x.numerator) / x.denominator)
            value += mp.mpf((x * y).numerator) / (x * y).denominator
            assert to_fraction(value - mp.mpf(10) ** -30) <= found.upper
            assert to_fraction(value + mp.mpf(10) ** -30) >= found.lower
        ends = one.is_exact and other.is_exact
        assert found.digits >= 11 or not ends
    assert found.method == "m"


@pytest.mark.parametrize("q", ["1/3", "1-1e-18", "1-1e-300", "1e-300"])
def test_binomial_tails_take_the_side_on_which_the_series_is_short(q):
    q, n = real(q), 12
    for least in range(1, n + 1):
        tail = reals.Real("binomial_tail", (real(n), q, real(least)))
        with balls.precision(64):
            found = balls.ball(tail)
        truth = binomial_tail(n, least, q.fraction)
        assert abs(fmpq(*truth.as_integer_ratio()) - found.mid().fmpq()) <= found.rad().fmpq()
        assert found.rel_accuracy_bits() > 40
    with balls.precision(64):  # on the other side none at that precision, and half a minute beyond
        assert 0.9 < balls.ball(reals.binomial_tail(10_000, real("1-1e-300"), 2)) <= 1.1


def test_the_image_of_what_has_no_end_has_none():
    wide = Enclosure(Fraction(1), math.inf, "known", "too wide")
    found = balls.image(wide, lambda x: x * x, 12, lowest=Fraction(0))
    assert found == Enclosure(Fraction(1), math.inf)
    assert found.reason == "too wide"
    whole = Enclosure.exact(math.inf)
    assert balls.image(Enclosure.exact(Fraction(1)), lambda x, y: x + y, 5, whole) == whole
    below = Enclosure(-math.inf, Fraction(1))
    assert balls.image(below, lambda x: 2 * x, 5) == Enclosure(-math.inf, Fraction(2))
    assert balls.image(below, arb.exp, 5, lowest=Fraction(0)).lower == 0
    short = balls.image(Enclosure.exact(Fraction(2)), lambda x: arb.nan(), 5, highest=Fraction(9))
    assert short == Enclosure(-math.inf, Fraction(9))
    assert short.reason
