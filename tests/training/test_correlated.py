"""Correlated noise: exact sensitivities against all patterns, samples against the matrix itself."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import gaussian, gdp
from dpexact.reals import rational, square_root
from dpexact.training.correlated import banded_run, matrix_run
from dpexact.training.matrices import MAX_GRAM, read_matrix

Matrix = list[list[Fraction]]

entries = st.integers(-8, 8).map(lambda n: Fraction(n, 4))


def toeplitz(column: list[Fraction], steps: int) -> Matrix:
    padded = [*column, *[Fraction(0)] * steps]
    return [[padded[i - j] if i >= j else Fraction(0) for j in range(steps)] for i in range(steps)]


def moved(matrix: Matrix, signs: dict[int, int]) -> Fraction:
    """The squared norm of ``C u`` by the definition, for numbers ``u``."""
    rows = (sum((row[j] * s for j, s in signs.items()), Fraction(0)) for row in matrix)
    return sum((row**2 for row in rows), Fraction(0))


def most(matrix: Matrix, patterns: list[tuple[int, ...]]) -> Fraction:
    """The largest over patterns and signs: attained, whatever a bound from above says."""
    return max(
        moved(matrix, dict(zip(p, signs, strict=True)))
        for p in patterns
        for signs in itertools.product((1, -1), repeat=len(p))
    )


def square(run) -> Fraction:
    ((sensitivity, _),) = run.parts
    return (sensitivity * sensitivity).fraction or sensitivity.arguments[0].fraction


# --- sensitivities --------------------------------------------------------------------------------


@given(st.lists(st.lists(entries, min_size=6, max_size=6), min_size=1, max_size=6))
def test_fixed_epochs_against_every_pattern_and_sign(rows):
    found = matrix_run(np.array(rows), epochs=3)
    reached = most(rows, [(0, 2, 4), (1, 3, 5)])
    if not any(map(any, rows)):
        assert found.parts == ()
    elif found.attained:
        assert square(found) == reached
    else:
        assert square(found) >= reached


def separated_patterns(steps: int, apart: int, count: int) -> list[tuple[int, ...]]:
    return [
        p
        for k in range(1, count + 1)
        for p in itertools.combinations(range(steps), k)
        if all(b - a >= apart for a, b in itertools.pairwise(p))
    ]


@given(
    st.lists(st.lists(entries, min_size=5, max_size=5), min_size=1, max_size=5),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_separated_steps_against_every_pattern_and_sign(rows, apart, count):
    found = matrix_run(np.array(rows), separation=apart, participations=count)
    reached = most(rows, separated_patterns(5, apart, count))
    if not any(map(any, rows)):
        assert found.parts == ()
    elif found.attained:
        assert square(found) == reached
    else:
        assert square(found) >= reached


@given(st.lists(entries, min_size=1, max_size=6), st.integers(1, 6), st.integers(1, 6))
def test_toeplitz_by_its_column_is_the_matrix(column, apart, count):
    whole = np.array(toeplitz(column, 6))
    for options in (
        {},
        {"epochs": 3},
        {"separation": apart, "participations": count},
    ):
        short = matrix_run(np.array(column), steps=6, **options)
        assert short.parts == matrix_run(whole, **options).parts


@given(st.lists(st.integers(0, 8).map(lambda n: Fraction(n, 4)), min_size=1, max_size=6))
def test_falling_coefficients_are_exact(column):
    column = sorted(column, reverse=True)
    if not column[0]:
        return
    found = matrix_run(np.array(column), steps=6, separation=2)
    assert found.attained
    assert square(found) == most(toeplitz(column, 6), separated_patterns(6, 2, 3))


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 1, 1], [0, 1, 1], [0, 0, 2]],  # products rise along the diagonal
        3 * [[1, 0, 1], [0, 1, 0]] + [[1, 1, 1]],  # and away from it
    ],
)
def test_products_that_do_not_fall(rows):
    found = matrix_run(rows, separation=1, participations=2)
    assert square(found) >= most(rows, separated_patterns(3, 1, 2))


def test_bands_within_the_separation_are_exact_with_any_signs():
    column = [Fraction(1), Fraction(-1, 2)]
    found = matrix_run(np.array(column), steps=7, separation=2, participations=3)
    assert found.attained
    assert square(found) == 3 * Fraction(5, 4)


def test_a_tree_of_sums():
    steps = 8
    nodes = [
        [1 if start <= j < start + size else 0 for j in range(steps)]
        for size in (1, 2, 4, 8)
        for start in range(0, steps, size)
    ]
    assert matrix_run(nodes).mechanism(3) == gaussian(3, 2)
    again = np.kron(np.eye(2, dtype=int), np.array(nodes))  # restarted once
    assert matrix_run(again, epochs=2).mechanism(3) == gaussian(3, square_root(rational(8)))


def test_a_bound_that_is_not_attained_is_a_guarantee():
    run = matrix_run([1, "-1/2"], steps=4, separation=1, participations=2)
    assert not run.attained
    assert run.mechanism(2) == gdp(square_root(rational(Fraction(7, 2))) / 2)


# --- samples --------------------------------------------------------------------------------------


def power_moment(matrix: Matrix, sigma: Fraction, q: Fraction, group: list[int], order: int):
    """``E_Q (dP/dQ)^order`` from the matrix alone: participations of ``order`` copies."""
    total = mpmath.mpf(0)
    runs = list(itertools.product((0, 1), repeat=len(group)))
    shifts = [
        [sum(row[j] * on for j, on in zip(group, run, strict=True)) for row in matrix]
        for run in runs
    ]
    weights = [
        mpmath.mpf(w.numerator) / w.denominator
        for w in (math.prod((q if on else 1 - q for on in run), start=Fraction(1)) for run in runs)
    ]
    for chosen in itertools.product(range(len(runs)), repeat=order):
        inner = sum(
            sum(a * b for a, b in zip(shifts[k], shifts[m], strict=True))
            for k, m in itertools.combinations(chosen, 2)
        )
        exponent = inner / sigma**2
        total += math.prod(weights[k] for k in chosen) * mpmath.exp(
            mpmath.mpf(exponent.numerator) / exponent.denominator
        )
    return total


@pytest.mark.parametrize(
    ("column", "steps", "cycle"),
    [([1, "1/2"], 5, 2), ([1, "-3/4", "1/4"], 7, 3), ([1, "1/2"], 6, 3), ([2], 3, 1)],
)
def test_samples_against_the_matrix_itself(column, steps, cycle):
    """Rényi divergences of integer orders from all participations, of the worst group."""
    sigma, q = Fraction(3, 2), Fraction(1, 5)
    exact = [Fraction(c) for c in column]
    matrix = toeplitz(exact, steps)
    run = dpexact.banded(exact, sigma, q, steps=steps, cycle=cycle)
    assert run == dpexact.banded(np.array(matrix), sigma, q, cycle=cycle)
    for order in (2, 3):
        with mpmath.workdps(30):
            worst = max(
                power_moment(matrix, sigma, q, list(range(g, steps, cycle)), order)
                for g in range(cycle)
            )
            truth = mpmath.log(worst) / (order - 1)
            found = dpexact.renyi(run, order, digits=12, direction="remove")
            assert found.lower <= Fraction(str(truth)) + Fraction(1, 10**20)
            assert found.upper >= Fraction(str(truth)) - Fraction(1, 10**20)


def test_floats_mean_their_exact_values():
    column = np.array([0.1, 0.05], dtype=np.float32)
    run = banded_run(column, "1/10", steps=4)
    exact = sum(Fraction(float(c)) ** 2 for c in column)
    last = Fraction(float(column[0])) ** 2
    assert dict(run.parts) == {square_root(rational(exact)): 2}
    run = banded_run(column, "1/10", steps=3)
    assert dict(run.parts) == {
        square_root(rational(exact)): 1,
        square_root(rational(last)): 1,
    }


def test_norms_are_rounded_up_and_the_largest_taken():
    matrix = np.diag([1.0, 2.0, 3.0, 1.5])
    with pytest.raises(UnsupportedMechanism, match="figures"):
        banded_run(matrix[[0, 1, 2, 3]], "1/10", cycle=2)
    rounded = banded_run(matrix, "1/10", cycle=2, figures=3)
    assert sorted((float(s.fraction), n) for s, n in rounded.parts) == [(1.5, 1), (3.0, 1)]
    run = banded_run([1, "1/2"], "1/10", steps=4, figures=3)
    ((norm, count),) = run.parts
    assert (norm.fraction, count) == (Fraction("1.12"), 2)
    assert norm.fraction**2 >= Fraction(5, 4)


@given(st.fractions(Fraction(1, 10**30), 10**30), st.integers(1, 12))
def test_rounded_norms_lie_above_and_near(square, figures):
    from dpexact.training.correlated import _root_above

    above = _root_above(square, figures)
    assert above**2 >= square
    assert (above * (1 - Fraction(10) ** (1 - figures))) ** 2 <= square


def test_calibration_of_several_holes():
    run = banded_run([1, "1/2", "1/4"], "1/10", steps=100)
    assert len(run.parts) == 2
    found = dpexact.calibrate(run.template, 1, "1e-5", digits=4)
    assert dpexact.epsilon(run.mechanism(found.upper), "1e-5", digits=8).upper <= 1
    assert dpexact.epsilon(run.mechanism(found.lower), "1e-5", digits=8).lower > 1


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "options", "error", "said"),
    [
        ([1, 1], {"steps": 4, "cycle": 1}, UnsupportedMechanism, "cycle: of 1 groups"),
        ([1, 1], {}, InvalidInput, "steps"),
        ([1, 1], {"steps": 0}, InvalidInput, "steps"),
        ([], {"steps": 3}, InvalidInput, "shape"),
        ([[1, 2], [0, 1]], {}, UnsupportedMechanism, "row 0, column 1"),
        ([[1, 0]], {}, InvalidInput, "square"),
        ([[1, 0], [1]], {}, InvalidInput, "matrix"),
        (np.array([True]), {"steps": 3}, InvalidInput, "type bool"),
        (np.ma.masked_array([1.0, 2.0], mask=[False, True]), {"steps": 3}, InvalidInput, "masked"),
        ([[1.0, math.nan], [0, 1]], {}, InvalidInput, "finite"),
        ([1.0, math.inf], {"steps": 3}, InvalidInput, "finite"),
        ([1e300, 1e-300, 5e-324], {"steps": 3, "cycle": 3}, None, ""),
        (["x"], {"steps": 3}, InvalidInput, "matrix"),
        ([1j], {"steps": 3}, InvalidInput, "matrix"),
        ([True], {"steps": 3}, InvalidInput, "matrix"),
        ([[[1]]], {}, InvalidInput, "shape"),
        ([1], {"steps": 3, "figures": 0}, InvalidInput, "figures"),
        ([0], {"steps": 3}, None, ""),
    ],
)
def test_what_is_refused(matrix, options, error, said):
    if error is None:
        assert dpexact.banded(matrix, 1, "1/10", **options)
        return
    with pytest.raises(error, match=said):
        dpexact.banded(matrix, 1, "1/10", **options)


def test_sensitivities_that_are_refused():
    with pytest.raises(InvalidInput, match="divide"):
        dpexact.matrix_mechanism([1], 1, steps=5, epochs=2)
    with pytest.raises(InvalidInput, match="one of"):
        dpexact.matrix_mechanism([1], 1, steps=4, epochs=2, separation=2)
    with pytest.raises(InvalidInput, match="separation"):
        dpexact.matrix_mechanism([1], 1, steps=4, participations=2)
    with pytest.raises(UnsupportedMechanism, match="products"):
        dpexact.matrix_mechanism([1, -1], 1, steps=MAX_GRAM + 2, epochs=2)
    assert dpexact.matrix_mechanism([0], 1, steps=4) == dpexact.pure_dp(0)


def test_files(tmp_path):
    path = tmp_path / "c.npy"
    np.save(path, np.array([1, 0.5], dtype=np.float32))
    assert banded_run(read_matrix(path), "1/10", steps=4).parts == (
        banded_run([1, "1/2"], "1/10", steps=4).parts
    )
    for content in (b"", b"\x93NUMPY", b"not an array"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput, match="cannot read"):
            read_matrix(path)
    np.save(path, np.array([{}]), allow_pickle=True)
    with pytest.raises(InvalidInput, match="cannot read"):
        read_matrix(path)
    np.savez(tmp_path / "c.npz", np.zeros(3))
    with pytest.raises(InvalidInput, match="one array"):
        read_matrix(tmp_path / "c.npz")
    with pytest.raises(InvalidInput, match="cannot read"):
        read_matrix(tmp_path / "absent.npy")


def test_products_beyond_integers_are_rounded_up():
    rows = [[Fraction(1), Fraction(-1), Fraction(1, 2**80)]]
    found = matrix_run(np.array(rows), separation=1, participations=3)
    assert not found.attained
    assert square(found) > (2 + Fraction(1, 2**80)) ** 2
    assert square(found) < Fraction(4001, 1000)
