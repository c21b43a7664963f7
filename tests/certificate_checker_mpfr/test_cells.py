"""Cells: their sums hold the products over their rows, and no longer once an error is forgotten."""

import copy
import math
import random
import re
from fractions import Fraction
from functools import cache

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

import gmpy2
from certified_answers import validate
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import certificate_checker as standard
from dpexact.certificate_checker_mpfr import checking, interpolation
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Interval,
    Rectangle,
    dot_products,
)
from dpexact.certificate_checker_mpfr.cells import Cell
from dpexact.certificate_checker_mpfr.interpolation import Places
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule
from dpexact.certificates import certificate, contours, to_text
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

A = Arithmetic(140)
COARSE = Arithmetic(40)
AXIS = Rule(Fraction(0), Fraction(3), Fraction(1, 4), -70, 80)
LINE = Rule(Fraction(1), Fraction(2), Fraction(1, 8), -120, 160)
STEP, COUNT = Fraction(3), 2
PLAN = {
    "q": ["1/50", "1/250"],
    "v": ["3/2", "1/4"],
    "line": ["1/2", "3/2", "1/10", "-90", "110", "5", "4", "16", "16"],
    "tail": ["1/25", "1/2", "1/6", "-50", "56", "4", "4", "10", "10"],
    **{role: ["0", "2", "1/3", "-40", "50"] for role in ("moment", "above", "below")},
}
ROWS = [
    (Fraction(1, 50) + Fraction(x, 250), Fraction(3, 2) + Fraction(y, 4), n)
    for x, y, n in (
        (Fraction(-1), Fraction(1), 30),
        (Fraction(-2, 3), Fraction(-1), 200),
        (Fraction(1, 7), Fraction(2, 9), 900),
        (Fraction(1), Fraction(-4, 5), 60),
    )
]


def cell_of(plan, rows=ROWS):
    a = Arithmetic(140)
    a.left = 10**9
    cell = Cell(plan, a)
    for q, v, n in rows:
        assert cell.take(gmpy2.mpq(q), gmpy2.mpq(v), n)
    return cell


def samples(kappa):
    """Each row by itself: its mixture, its moment, and how often it runs."""
    k = A.exact(kappa)
    for q, v, n in ROWS:
        sample = Mixtures.sampled(A.exact(v).increasing("sqrt"), A.exact(q), A)
        yield sample, sample.size(k, AXIS, A.exact(0), None), n


@cache
def product(kappa):
    """The product of the rows at each order, and its modulus."""
    found, size = [Rectangle(A.exact(1), A.exact(0))] * (COUNT + 1), A.exact(1)
    for sample, moment, n in samples(kappa):
        line = sample.line(A.exact(kappa), LINE, STEP, COUNT, moment)
        found = [x * y**n for x, y in zip(found, line, strict=True)]
        size = size * moment.power(n)
    return found, size


def meet(one, other):
    return all(
        x.lo <= y.hi and y.lo <= x.hi for x, y in ((one.real, other.real), (one.imag, other.imag))
    )


def lined(plan, kappa):
    """Whether the line holds the product, and how wide it is."""
    cell, k = cell_of(plan), A.exact(kappa)
    line = cell.line(k, STEP, COUNT, cell.moment(k))
    right = all(map(meet, line, product(kappa)[0]))
    return right, max(float(x.real.hi - x.real.lo) for x in line)


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [Fraction(7, 2), Fraction(-5, 2)])
def test_a_cell_is_the_product_of_its_rows(kappa):
    right, width = lined(PLAN, kappa)
    assert right
    assert width < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [Fraction(7, 2), Fraction(-5, 2)])
def test_moduli_of_a_cell_are_bounded(kappa):
    cell, k, (values, size) = cell_of(PLAN), A.exact(kappa), product(kappa)
    moment = cell.moment(k)
    assert cell.moments(k, "above").hi >= size.lo
    bound = cell.size(k, A.exact(STEP), moment)
    for value in values[1:]:
        square = value.real.square() + value.imag.square()
        assert bound.square().hi >= square.lo
    assert bound.hi < 2


def fewer_points(plan):
    plan["line"][7:] = ["2", "1"]


def fewer_points_in_the_tail(plan):
    plan["tail"][5:] = ["4", "8", "1", "1"]


