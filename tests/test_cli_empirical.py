import json
from pathlib import Path

import pytest
from command_line import invoke

COUNTS = ["counts", "--tp", "990", "--fp", "5", "--positives", "1000", "--negatives", "1000"]
GUESSES = ["guesses", "--canaries", "1000", "--guesses", "100", "--correct", "95"]


def run(*arguments: str) -> tuple[int, str]:
    result = invoke("empirical", *arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("kind", [COUNTS, GUESSES])
def test_a_bound_alone(kind: list[str]) -> None:
    code, said = run(*kind, "--delta", "1e-5", "--looks", "3")
    assert code == 0
    assert said.startswith("epsilon is at least ")
    assert "with 95 % confidence" in said
    assert "the best of 3 looks" in said


@pytest.mark.parametrize(("noise", "code"), [("gaussian(2)", 1), ("gaussian(1/10)", 0)])
def test_both_sides(noise: str, code: int) -> None:
    left, said = run(*COUNTS, "--delta", "1e-5", "--mechanism", noise)
    assert left == code
    assert ("convicted" in said) == bool(code)


def test_json() -> None:
    code, said = run(*GUESSES, "--delta", "1e-5", "--mechanism", "gaussian(1)", "--json")
    record = json.loads(said)
    assert code == 0
    assert record["convicted"] is False
    assert record["outcome"] == "95 of 100 guesses right, of 1000 canaries"
    assert float(record["at_least"]["lower"]) < float(record["at_most"]["lower"])
    assert {"delta", "confidence", "looks", "method", "seconds", "version"} <= set(record)
    assert "at_most" not in json.loads(run(*GUESSES, "--json")[1])


def test_scores(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    rows = [f"{k},{int(k >= 50)}" for k in range(100)]
    path.write_text("\n".join(["score,member", *rows]), "utf-8")
    code, said = run("scores", str(path), "--threshold", "50", "--threshold", "60")
    assert code == 0
    assert "50 of 50 true positives, 0 of 50 false positives, at the threshold 50" in said
    assert "the best of 2 looks" in said
    assert run("scores", str(path), "--split", "0", "--mechanism", "pure_dp(1/10)")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["scores", "no.csv", "--split", "0"], "cannot read the file"),
        ([*COUNTS, "--delta", "2"], "delta: 2 is not accepted"),
        ([*COUNTS, "--mechanism", "gauss(1)"], "gauss"),
        (["counts", "--tp", "1"], "Missing option '--fp'"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], said: str) -> None:
    code, printed = run(*arguments)
    assert code == 2
    assert said in printed
    assert len(printed.splitlines()) == 1


def test_the_whole_profile_is_a_side_too() -> None:
    code, said = run(*GUESSES, "--delta", "1e-5", "--mechanism", "gaussian(1.4)")
    assert code == 1
    assert "so many right guesses have a probability of at most 0.02184 under it" in said
    many = ["guesses", "--canaries", "9000000", "--guesses", "9000000", "--correct", "5000000"]
    assert "too many right guesses to hold" in run(*many, "--mechanism", "gdp(9)")[1]
