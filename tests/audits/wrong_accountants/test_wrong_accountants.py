"""Deliberately wrong accountants are rejected, claim by claim; the controls are not."""

import runpy
from pathlib import Path

import pytest

from dpexact.audits import Claim, judge
from dpexact.comparison import RIGHT, WRONG


def accountants(name):
    path = Path(__file__).with_name(f"{name}_accountants.py")
    return [pytest.param(f, id=f.__name__) for f in runpy.run_path(str(path))["ACCOUNTANTS"]]


def verdicts(accountant):
    findings = [judge(Claim(*claim)) for claim in accountant()]
    assert findings, "an accountant without claims tests nothing"
    return {f"{f.claim.mechanism}: {f.claim.statement}": f.verdict for f in findings}


@pytest.mark.parametrize("accountant", accountants("wrong"))
def test_wrong_accountants_are_rejected(accountant):
    found = verdicts(accountant)
    assert set(found.values()) <= WRONG, found


@pytest.mark.parametrize("accountant", accountants("right"))
def test_controls_are_accepted(accountant):
    found = verdicts(accountant)
    assert set(found.values()) <= RIGHT, found