def cut(plan):
    plan["line"][3:5] = ["-46", "60"]


def wide_spacing(plan):
    plan["line"][2:5] = ["3/2", "-7", "8"]


def scaled_down(name, owner=Cell, by=Fraction(1, 10**12)):
    """What is said to bound an error shrinks."""

    def change(*arguments, **named):
        return function(*arguments, **named) * A.exact(by)

    function = getattr(owner, name)
    return owner, name, change


SABOTAGED = [
    (fewer_points, scaled_down("error", Places)),
    (fewer_points, (Cell, "_shares", None)),
    (cut, scaled_down("_outside")),
    (wide_spacing, scaled_down("_decay", by=Fraction(10**12))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("coarsen", "sabotage"), SABOTAGED)
def test_every_error_term_is_needed(coarsen, sabotage, monkeypatch):
    plan, kappa = copy.deepcopy(PLAN), Fraction(-5, 2)
    coarsen(plan)
    assert lined(plan, kappa)[0], "before"
    owner, name, change = sabotage
    if change is None:  # an ellipse on which almost nothing moves
        shares = Cell._shares

        def change(*arguments):
            return [x * A.exact(Fraction(1, 10**9)) for x in shares(*arguments)]

    monkeypatch.setattr(owner, name, change)
    assert not lined(plan, kappa)[0]


@pytest.mark.slow
def test_rounded_places_are_counted(monkeypatch):
    monkeypatch.setattr(interpolation, "_PLACE_BITS", 5)
    assert lined(PLAN, Fraction(7, 2))[0]


def test_corners_bound_every_row():
    cell, k = cell_of(PLAN), A.exact(Fraction(9))
    most = cell.moment(k)
    total = A.exact(1)
    for _, moment, n in samples(9):
        assert moment.lo <= most.hi
        total = total * moment.power(n)
    assert total.lo <= cell.moments(k, "above").hi < most.power(cell.count).lo
    assert cell.moments(A.exact(Fraction(1, 3)), "below").hi == 1
    for row, (_, moment, n) in zip(ROWS, samples(9), strict=True):
        assert cell_of(PLAN, [row]).moments(k, "above").hi >= moment.power(n).lo


@pytest.mark.parametrize(
    ("member", "place", "text", "reason"),
    [
        ("q", 1, "1/40", "not of rates"),
        ("v", 1, "0", "not of rates"),
        ("line", 5, "1", "without an inside"),
        ("line", 5, "40", "ellipses? .*(large|beyond)"),
        ("line", 6, "30", "ellipses? .*(large|beyond)"),
        ("line", 6, "10", "ellipses are too large"),
        ("line", 7, "61", "not in 1..60"),
        ("line", 0, "2", "between the real line and its edge"),
        ("line", 1, "16/5", "between the real line and its edge"),
        ("line", 4, "20", "not certain to fall"),
    ],
)
def test_a_cell_that_proves_nothing_is_refused(member, place, text, reason):
    plan = copy.deepcopy(PLAN)
    plan[member][place] = text
    with pytest.raises(standard.Invalid, match=reason):
        lined(plan, Fraction(7, 2))


@pytest.mark.parametrize(("place", "text"), [(0, "3"), (1, "2")])
def test_a_strip_where_a_modulus_is_not_bounded_is_refused(place, text):
    plan = copy.deepcopy(PLAN)
    plan["tail"][place] = text
    with pytest.raises(standard.Invalid, match="bounded in its strip"):
        cell_of(plan).size(A.exact(2), A.exact(STEP), A.exact(3))


@pytest.mark.parametrize("change", [{"q": "1"}, {"q": ["1/50"]}, {"line": ["1"]}, {"other": []}])
def test_a_cell_of_another_form_is_unreadable(change):
    with pytest.raises(standard.Unreadable):
        Cell({**PLAN, **change}, A)


numbers = st.fractions(-3, 3, max_denominator=1000)
vectors = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=3)


