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
import numpy as np
from certified_answers import validate

import dpexact
from dpexact import certificate_checker as standard
from dpexact.certificate_checker_mpfr import checking, interpolation
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Rectangle
from dpexact.certificate_checker_mpfr.cells import Box, Cell, _sum_of_logs
from dpexact.certificate_checker_mpfr.interpolation import Places, Row
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule
from dpexact.certificates import cells, certificate, contours, to_text
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

A = Arithmetic(140)
AXIS = Rule(Fraction(0), Fraction(3), Fraction(1, 4), -70, 80)
LINE = Rule(Fraction(1), Fraction(2), Fraction(1, 8), -120, 160)
STEP, COUNT = Fraction(3), 2
SIDES = {"q": ["1/50", "6/5"], "v": ["3/2", "6/5"]}
OBLIQUE = ["1", "3", "1/6", "-70", "80", "24", "24", "4", "4", "6", "6"]
LEVEL = ["1/25", "1/2", "1/6", "-50", "56", "16", "16", "4", "4"]
PLAN = {
    "line": {**SIDES, "rule": OBLIQUE},
    "tails": [
        {**SIDES, "v": ["4/3", "16/15"], "rule": LEVEL},
        {**SIDES, "v": ["8/5", "9/8"], "rule": LEVEL},
    ],
    **{role: ["0", "2", "1/3", "-40", "50"] for role in ("moment", "above", "below")},
}
ROWS = [
    (Fraction(1, 50) * Fraction(x), Fraction(3, 2) * Fraction(y), n)
    for x, y, n in (
        (Fraction(5, 6), Fraction(6, 5), 30),
        (Fraction(7, 8), Fraction(5, 6), 200),
        (Fraction(16, 15), Fraction(14, 13), 900),
        (Fraction(6, 5), Fraction(17, 20), 60),
    )
]


def cell_of(plan, rows=ROWS):
    a = Arithmetic(140)
    a.left = 10**9
    cell = Cell(plan, a)
    for q, v, n in rows:
        assert cell.take(Row.of(gmpy2.mpq(q), gmpy2.mpq(v), n))
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
    line = cell.line(k, STEP, COUNT)
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
    assert cell.moments(k, "above").hi >= size.lo
    bound = cell.size(k, A.exact(STEP))
    for value in values[1:]:
        square = value.real.square() + value.imag.square()
        assert bound.square().hi >= square.lo
    assert bound.hi < 2


def fewer_points(plan):
    plan["line"]["rule"][5:7] = ["2", "1"]


def cut(plan):
    plan["line"]["rule"][3:5] = ["-28", "36"]


def wide_spacing(plan):
    plan["line"]["rule"][2:5] = ["3/5", "-20", "24"]


def scaled_down(name, owner=Box, by=Fraction(1, 10**12)):
    """What is said to bound an error shrinks."""

    def change(*arguments, **named):
        return function(*arguments, **named) * A.exact(by)

    function = getattr(owner, name)
    return owner, name, change


SABOTAGED = [
    (fewer_points, scaled_down("error", Places)),
    (cut, scaled_down("outside")),
    (wide_spacing, scaled_down("decay", by=Fraction(10**12))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("coarsen", "sabotage"), SABOTAGED)
def test_every_error_term_is_needed(coarsen, sabotage, monkeypatch):
    plan, kappa = copy.deepcopy(PLAN), Fraction(-5, 2)
    coarsen(plan)
    assert lined(plan, kappa)[0], "before"
    monkeypatch.setattr(*sabotage)
    assert not lined(plan, kappa)[0]


@pytest.mark.slow
def test_rounded_places_are_counted(monkeypatch):
    monkeypatch.setattr(interpolation, "_PLACE_BITS", 5)
    assert lined(PLAN, Fraction(7, 2))[0]


def test_corners_bound_every_row():
    cell, k = cell_of(PLAN), A.exact(Fraction(9))
    most = cell.corner(k, "moment", cell.box.corner)
    total = A.exact(1)
    for _, moment, n in samples(9):
        assert moment.lo <= most.hi
        total = total * moment.power(n)
    assert total.lo <= cell.moments(k, "above").hi < most.power(cell.box.places.count).lo
    assert cell.moments(A.exact(Fraction(1, 3)), "below").hi == 1
    for row, (_, moment, n) in zip(ROWS, samples(9), strict=True):
        assert cell_of(PLAN, [row]).moments(k, "above").hi >= moment.power(n).lo


def test_rates_and_variances_beyond_floats_have_corners():
    q, v = Fraction(1, 10**400), Fraction(10**400)
    side = {"q": [str(q), "6/5"], "v": [str(v), "6/5"]}
    plan = {**PLAN, "line": {**PLAN["line"], **side}, "tails": [{**PLAN["tails"][0], **side}]}
    assert 1 <= cell_of(plan, [(q, v, 5)]).moments(A.exact(9), "above").hi < 1.001


def test_logarithms_are_rounded_by_their_size():
    """Of numbers so large that a unit of their logarithms is more than those of a sum."""
    drawn, a = random.Random(2), Arithmetic(32)
    fine = gmpy2.context(precision=200)
    for _ in range(200):
        values = [(gmpy2.mpz(drawn.getrandbits(60) + 1) << 10**6, gmpy2.mpz(0)) for _ in range(2)]
        weights = [gmpy2.mpz(6 << interpolation.BITS), gmpy2.mpz(-5 << interpolation.BITS)]
        found, _ = _sum_of_logs(values, weights, gmpy2.mpfr(0), a)
        logs = [fine.sub(fine.log(x), fine.mul(64, fine.log(2))) for x, _ in values]
        truth = fine.sub(fine.mul(6, logs[0]), fine.mul(5, logs[1]))
        assert found.real.lo <= truth <= found.real.hi


def with_nodes():
    rule = [*LEVEL[:3], "-100000", "100000", *LEVEL[5:]]
    Cell({**PLAN, "tails": [{**SIDES, "rule": rule}] * 3}, Arithmetic(32))


def with_terms():
    sides = {"q": ["1/100000000", "6/5"], "v": ["100000000", "6/5"]}
    rule = ["1/100000", "1", "1/100000", "-60", "60", "1", "1", *["6/5"] * 40]
    a = Arithmetic(32)
    box = Box({**sides, "rule": rule}, a)
    a.left = 500_000
    box.sums([Rectangle(a.exact(1000), a.exact(1))], a.exact(0), moduli=True)


def with_powers():
    cell_of(PLAN).line(A.exact(2), STEP, 20_000)


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [(with_nodes, "more work"), (with_terms, "more work"), (with_powers, "more powers")],
)
def test_work_is_counted_before_it_is_done(hostile, reason):
    """What fills memory or hours is refused at once."""
    with pytest.raises(standard.Invalid, match=reason):
        hostile()


