"""Advisories: a cause for every recorded defect, and pages whose tests tell defect from mend."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import invoke

from dpexact.advisories import advisories, recorded_causes
from dpexact.audits import Claim, Report, audit, bench

UPPER = Claim(
    "gaussian(1)", "epsilon", "4.3", "1e-5", "upper", id="wrong-1.0", source="some 1.0: ask(1); why"
)
ESTIMATE = replace(UPPER, kind="estimate", claimed="5", tolerance="1/10", id="far")


def judged(*claims: Claim) -> Report:
    return audit(list(claims))


def page(claim: Claim) -> str:
    return advisories(judged(claim), recorded_causes())[f"{claim.id}.md"]


def test_of(text: str) -> str:
    found = re.search(r"```python\n(def test_.*?)```", text, re.S)
    assert found
    return found[1]


test_of.__test__ = False  # type: ignore[attr-defined]


def passes(code: str, value: float) -> bool:
    """Whether the test of a page passes where the call returns ``value``."""
    names: dict[str, Any] = {"ask": lambda _: value}
    exec(code, names)
    try:
        next(test for name, test in names.items() if name.startswith("test_"))()
    except AssertionError:
        return False
    return True


@pytest.mark.slow
def test_every_recorded_defect_has_a_cause_and_a_test_that_parses() -> None:
    wrong = [claim for claim in bench.bench() if claim.expect in ("unsound", "inaccurate")]
    written = advisories(audit(wrong), recorded_causes())
    pages = {name: text for name, text in written.items() if name.endswith(".md")}
    assert len(pages) > 30
    for name, text in pages.items():
        assert "Not known" not in text, name
        ast.parse(test_of(text))
    proofs = [text for name, text in written.items() if name.endswith(".certificate.json")]
    assert len(proofs) > 0.8 * len(pages)
    names = [claim.id for claim in wrong]
    for cause in recorded_causes():  # none is left over
        for pattern in cause.of:
            assert any(re.fullmatch(pattern.replace("*", ".*"), name) for name in names), pattern


def test_a_page_says_what_was_called_and_what_is_certified() -> None:
    text = page(UPPER)
    assert text.startswith("# some 1.0: an upper bound is below the truth (`wrong-1.0`)")
    assert "```python\nask(1)\n```\n\nWhy.\n" in text
    assert "It accounts for `gaussian(1)`: epsilon at delta = 0.00001." in text
    assert "[4.37717809568122, 4.37717809568123]" in text
    assert "Grade: gross" in text
    assert "Not known" in text  # no cause is recorded for it


def test_the_test_of_an_upper_bound() -> None:
    code = test_of(page(UPPER))
    assert not passes(code, 4.3)
    assert not passes(code, 4.377178095)
    assert passes(code, 4.3771780957)


def test_the_test_of_an_estimate() -> None:
    code = test_of(page(ESTIMATE))
    assert [passes(code, value) for value in (3.9, 3.95, 4.8, 4.82)] == [False, True, True, False]


def test_the_test_of_a_lower_bound() -> None:
    code = test_of(page(replace(UPPER, kind="lower", claimed="4.4")))
    assert [passes(code, value) for value in (4.37, 4.38)] == [True, False]


def test_the_test_of_chosen_noise_asks_for_what_was_promised() -> None:
    code = test_of(page(replace(UPPER, source="some 1.0: choose(4.3) chose this noise")))
    assert 'assert dpexact.epsilon(mechanism, "0.00001", direction="both").upper <= 4.3' in code


def test_what_is_right_or_rounding_gets_no_page() -> None:
    right = replace(UPPER, claimed="4.4")
    rounded = replace(UPPER, claimed="4.37717809568122")
    assert advisories(judged(right, rounded), recorded_causes()) == {}


def test_the_certificate_stands_alone(tmp_path: Path) -> None:
    written = advisories(judged(UPPER), recorded_causes())
    path = tmp_path / "wrong-1.0.certificate.json"
    path.write_text(written[path.name])
    assert json.loads(written[path.name])["findings"][0]["id"] == "wrong-1.0"
    command = [sys.executable, "-m", "dpexact.certificate_checker", str(path)]
    assert subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "bench", lambda: [UPPER, ESTIMATE])
    folder = tmp_path / "new" / "pages"
    arguments = ["audit", "bench", "--jobs", "1", "--advisories"]
    assert invoke(*arguments, folder).exit_code == 0
    names = sorted(path.name for path in folder.iterdir())
    assert [name for name in names if name.endswith(".md")] == ["far.md", "wrong-1.0.md"]
    taken = tmp_path / "file"
    taken.touch()
    refused = invoke(*arguments, taken / "below")
    assert refused.exit_code == 2
    assert "cannot make" in refused.output