@settings(max_examples=scaled(60))
@given(st.lists(vectors, min_size=1, max_size=3), st.lists(vectors, min_size=1, max_size=3))
def test_dot_products_hold_the_exact_ones(rows, columns):
    def boxes(vectors):
        return [[Rectangle(*map(COARSE.exact, z)) for z in vector] for vector in vectors]

    found = dot_products(boxes(rows), boxes(columns), COARSE)
    for row, line in zip(rows, found, strict=True):
        for column, box in zip(columns, line, strict=True):
            pairs = list(zip(row, column, strict=True))
            real_part = sum(x * u - y * v for (x, y), (u, v) in pairs)
            imaginary = sum(x * v + y * u for (x, y), (u, v) in pairs)
            for part, truth in ((box.real, real_part), (box.imag, imaginary)):
                assert Fraction(*map(int, part.lo.as_integer_ratio())) <= truth
                assert truth <= Fraction(*map(int, part.hi.as_integer_ratio()))
                assert part.hi - part.lo < 1e-8


def test_dot_products_of_wide_numbers():
    wide = Rectangle(Interval(gmpy2.mpfr(1), gmpy2.mpfr(2), COARSE), COARSE.exact(0))
    one = Rectangle(COARSE.exact(1), COARSE.exact(0))
    for row, column, most in ((wide, one, 4), (one, wide, 4), (wide, wide, 8)):
        ((box,),) = dot_products([[row] * 2], [[column] * 2], COARSE)
        assert box.real.lo <= 2
        assert box.real.hi >= most


# --- whole certificates ---------------------------------------------------------------------------


def log_of(count, seed=3):
    """A composition of rows that all differ."""
    drawn = random.Random(seed)
    rows = {
        f"poisson(gaussian({drawn.randint(1000, 1200)}/1000), {drawn.randint(300, 400)}/{10**5})"
        for _ in range(count)
    }
    return dpexact.parse(" * ".join(f"{row}^200" for row in sorted(rows)) + " * gaussian(9)")


@pytest.fixture(scope="module")
def document():
    found = dpexact.delta(log_of(120), "2/5", 6, "remove")
    wide = Enclosure(found.lower * Fraction(99999, 10**5), found.upper * Fraction(100001, 10**5))
    return certificate(log_of(120), "delta", real("2/5"), "remove", wide)


def verdict(document):
    document = {**document, "digest": standard.digest(document)}
    try:
        checking.check(standard.read(to_text(document).encode()))
    except (standard.Invalid, standard.Unreadable) as error:
        return f"{type(error).__name__}: {error}"
    return None


def changed(document, change):
    document = copy.deepcopy(document)
    (statement,) = document["statements"]
    change(statement, statement["plan"]["remove"])
    return verdict(document)


@pytest.mark.slow
def test_a_log_has_one_cell_and_is_verified(document):
    (statement,) = document["statements"]
    assert len(statement["plan"]["remove"]["cells"]) == 1
    assert statement["plan"]["remove"]["rules"] == []
    assert int(statement["digits"]) >= 4
    validate(document)
    assert verdict(document) is None


def next_bounds(statement, _):
    low = Fraction(statement["lower"])
    upper = standard.following(low, int(statement["digits"]))
    after = standard.following(upper, int(statement["digits"]))
    statement.update(lower=str(upper), upper=str(after))


def another_rate(statement, _):
    statement["mechanism"][1][1][2] = "1/50"
    statement["text"] = standard.shown(statement["mechanism"])


def narrow_box(_, plan):
    plan["cells"][0]["q"][1] = "1/10000000"


def few_points(_, plan):
    plan["cells"][0]["line"][7:] = ["2", "2"]


def no_cells(_, plan):
    del plan["cells"]


def twice(_, plan):
    plan["cells"] *= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (next_bounds, "Refuted"),
        (another_rate, "a plan without rules for every sampled step"),
        (narrow_box, "a plan without rules for every sampled step|a cell without steps"),
        (few_points, "Undecided"),
        (no_cells, "a plan without rules for every sampled step"),
        (twice, "a cell without steps"),
    ],
)
def test_a_forged_log_is_refused(document, change, reason):
    found = changed(document, change)
    assert found is not None
    assert re.search(reason, found), found


@pytest.mark.slow
def test_logs_that_differ_much_have_several_cells():
    steps = {
        f'["poisson", ["gaussian", "{1 + Fraction(n, 400)}", "1"], "1/1000"]': 100
        for n in range(400)
    }
    plan, _ = contours._plan(steps, "remove", [Fraction(1, 2)], 5)
    assert len(plan["cells"]) > 1
    assert math.prod(int(x) for x in plan["cells"][0]["line"][7:]) < 3600
