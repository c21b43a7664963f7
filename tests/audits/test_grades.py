"""Grades: how wrong a wrong claim is, against an independent reading in exact arithmetic."""

import json
import math
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from command_line import invoke
from hypothesis import assume, given
from hypothesis import strategies as st

from dpexact.audits import Claim, Contract, audit, judge, read_claims
from dpexact.audits.claims_file import write_claims
from dpexact.audits.sentences import claim_of
from dpexact.certificates import certificate_of_audit
from dpexact.comparison import GRADES, WRONG, grade, verdict, within
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

TRILLIONTH, MILLIONTH = Fraction(1, 10**12), Fraction(1, 10**6)
doubles = st.floats(min_value=5e-324, max_value=1e300, allow_nan=False)


def exact(value):
    return Enclosure.exact(Fraction(value))


def expected(claimed, truth):
    """The grade of a claim in the domain that is off by what ``claimed - truth`` is."""
    gap = abs(claimed - truth)
    unit = Fraction(float(np.spacing(float(claimed)))) if claimed else Fraction(5e-324)
    if gap <= 4 * unit or gap <= TRILLIONTH * truth:
        return "rounding"
    return "visible" if gap <= MILLIONTH * truth else "gross"


@given(truth=doubles, exponent=st.integers(-20, 0), kind=st.sampled_from(["upper", "lower"]))
def test_grades_are_those_of_exact_arithmetic(truth, exponent, kind):
    truth = Fraction(truth)
    step = Fraction(10) ** exponent * (-1 if kind == "upper" else 1)
    claimed = truth * (1 + step)
    assert grade(kind, claimed, claimed, exact(truth)) == expected(claimed, truth)
    right = {"upper": "lower", "lower": "upper"}[kind]
    assert grade(right, claimed, claimed, exact(truth)) == "none"


@given(
    truth=st.fractions(min_value="1e-9", max_value=10**9),
    border=st.sampled_from([TRILLIONTH, MILLIONTH]),
    sign=st.sampled_from([-1, 1]),
    beyond=st.fractions(min_value="1e-30", max_value="1e-6"),
)
def test_the_borders_belong_to_the_lesser_grade(truth, border, sign, beyond):
    kind = "upper" if sign < 0 else "lower"
    on = truth * (1 + sign * border)
    past = truth * (1 + sign * border * (1 + beyond))
    lesser, worse = ("rounding", "visible") if border == TRILLIONTH else ("visible", "gross")
    assert grade(kind, on, on, exact(truth)) == lesser
    assert grade(kind, past, past, exact(truth)) == worse


@given(claimed=st.floats(0, 1e-310), steps=st.integers(1, 8))
def test_four_units_in_the_last_place_where_doubles_are_coarse(claimed, steps):
    truth = Fraction(claimed) + steps * Fraction(5e-324)
    found = grade("upper", Fraction(claimed), Fraction(claimed), exact(truth))
    assume(steps > TRILLIONTH * truth / Fraction(5e-324))
    assert (found == "rounding") == (steps <= 4)


@given(
    kind=st.sampled_from(["upper", "lower", "estimate"]),
    claimed=st.fractions(min_value=-2, max_value=3, max_denominator=40),
    low=st.fractions(min_value=0, max_value=1, max_denominator=40),
    width=st.fractions(min_value=0, max_value=1, max_denominator=40),
    tolerance=st.sampled_from([Fraction(0), Fraction(1, 4)]),
)
def test_the_grade_is_the_least_that_is_certain(kind, claimed, low, width, tolerance):
    truth = Enclosure(low, min(low + width, Fraction(1)))
    tolerance = tolerance if kind == "estimate" else Fraction(0)
    found = grade(kind, claimed, claimed, truth, tolerance, Fraction(1))
    wrong = verdict(kind, claimed, claimed, truth, tolerance) in WRONG
    assert (found == "none") == (not wrong)
    if wrong:
        points = [low + (truth.upper - low) * Fraction(k, 7) for k in range(8)]
        each = [grade(kind, claimed, claimed, exact(t), tolerance, Fraction(1)) for t in points]
        assert max(map(GRADES.index, each)) <= GRADES.index(found)


@pytest.mark.parametrize(
    ("kind", "claimed", "truth", "found"),
    [
        ("upper", Fraction(-1, 10), 0, "invalid"),  # epsilon is 0 there: a true statement
        ("upper", Fraction(-1, 10), Fraction(1, 100), "gross"),  # a false promise
        ("upper", -math.inf, 0, "invalid"),
        ("estimate", Fraction(-1, 10), 0, "invalid"),
        ("lower", Fraction(11, 10), 1, "invalid"),
        ("lower", Fraction(11, 10), Fraction(1, 2), "gross"),
        ("upper", math.nan, 1, "invalid"),
        ("lower", Fraction(-1, 10), 0, "none"),
        ("upper", Fraction(11, 10), 1, "none"),
        ("lower", math.inf, Fraction(1, 2), "gross"),
        ("upper", Fraction(0), Fraction(1, 10**300), "gross"),
        ("upper", Fraction(0), Fraction(5e-324), "rounding"),
    ],
)
def test_values_outside_the_domain_and_at_its_ends(kind, claimed, truth, found):
    highest = Fraction(1)
    assert grade(kind, claimed, claimed, exact(truth), Fraction(0), highest) == found


