"""Judgement in child processes: the same findings, and lost children are replaced."""

import os
import signal
import sys
from dataclasses import replace

import pytest

from dpexact.audits import Claim, judging, verdicts
from dpexact.audits.claims import Place
from dpexact.audits.judging import Judges
from dpexact.audits.verdicts import judge, judge_together
from dpexact.conversion import real

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


def grid(mechanism, count=12):
    """Claims about one mechanism, at several arguments and with some arguments twice."""
    deltas = [
        Claim(mechanism, "epsilon", f"{1 + i / 4}", f"1e-{1 + i // 2}", "upper")
        for i in range(count)
    ]
    return deltas + [
        Claim(mechanism, "delta", f"1e-{i}", f"{i // 2}/2", "lower") for i in range(1, count)
    ]


@pytest.mark.parametrize(
    "mechanism",
    [
        "pure_dp(1/10)^30",
        "gaussian(1)^2 * approx_dp(0, 1e-3)",
        pytest.param("poisson(gaussian(1), 1/100)^300", marks=pytest.mark.slow),
        "poisson(pure_dp(1), 1/10)^3",
        "zcdp(1/10) * gaussian(3)",
    ],
)
def test_together_they_are_judged_as_alone(mechanism):
    claims = grid(mechanism)
    for found in judge_together(claims):
        alone = judge(found.claim)
        assert (found.verdict, found.grade, found.note) == (
            alone.verdict,
            alone.grade,
            alone.note,
        )
        assert found.enclosure.overlaps(alone.enclosure)
        assert found.enclosure.digits >= min(alone.enclosure.digits, 15)
    assert [found.claim for found in judge_together(claims)] == claims


def test_what_cannot_be_shared_is_asked_alone(monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError

    monkeypatch.setitem(verdicts._MANY, "epsilon", broken)
    claims = grid("gaussian(1)", 3)
    assert [known(f) for f in judge_together(claims)] == [known(judge(c)) for c in claims]


def test_a_question_is_asked_once(monkeypatch):
    asked = []
    once = verdicts._asked
    monkeypatch.setattr(verdicts, "_asked", lambda *a: asked.append(a) or once(*a))
    claims = [replace(CLAIM, claimed=real(str(6 + i)), id=str(i)) for i in range(9)]
    assert len({f.verdict for f in judge_together(claims)}) == 2
    assert len(asked) == 1


#: A child that dies over the claim "bomb", and works for ever over the claim "slow".
BOMB = """
import os
from dpexact.audits import judging
from dpexact.audits.children import answer_requests

def answers(request):
    for chunk in (request or {"chunks": []})["chunks"]:
        for claim in chunk:
            if claim["id"] == "bomb":
                os._exit(9)
            while claim["id"] == "slow":
                pass
    yield from judging._answers(request)

answer_requests(answers)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "note"),
    [("bomb", "it ended with code 9"), ("slow", "no answer within 2 s of the processor")],
)
def test_no_claim_suffers_for_another(judges, monkeypatch, name, note):
    monkeypatch.setattr(judging, "_COMMAND", (sys.executable, "-c", BOMB))
    claims = [replace(CLAIM, id=name if i == 2 else str(i)) for i in range(4)]
    found = list(judges.together([claims[:3], claims[3:]], 15, 2))
    assert [(f.claim, f.verdict) for f in found] == [
        (claim, "undecided" if claim.id == name else "unsound") for claim in claims
    ]
    assert found[2].note == note
