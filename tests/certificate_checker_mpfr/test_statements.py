import copy
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from certified_answers import certified

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from certified_answers import validate
from hypothesis import given, settings
from mechanism_trees import impossible, sampled_gaussians
from oracles import scaled

import dpexact
from dpexact import certificate_checker as standard
from dpexact.audits import Claim
from dpexact.audits.runner import audit
from dpexact.certificate_checker_mpfr import checking as checker
from dpexact.certificates import NoCertificate, certificate_of_audit, to_text

ROOT = Path(dpexact.__file__).parents[1]
ASKED = [
    ("poisson(gaussian(1.3), 256/60000)^3515", "delta", "0.9", "remove"),
    ("poisson(gaussian(1.3), 256/60000)^3515", "epsilon", "1e-5", "both"),
    ("poisson(gaussian(1), 0.01)^1000", "delta", "3", "add"),
    ("poisson(gaussian(1), 0.01)^1000", "epsilon", "1e-6", "add"),
    ("poisson(gdp(1/3), sqrt(2)/20)^50 * poisson(gaussian(2), 1/9)^9", "delta", "log(3)", "both"),
    ("poisson(gaussian(2), 0.1)^50 * gaussian(5)^3 * pure_dp(1/10)", "delta", "1", "both"),
    ("poisson(gaussian(2), 0.1)^90 * approx_dp(log(2), 1e-7)^4", "epsilon", "1e-5", "both"),
    ("poisson(gaussian(1.87), 0.08)^20 * approx_dp(1/5, 1e-5)^2", "delta", "2.3", "add"),
    ("poisson(gaussian(1), 0.01)^5", "delta", "1", "add"),
]


def written(asked, digits=12):
    text, quantity, at, way = asked
    return certified(text, quantity, at, digits, way)


@pytest.fixture(scope="module")
def documents():
    return [written(asked) for asked in ASKED]


def verdict(document):
    """None if the certificate is verified, else why not."""
    document = {**document, "digest": standard.digest(document)}
    try:
        checker.check(standard.read(to_text(document).encode()))
    except (standard.Invalid, standard.Unreadable) as error:
        return str(error)
    return None


def changed(document, **members):
    document = copy.deepcopy(document)
    document["statements"][0].update(members)
    return document


@pytest.mark.slow
def test_fresh_certificates_are_accepted(documents):
    for document in documents:
        validate(document)
        assert verdict(document) is None
        with pytest.raises(standard.Unreadable, match="certificate_checker_mpfr FILE"):
            standard.check(document)


@pytest.mark.slow
def test_any_digit_changed_is_noticed_by_the_digest(documents):
    rng = random.Random(1)
    text = to_text(documents[0])
    places = rng.sample([i for i, mark in enumerate(text) if mark.isdigit()], 50)
    for place in places:
        other = rng.choice([digit for digit in "0123456789" if digit != text[place]])
        forged = text[:place] + other + text[place + 1 :]
        with pytest.raises((standard.Invalid, standard.Unreadable)):
            checker.check(standard.read(forged.encode()))


@pytest.mark.slow
def test_other_bounds_are_rejected(documents):
    for document in documents[:-1]:
        statement = document["statements"][0]
        lower, upper = Fraction(statement["lower"]), Fraction(statement["upper"])
        step = upper - lower
        for low, high in ((lower - step, lower), (upper, upper + step)):
            why = verdict(changed(document, lower=str(low), upper=str(high)))
            assert why == "the bounds exclude the truth"
        why = verdict(changed(document, lower=str(lower - step)))
        assert why == "the bounds are not consecutive numbers of the stated digits"
        assert verdict(changed(document, lower=str(lower), upper=str(lower), digits="exact"))
    assert verdict(changed(documents[-1], lower="1", upper="1"))