def test_an_infinite_truth_is_missed_grossly():
    infinite = Enclosure.exact(math.inf)
    assert grade("upper", Fraction(10**9), Fraction(10**9), infinite) == "gross"


@given(
    claimed=st.fractions(min_value=0, max_value=2),
    truth=st.fractions(min_value=0, max_value=2),
    absolute=st.fractions(min_value=0, max_value=1),
    relative=st.fractions(min_value=0, max_value=1),
)
def test_within(claimed, truth, absolute, relative):
    near = abs(claimed - truth) <= absolute + relative * truth
    assert within(claimed, claimed, exact(truth), absolute, relative) == near


# --- judged -------------------------------------------------------------------------------------


def graded(*fields, **options):
    finding = judge(Claim(*fields, **options))
    return finding.verdict, finding.grade


def test_a_grade_near_a_border_is_decided_by_more_digits():
    # the truth is ln(2) and 15 digits leave open on which side of a millionth the claim lies
    for kind, side in (("upper", "-"), ("lower", "+")):
        for beyond, expected in (("+", "gross"), ("-", "visible")):
            claimed = f"log(2)*(1 {side} 1e-6*(1 {beyond} 1e-30))"
            found = graded("pure_dp(log(2))", "epsilon", claimed, 0, kind)
            assert found == ("unsound", expected)


def test_nan_is_invalid_and_undecided():
    assert graded("gaussian(1)", "epsilon", math.nan, "0.1", "upper") == ("undecided", "invalid")


ABSOLUTE = Contract("the root is found to 1e-12", "version 1", absolute="1e-12")


@pytest.mark.parametrize(
    ("claimed", "contract", "found"),
    [
        ("log(2) - 9e-13", ABSOLUTE, "contract"),
        ("log(2) - 2e-12", ABSOLUTE, "visible"),
        ("log(2) - 2e-12", None, "visible"),
        ("log(2) * 0.9", Contract("to a tenth", relative="0.1"), "contract"),
        ("log(2) * 0.89", Contract("to a tenth", relative="0.1"), "gross"),
        # epsilon of the pair is 0 from delta = 1/3 on
        ("0", Contract("delta is off by a third", at="1/3"), "contract"),
        ("0", Contract("delta is off by less", at="0.33"), "gross"),
    ],
)
def test_a_claim_inside_the_error_that_its_documentation_allows(claimed, contract, found):
    fields = ("pure_dp(log(2))", "epsilon", claimed, 0, "upper")
    assert graded(*fields, contract=contract) == ("unsound", found)


def test_a_contract_reaches_to_both_sides_of_an_estimate():
    # the documented error in delta makes every epsilon true
    contract = Contract("an error in delta", at="0.0005")
    fields = ("approx_dp(1, 0.5)", "epsilon", math.inf, "0.5", "estimate")
    assert graded(*fields, contract=contract) == ("inaccurate", "contract")
    assert graded(*fields) == ("inaccurate", "gross")


def test_a_contract_moves_an_argument_in_symbols():
    # delta is 0.1932 at log(2), 0.1983 a hundredth below, and 0.4654 a hundredth below 0
    contract = Contract("an error in epsilon", at="0.01")
    for claimed, found in (("0.198", "contract"), ("0.2", "gross"), ("0.3", "gross")):
        fields = ("pure_dp(1)", "delta", claimed, "log(2)", "estimate")
        assert graded(*fields, contract=contract) == ("inaccurate", found)


def test_a_contract_has_words_and_rational_errors():
    with pytest.raises(InvalidInput, match="sentence"):
        Contract("")
    with pytest.raises(InvalidInput, match="contract_absolute"):
        Contract("words", absolute="-1")


# --- type II errors -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claimed", "kind", "verdict"),
    [("2/3", "lower", "sound"), ("2/3", "upper", "sound"), ("0.67", "lower", "unsound")],
)
def test_a_claim_about_the_type_ii_error(claimed, kind, verdict):
    # of randomised response with ratio 2: beta = 1 - 2 alpha up to alpha = 1/3
    assert graded("pure_dp(log(2))", "beta", claimed, "1/6", kind)[0] == verdict


@pytest.mark.parametrize(("direction", "beta"), [("remove", "2/3"), ("add", "5/8")])
def test_a_type_ii_error_has_a_direction(direction, beta):
    """Half of the outcome (1/2, 2/3) has type I error 1/4 with the record, power 1/3 without."""
    worse = "5/8 - 1/1000"
    for least, expected in ((beta, "sound"), ("0.67", "unsound"), (worse, "sound")):
        claim = Claim(
            "pair((1/2, 1/3), (1/2, 2/3))", "beta", least, "1/4", "lower", direction=direction
        )
        assert judge(claim).verdict == expected


