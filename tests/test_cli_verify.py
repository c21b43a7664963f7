"""``dpexact verify``: what was certified, by the checkers alone."""

import json

import pytest
from command_line import invoke as run

from dpexact.certificate_checker import digest

ANSWERS = [
    (["delta", "pure_dp(1)^3", "--epsilon", "log(3/2)"], "pure_dp(1)^3 at epsilon = log(3/2) in ["),
    (["epsilon", "pure_dp(1)^3", "--delta", "1/10"], "at delta = 1/10 in ["),
    (
        ["epsilon", "poisson(gaussian(2), 1/10)^9", "--delta", "1/100000"],
        "1/10)^9 at delta = 1/100000 in [",
    ),
    (
        ["delta", "pure_dp(log(2))", "--epsilon", "0", "--direction", "add"],
        "pure_dp(log(2)) at epsilon = 0, add = 1/3",
    ),
]


@pytest.fixture
def written(tmp_path):
    def write(arguments, change=None):
        path = tmp_path / "answer.json"
        result = run(*arguments, "--digits", "8", "--certificate", path)
        assert result.exit_code == 0, result.output
        if change:
            document = json.loads(path.read_text())
            change(document["statements"][0])
            document["digest"] = digest(document)
            path.write_text(json.dumps(document))
        return path

    return write


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "said"), ANSWERS)
def test_what_was_certified_is_printed(written, arguments, said):
    path = written(arguments)
    result = run("verify", path)
    assert result.exit_code == 0, result.output
    head, line = result.stdout.splitlines()
    assert head == f"{path}: valid: 1 verified"
    assert line.startswith(f"  {arguments[0]} of p")
    assert said in line


@pytest.mark.slow
def test_findings_with_their_verdicts(tmp_path):
    claims, path = tmp_path / "claims.yaml", tmp_path / "verdicts.json"
    claims.write_text(
        "claims:\n- {id: mine, mechanism: pure_dp(1), claims: epsilon, epsilon: 2, delta: 0,"
        " kind: upper}\n- {id: its, mechanism: zcdp(1), claims: epsilon, epsilon: 90, delta: 1e-5,"
        " kind: upper}\n- {mechanism: adaptive(bounded_range(1)), claims: epsilon, epsilon: 90,"
        " delta: 1e-5, kind: upper}\n"
    )
    assert run("audit", claims, "--certificate", path, "--jobs", 1).exit_code == 0
    result = run("verify", path)
    assert result.exit_code == 0
    head, line, bound = result.stdout.splitlines()
    assert head == f"{path}: valid: 2 verified, 1 without certificate"
    assert line.startswith("  mine: upper 2: sound: epsilon of pure_dp(1) at delta = 0 in [0.99")
    assert bound.startswith("  its: upper 90: sound: upper bound on epsilon of zcdp(0, 1) at delta")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("text", "pure_dp(2)^3", "the text is not that of the mechanism"),
        ("text", "pure_dp(", "the text is not that of the mechanism"),
        ("upper", "5", "invalid: "),
    ],
)
def test_a_certificate_that_was_changed_is_invalid(written, key, value, said):
    path = written(ANSWERS[1][0], lambda statement: statement.update({key: value}))
    result = run("verify", path)
    assert result.exit_code == 1
    assert said in result.output
    assert "valid: 1" not in result.output


def test_files_that_are_no_certificates(written, tmp_path):
    good, bad = written(ANSWERS[1][0]), tmp_path / "none.json"
    result = run("verify", bad, good)
    assert result.exit_code == 2
    assert f"{bad}: cannot read" in result.stderr
    assert f"{good}: valid" in result.stdout
    bad.write_text("{}")
    assert "unreadable" in run("verify", bad).stderr
    assert run("verify").exit_code == 2