def test_another_direction_argument_or_mechanism_is_rejected(documents):
    remove, _, add, *_ = documents
    for document, way, other in ((remove, "remove", "add"), (add, "add", "remove")):
        plan = document["statements"][0]["plan"][way]
        why = verdict(changed(document, direction=other, plan={other: plan}))
        assert why is not None
    assert verdict(changed(remove, direction="both")) == "there is not one plan for each direction"
    for document in documents[:2]:
        at = document["statements"][0]["at"]
        moved = str(Fraction(at) * (1 + Fraction(1, 10**6)))
        assert verdict(changed(document, at=moved)) == "the bounds exclude the truth"
    tree = copy.deepcopy(remove["statements"][0]["mechanism"])
    tree[2] = "3516"
    why = verdict(changed(remove, mechanism=tree, text=standard.shown(tree)))
    assert why == "the bounds exclude the truth"
    assert verdict(changed(remove, mechanism=["gaussian", "1", "1"], text="gaussian(1, 1)"))


@pytest.mark.parametrize("rates", [["2", "1/200"], ["-1/10", "-1/10"], ["-1", "-1", "1/100"]])
def test_rates_of_samples_of_samples_are_each_checked(documents, rates):
    """The truth depends on their product alone."""
    gaussian = ["gaussian", "1", "1"]

    def stated(rates):
        tree = gaussian
        for rate in rates:
            tree = ["poisson", tree, rate]
        tree = ["repeat", tree, "1000"]
        return changed(documents[2], mechanism=tree, text=standard.shown(tree))

    assert verdict(stated(["1/2", "1/50"])) is None
    assert verdict(stated(rates)) == "a parameter of poisson is out of its domain"


@settings(max_examples=scaled(100))
@given(tree=impossible(sampled_gaussians()))
def test_a_parameter_out_of_its_domain_is_rejected_wherever_it_stands(documents, tree):
    document = changed(documents[0], mechanism=tree, text=standard.shown(tree))
    found = verdict(document)
    assert "domain" in found or "is not in" in found or "is not an integer" in found


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("at", "-1/10", "there is not one plan for each direction"),
        ("lower", "inf", "not consecutive"),
        ("upper", "nan", "not the text of a rational"),
        ("direction", "replace", "unknown quantity or direction"),
        ("digits", "1", "not consecutive"),
        ("note", "", "does not have the members"),
        ("bits", "4001", "is not in 32..4000"),
    ],
)
def test_members_that_mean_nothing_are_rejected(documents, name, value, reason):
    assert reason in verdict(changed(documents[0], **{name: value}))


def test_a_target_that_is_no_probability_is_rejected(documents):
    for at in ("-1/2", "3/2", ["log", "3"]):
        assert verdict(changed(documents[1], at=at)) == "delta is not in [0, 1]"


def halved(text):
    return str(Fraction(text) / 2)


def doubled(text):
    return str(Fraction(text) * 2)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("count", lambda text: str(int(text) * 2 // 3)),
        ("count", lambda text: "0"),
        ("h", doubled),
        ("h", lambda text: "0"),
        ("c", lambda text: "-1"),
        ("above", lambda text: "1/100"),
        ("below", lambda text: "1"),
        ("below", lambda text: "-1"),
        ("rules", lambda rules: []),
        ("rules", lambda rules: [{}]),
        ("rules", lambda rules: rules * 2),
    ],
)
def test_plans_that_err_too_much_are_rejected(documents, name, change):
    plan = copy.deepcopy(documents[0]["statements"][0]["plan"])
    plan["remove"][name] = change(plan["remove"][name])
    assert verdict(changed(documents[0], plan=plan)) is not None


@pytest.mark.parametrize("index", [0, 3])
def test_a_coarse_plan_decides_nothing(documents, index):
    """Its enclosure holds the truth and a bound, so neither is refuted or verified."""
    plan = copy.deepcopy(documents[index]["statements"][0]["plan"])
    for way in plan.values():
        way["h"] = str(Fraction(way["h"]) * Fraction(5, 3))
    why = verdict(changed(documents[index], plan=plan))
    assert why.startswith("the plan does not tell ")


