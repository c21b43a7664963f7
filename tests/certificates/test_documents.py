import json
from fractions import Fraction

import pytest
from command_line import invoke

import dpexact
from dpexact import certificate_checker as checker
from dpexact.audits import Claim
from dpexact.audits.runner import audit
from dpexact.certificates import NoCertificate, certificate, certificate_of_audit, to_text
from dpexact.conversion import real

CLAIMS = [
    Claim("gaussian(1)", "epsilon", "4.377", "1e-5", "upper", id="low"),
    Claim("gaussian(1)", "epsilon", "4.378", "1e-5", "upper", id="high"),
    Claim("gaussian(1)", "epsilon", "4.377", "1e-5", "lower"),
    Claim("gaussian(1)", "epsilon", "4.4", "1e-5", "estimate"),
    Claim("gaussian(1)", "epsilon", "5", "1e-5", "estimate"),
    Claim("gaussian(1)", "epsilon", float("-inf"), "1e-5", "upper"),
    Claim("approx_dp(1, 1/100)", "epsilon", "3", "1e-5", "upper", id="infinite"),
    Claim("approx_dp(log(2), 1/3)", "delta", "1/2", "log(5/4)", "upper", id="equal"),
    Claim("approx_dp(log(2), 1/3)", "delta", "0.51", "log(5/4)", "lower"),
    Claim("pure_dp(0.01)^1000", "delta", "sqrt(2)/5", "1/10", "upper"),
    Claim("discrete_gaussian(1)", "epsilon", 2.3638677268253923, "0.01", "upper", id="close"),
    Claim("poisson(laplace(1), 0.1)^2", "delta", "1e-3", "1", "upper", id="lattice"),
    Claim("gaussian(1)", "epsilon", float("nan"), "1e-5", "upper", id="nan"),
]


@pytest.fixture(scope="module")
def report():
    return audit(CLAIMS, jobs=1)


@pytest.fixture(scope="module")
def document(report):
    return certificate_of_audit(report)


def test_every_verdict_on_a_checkable_claim_is_certified(report, document):
    assert [entry["id"] for entry in document["uncertified"]] == ["lattice", "nan"]
    assert "no route" in document["uncertified"][0]["reason"]
    lines = checker.check(checker.read(to_text(document).encode()))
    assert len(lines) == len(CLAIMS) - 2
    found = {entry["id"]: entry["verdict"] for entry in document["findings"]}
    assert found["low"] == "unsound"
    assert found["equal"] == "sound"
    assert found["close"] == "unsound"


def test_no_other_verdict_is_accepted(document):
    for finding in document["findings"]:
        for verdict in {"sound", "unsound", "accurate", "inaccurate"} - {finding["verdict"]}:
            with pytest.raises(checker.Invalid, match="the verdict does not follow"):
                checker.check_finding({**finding, "verdict": verdict})


def test_a_claim_that_changed_sides_is_rejected(document):
    low = document["findings"][0]
    for claimed in ("5", "inf", str(Fraction(low["statement"]["upper"]))):
        with pytest.raises(checker.Invalid):
            checker.check_finding({**low, "claimed": claimed})
    with pytest.raises(checker.Invalid):
        checker.check_finding({**low, "kind": "lower"})


def test_an_audit_without_any_certificate_is_refused():
    with pytest.raises(NoCertificate, match="no route"):
        certificate_of_audit(audit([CLAIMS[-2]], jobs=1))
    with pytest.raises(NoCertificate, match="there is no finding"):
        certificate_of_audit(audit([], jobs=1))


def test_the_verbs_write_files_that_are_verified(tmp_path, capsys):
    claims = tmp_path / "claims.yaml"
    claim = "{mechanism: gaussian(1), claims: epsilon, epsilon: 4, delta: 1e-5, kind: upper}"
    claims.write_text(f"claims:\n- {claim}\n")
    commands = [
        (0, ["delta", "gaussian(1)", "--epsilon", "1"]),
        (0, ["epsilon", "poisson(laplace(1), 1/3)", "--delta", "1e-3", "--direction", "add"]),
        (1, ["audit", str(claims), "--jobs", "1"]),
    ]
    for code, command in commands:
        path = tmp_path / f"{command[0]}.json"
        result = invoke(*command, "--certificate", path)
        assert result.exit_code == code, result.output
        assert checker.main([str(path)]) == 0
        assert capsys.readouterr().out == "valid: 1 verified\n"


def test_what_has_no_certificate_is_said_and_no_file_written(tmp_path):
    path = tmp_path / "file"
    command = [
        "delta",
        "adaptive(bounded_range(1/2))",
        "--epsilon",
        "1",
        "--certificate",
        str(path),
    ]
    result = invoke(*command)
    assert result.exit_code == 2
    assert "delta" in result.output
    assert (
        "no certificate: certificates do not speak of adaptive(bounded_range(0.5))" in result.output
    )
    assert not path.exists()
    result = invoke(*command[:-1], tmp_path)
    assert result.exit_code == 2
    assert "is a directory" in result.output


@pytest.mark.parametrize(
    "step",
    [
        "repeat_and_select(gaussian(5), 10, 0)",
        "adaptive(bounded_range(0.5))",
    ],
)
def test_what_has_none_is_refused_by_its_name(step, tmp_path):
    path = tmp_path / "file"
    asked = ["--epsilon", "1", "--digits", "5", "--certificate", str(path)]
    for text in (step, f"{step} * pure_dp(1)"):
        result = invoke("delta", text, *asked)
        assert result.exit_code == 2
        assert result.stderr == f"dpexact: no certificate: certificates do not speak of {step}\n"
        assert not path.exists()


def test_the_claims_file_is_not_overwritten(tmp_path):
    claims = tmp_path / "claims.json"
    claims.write_text(json.dumps({"claims": []}))
    html = ["--certificate", str(tmp_path / "x"), "--html", str(tmp_path / "x")]
    for options in (["--certificate", str(claims)], html):
        result = invoke("audit", claims, *options)
        assert result.exit_code == 2, options
    assert json.loads(claims.read_text()) == {"claims": []}


def test_a_number_too_small_to_be_written_out_has_no_certificate():
    """Its digits would be more than Python prints, and than a checker reads."""
    m = dpexact.parse("gdp(1)")
    answer = dpexact.delta(m, 200, 12)
    assert answer.upper < Fraction(1, 10**8000)
    with pytest.raises(NoCertificate, match="too small"):
        certificate(m, "delta", real(200), "both", answer)
