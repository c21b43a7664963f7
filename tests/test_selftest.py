import json

import pytest
from command_line import invoke
from flint import arb

import dpexact
from dpexact import balls, selftest
from dpexact.enclosure import Enclosure


@pytest.mark.slow
def test_every_check_passes_and_is_reported(monkeypatch):
    result = invoke("selftest", "--json")
    found = json.loads(result.output)
    assert result.exit_code == 0, result.output
    assert found["passed"]
    assert len(found["checks"]) == 30
    assert all(check["passed"] for check in found["checks"])
    assert found["seconds"] < 20


@pytest.mark.slow
def test_progress_and_seed():
    seen = []
    names = [check.name for check in selftest.selftest(7, lambda *at: seen.append(at))]
    assert seen == [(n, len(names)) for n in range(1, len(names) + 1)]
    assert len({*names}) == len(names)
    assert names != [check.name for check in selftest.selftest(8)]


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1 + 1e-9, 1 - 1e-9])
def test_an_answer_that_is_wrong_is_found(monkeypatch, shift):
    right = selftest._ask

    def wrong(*arguments):
        found = right(*arguments)
        if found.is_exact:
            return found
        factor = dpexact.conversion.real(shift).fraction
        return Enclosure(found.lower * factor, found.upper * factor)

    monkeypatch.setattr(selftest, "_ask", wrong)
    result = invoke("selftest")
    assert result.exit_code == 1
    assert result.output.count("✗") > 15
    assert "wrong" in result.output.splitlines()[-1]
    assert "disagrees" in result.output


def test_a_flint_that_is_wrong_is_found(monkeypatch):
    right = balls.to_enclosure
    monkeypatch.setattr(balls, "to_enclosure", lambda ball: right(ball + arb(2) ** -150))
    assert not selftest._flint()[0]