@pytest.mark.parametrize(
    ("claimed", "found"), [("1.5", ("accurate", "none")), ("1.52", ("inaccurate", "gross"))]
)
def test_a_claim_about_a_renyi_divergence(claimed, found):
    fields = ("gaussian(1)", "renyi", claimed, "3", "estimate")
    assert graded(*fields) == found
    # an order of 3.05 gives 1.525
    contract = Contract("an error in the order", at="0.05")
    assert graded(*fields, contract=contract)[1] in ("none", "contract")


# --- counted ------------------------------------------------------------------------------------


ROUNDED = {"mechanism": "pure_dp(1)^10", "claims": "epsilon", "epsilon": "9.999999999999998",
           "delta": 0, "kind": "upper"}  # fmt: skip
NEGATIVE = ROUNDED | {"epsilon": "-1", "delta": 1}
SHORT = ROUNDED | {"epsilon": "9.99"}


@pytest.mark.parametrize(
    ("claims", "grade", "codes"),
    [
        ([ROUNDED], "rounding", (0, 1)),
        ([NEGATIVE], "invalid", (0, 1)),
        ([SHORT], "gross", (1, 1)),
        ([ROUNDED | {"epsilon": "9.99999"}], "visible", (1, 1)),
        ([SHORT | {"contract": "roughly", "contract_absolute": "0.01"}], "contract", (0, 0)),
    ],
)
def test_exit_codes_by_grade(claims, grade, codes):
    reports = [audit(claims, strict=strict) for strict in (False, True)]
    assert tuple(report.exit_code for report in reports) == codes
    assert reports[0].grades[grade] == len(claims) == sum(reports[0].grades.values())


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1)])
def test_the_command_is_strict_if_it_is_told(tmp_path, options, code):
    path = tmp_path / "claims.csv"
    path.write_text(
        "mechanism,claims,epsilon,delta,kind\npure_dp(1)^10,epsilon,9.999999999999998,0,upper\n"
    )
    result = invoke("audit", path, "--json", str(path) + ".json", *options)
    assert result.exit_code == code, result.output
    assert "unsound" in result.output
    assert "UNSOUND" not in result.output
    assert "grades: 1 rounding" in result.output
    assert json.loads((tmp_path / "claims.csv.json").read_text())["strict"] == bool(options)


def test_the_time_of_an_audit_counts_what_came_before():
    started = datetime.now(UTC) - timedelta(seconds=100)
    report = audit([SHORT], started=started)
    assert report.started == started.isoformat(timespec="seconds")
    assert 100 <= report.seconds < 160


def test_claims_files_keep_contracts_and_other_quantities(tmp_path):
    contract = Contract("words: these", "here 1.0", "add/remove", absolute="1e-3", at="1/1000")
    claims = [
        Claim("pure_dp(1)", "epsilon", "0.9", "0", "upper", contract=contract),
        Claim("gaussian(1)", "beta", "0.3", "0.1", "lower"),
        Claim("gaussian(1)", "renyi", "1.5", "3", "estimate"),
    ]
    for suffix in ("yaml", "json", "csv"):
        write_claims(claims, tmp_path / f"c.{suffix}")
        assert read_claims(tmp_path / f"c.{suffix}") == claims


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("claims: beta, beta: 0.3, alpha: 2, kind: lower", "alpha: 2 "),
        ("claims: beta, beta: 0.3, kind: lower", "key 'alpha' is missing"),
        ("claims: beta, beta: 0.3, alpha: 0.1, delta: 0, kind: lower", "delta is not accepted"),
        ("claims: renyi, renyi: 1, order: 0.5, kind: upper", "order: 0.5"),
        ("claims: delta, delta: 1, epsilon: 0, kind: upper, contract_at: 1", "no sentence"),
    ],
)
def test_mistakes_are_named(tmp_path, row, said):
    path = tmp_path / "c.yaml"
    path.write_text(f"claims:\n  - {{mechanism: gaussian(1), {row}}}\n")
    with pytest.raises(InvalidInput, match=said):
        read_claims(path)


@pytest.mark.parametrize("fields", [("beta", "0.3", "0.1", "upper"), ("renyi", "1", "2", "upper")])
def test_what_has_no_certificate_gets_none(fields):
    other = Claim("pure_dp(1)", "epsilon", "1", "0", "upper")
    document = certificate_of_audit(audit([Claim("gaussian(1)", *fields), other]))
    assert len(document["findings"]) == 1
    assert f"{fields[0]} has none yet" in document["uncertified"][0]["reason"]


def test_sentences_about_every_quantity():
    claim = claim_of("beta >= 0.3 of gaussian(1) at alpha 0.1 by someone")
    assert (claim.statement, claim.source) == ("beta >= 0.3 at alpha = 0.1", "someone")
    assert claim_of("renyi <= 1 of gaussian(1) at order = 2").quantity == "renyi"
    with pytest.raises(InvalidInput):
        claim_of("beta >= 0.3 of gaussian(1) at delta 0.1")