def changed_plan(path, text):
    plan = copy.deepcopy(PLAN)
    *way, last = path
    owner = plan
    for key in way:
        owner = owner[key]
    owner[last] = text
    return plan


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        (("q", 0), "5/6", "not of rates"),
        (("v", 1), "1", "without an inside"),
        (("v", 0), "-1", "without an inside"),
        (("rule", 7), "1", "without an inside"),
        (("rule", 8), "40", "ellipses are too large"),
        (("rule", 7), "40", "ellipses are too large"),
        (("rule", 5), "61", "not in 1..60"),
        (("rule", 0), "4", "between the real line and its edge"),
        (("rule", 1), "16/5", "between the real line and its edge"),
        (("rule", 4), "8", "not certain to fall"),
    ],
)
def test_a_cell_that_proves_nothing_is_refused(path, text, reason):
    plan = changed_plan(("line", *path), text)
    plan["line"]["rule"] = plan["line"]["rule"][:9]
    with pytest.raises(standard.Invalid, match=reason):
        lined(plan, Fraction(7, 2))


def test_integrals_that_may_be_nothing_are_refused():
    """Aliases of nodes so far apart are larger than the moments."""
    plan = changed_plan(("line", "rule", 2), "4")
    plan["line"]["rule"][3:5] = ["-5", "6"]
    with pytest.raises(standard.Undecided, match="told from 0"):
        lined(plan, Fraction(7, 2))


def test_a_step_in_no_tail_is_refused():
    with pytest.raises(standard.Invalid, match="in no tail"):
        cell_of(changed_plan(("tails",), PLAN["tails"][:1]))


@pytest.mark.parametrize(("place", "text"), [(0, "3"), (1, "2")])
def test_a_strip_where_a_modulus_is_not_bounded_is_refused(place, text):
    plan = changed_plan(("tails", 0, "rule", place), text)
    with pytest.raises(standard.Invalid, match="bounded in its strip"):
        cell_of(plan).size(A.exact(2), A.exact(STEP))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("line",), "1"),
        (("line", "q"), ["1/50"]),
        (("line", "rule"), ["1"]),
        (("line", "rule"), OBLIQUE[:8]),
        (("line", "other"), []),
        (("tails",), {}),
        (("other",), []),
    ],
)
def test_a_cell_of_another_form_is_unreadable(path, value):
    with pytest.raises(standard.Unreadable):
        Cell(changed_plan(path, value), A)


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
    plan["cells"][0]["line"]["q"][1] = "1000001/1000000"


def few_points(_, plan):
    plan["cells"][0]["line"]["rule"][5:7] = ["2", "2"]


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


def test_no_cell_is_planned_at_orders_that_are_not_checked():
    """Sums over so many terms would take for ever."""
    box = cells.Box(np.array([(1e-3, 1e3, 1.0), (2e-3, 2e3, 1.0)]), ["", ""])
    assert cells._bounds(box, 999.0, [0.0], 0.0, 2.0, 2.0) is not None
    assert cells._bounds(box, 1e7, [0.0], 0.0, 2.0, 2.0) is None


@pytest.mark.slow
def test_logs_that_differ_much_have_several_cells():
    """Also those of rates and noises of two and one orders of magnitude: no step is by itself."""
    drawn = random.Random(5)
    steps = {
        f'["poisson", ["gaussian", "{1 + Fraction(n, 400)}", "1"], "1/1000"]': 100
        for n in range(400)
    }
    wide = {
        f'["poisson", ["gaussian", "{round(10 ** drawn.uniform(-0.2, 0.7), 6)}", "1"], '
        f'"{round(10 ** drawn.uniform(-4, -2), 8):.8f}"]': 50
        for n in range(600)
    }
    for log, most in ((steps, 0), (wide, 60)):
        plan = next(contours.plans(log, ("remove",), [Fraction(1, 2)], 3))[0]["remove"]
        assert len(plan["cells"]) >= 1
        assert len(plan["rules"]) <= most
    assert len(plan["cells"]) > 1
    assert math.prod(int(x) for x in plan["cells"][0]["line"]["rule"][5:7]) < 3600