@pytest.mark.parametrize("text", ["poisson(gaussian(2), 1/10)^5", "allocation(gaussian(2), 9)^3"])
@pytest.mark.parametrize("way", ["remove", "both"])
def test_an_epsilon_of_0(text, way):
    """It is verified from above alone; not where delta at 0 is above the target, nor another."""
    document = written((text, "epsilon", "1/3", way))
    statement = document["statements"][0]
    assert (statement["lower"], statement["upper"], statement["digits"]) == ("0", "0", "exact")
    assert verdict(document) is None
    assert verdict(changed(document, at="0")) is not None
    assert verdict(changed(document, at=str(Fraction(1, 10**9)))) is not None
    assert "nor 0" in verdict(changed(document, lower="1", upper="1"))


@pytest.mark.parametrize("role", ["line", "moment", "tail", "above", "below"])
def test_rules_that_err_too_much_are_rejected(documents, role):
    for index, change in ((1, doubled), (2, doubled), (4, lambda text: str(int(text) // 2))):
        plan = copy.deepcopy(documents[0]["statements"][0]["plan"])
        rule = plan["remove"]["rules"][0][role]
        if index == 2:
            rule[1] = str(Fraction(rule[1]) / 8)
        rule[index] = change(rule[index])
        found = verdict(changed(documents[0], plan=plan))
        assert found is not None or role != "line"


def test_hostile_plans_are_refused_at_once(documents):
    statement = documents[0]["statements"][0]
    plan = copy.deepcopy(statement["plan"])
    plan["remove"]["count"] = "100000"
    plan["remove"]["rules"][0]["line"][3:] = ["-100000", "100000"]
    assert "more work" in verdict(changed(documents[0], plan=plan))
    plan = copy.deepcopy(statement["plan"])
    plan["remove"]["above"] = str(10**3000)
    assert verdict(changed(documents[0], plan=plan)) is not None
    for other in ("no larger loss", "", [], {"c": "1"}):
        assert verdict(changed(documents[0], plan={"remove": other})) is not None
    assert verdict(changed(documents[0], plan="plan")) is not None
    for bits in ("32", "5000", "-1"):
        assert verdict(changed(documents[0], bits=bits)) is not None


def test_the_program(documents, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    path.write_text(to_text(documents[0]))
    module = "dpexact.certificate_checker_mpfr"
    run = [sys.executable, "-m", module, str(path)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "valid: 1 verified\n")
    assert standard.main([str(path)]) == 2
    assert f"python -m {module} FILE" in capsys.readouterr().err
    path.write_text(to_text(changed(documents[0], at="1")))
    assert checker.main([str(path)]) == 1
    assert checker.main([]) == 2
    assert module in capsys.readouterr().err


def test_the_plain_statements_are_left_to_the_standard_checker():
    document = written(("gaussian(1)", "delta", "1", "both"))
    assert verdict(document) is None
    assert verdict(changed(document, lower="1/8")) is not None


@pytest.mark.slow
def test_findings_of_an_audit():
    claims = [
        Claim("poisson(gaussian(1), 0.1)^99", "delta", "1e-3", "1", "upper", id="low"),
        Claim("poisson(gaussian(1), 0.1)^99", "epsilon", "12", "1e-5", "upper", id="high"),
        Claim("gaussian(1)", "epsilon", "4.377", "1e-5", "upper", id="plain"),
    ]
    document = certificate_of_audit(audit(claims, jobs=1))
    assert document["uncertified"] == []
    assert verdict(document) is None
    verdicts = {finding["id"]: finding["verdict"] for finding in document["findings"]}
    assert verdicts == {"low": "unsound", "high": "sound", "plain": "unsound"}
    document["findings"][0]["verdict"] = "sound"
    assert verdict(document) == "the verdict does not follow from the bounds"


def test_without_gmpy2_the_program_says_so():
    code = (
        "import importlib.util as u, runpy; find = u.find_spec;"
        "u.find_spec = lambda name, *rest: None if name == 'gmpy2' else find(name, *rest);"
        "runpy.run_module('dpexact.certificate_checker_mpfr', run_name='__main__')"
    )
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "this checker needs gmpy2: pip install gmpy2\n"


def test_what_floats_cannot_plan_has_no_certificate():
    with pytest.raises(NoCertificate, match="no certificate: no plan"):
        written(("poisson(gaussian(0.4), 0.5)^2", "delta", "1", "add"), 5)
