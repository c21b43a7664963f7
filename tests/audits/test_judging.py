"""Judgement in child processes: the same findings, and lost children are replaced."""

import os
import signal

import pytest

from dpexact.audits import Claim, judging
from dpexact.audits.claims import Place
from dpexact.audits.judging import Judges
from dpexact.audits.verdicts import judge

CLAIM = Claim("gaussian(1)^3", "epsilon", "4.4", "1e-5", "upper", "a\nsource", "id")


@pytest.fixture
def judges():
    with Judges() as judges:
        yield judges


def known(finding):
    return finding.claim, finding.verdict, finding.enclosure, finding.relative_error


def test_a_child_finds_what_this_process_finds(judges):
    found = judges.judge(CLAIM, 20, 60)
    assert known(found) == known(judge(CLAIM, 20))
    assert found.enclosure.method == judge(CLAIM, 20).enclosure.method


def test_a_finding_of_a_child_keeps_the_place_of_the_claim(judges):
    claim = Claim("pure_dp(1)", "epsilon", "1", "0", "upper", place=Place("claims.yaml", 7))
    assert judges.judge(claim, 15, None).claim.place == Place("claims.yaml", 7)


def test_a_child_that_was_killed_is_replaced(judges):
    judges.judge(CLAIM, 15, 60)
    (child,) = judges._idle
    os.kill(child.pid, signal.SIGKILL)
    assert judges.judge(CLAIM, 15, 60).verdict == "unsound"
    assert [other.pid for other in judges._idle] != [child.pid]


def test_a_claim_that_kills_every_child_is_undecided(judges, monkeypatch):
    monkeypatch.setattr(judging, "_COMMAND", ("false",))
    found = judges.judge(CLAIM, 15, 60)
    assert (found.verdict, found.note) == ("undecided", "it ended with code 1")


def test_a_child_is_used_again(judges):
    pids = []
    for _ in range(3):
        judges.judge(CLAIM, 15, 60)
        pids += [child.pid for child in judges._idle]
    assert len(pids) == 3
    assert len(set(pids)) == 1


def test_nothing_is_judged_after_the_end(judges):
    judges.close()
    assert judges.judge(CLAIM, 15, 60).note == "the audit was stopped"
