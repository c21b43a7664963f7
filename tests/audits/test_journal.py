"""The journal: exact, complete after any interruption, and refused where it does not fit."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.audits import Claim, audit, runner
from dpexact.audits.claims import Place
from dpexact.audits.journal import Answer, Journal, finding_of_json, finding_to_json
from dpexact.audits.runs import Failure
from dpexact.audits.verdicts import Finding
from dpexact.comparison import VERDICTS
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, NotWritten

SETTINGS = {"digits": 15}
CLAIMS = [
    Claim("gaussian(1)", "epsilon", f"4.{i}", "1e-5", "upper", source=f"number {i}")
    for i in range(6)
]

BOUNDS = st.one_of(st.fractions(), st.just(math.inf), st.just(Fraction(1, 7**5000)))


def enclosures():
    return st.tuples(BOUNDS, BOUNDS, st.text(max_size=9)).map(
        lambda t: Enclosure(min(t[:2]), max(t[:2]), t[2])
    )


def claims():
    return st.builds(
        Claim,
        mechanism=st.sampled_from(
            ["pure_dp(log(3/2))^7", "poisson(gaussian(1.3), 1/7)^9 * gdp(2)"]
        ),
        quantity=st.sampled_from(["epsilon", "delta"]),
        claimed=st.one_of(st.fractions(0), st.sampled_from(["log(3)", "inf", "nan"])),
        at=st.fractions(0, 1),
        kind=st.sampled_from(["upper", "lower", "estimate"]),
        source=st.text(max_size=20),
        id=st.text(max_size=5),
        direction=st.sampled_from(["add", "remove", "both"]),
        accountant=st.text(max_size=5),
    )


@given(
    st.builds(
        Finding,
        claim=claims(),
        verdict=st.sampled_from(VERDICTS),
        enclosure=enclosures(),
        relative_error=st.none() | enclosures(),
        digits=st.integers(1, 999),
        seconds=st.floats(0, 1e6),
        note=st.text(max_size=20),
    )
)
def test_a_finding_survives_the_trip(finding):
    line = json.dumps(finding_to_json(finding))
    back = finding_of_json(json.loads(line))
    if isinstance(finding.claim.claimed, float) and math.isnan(finding.claim.claimed):
        assert math.isnan(back.claim.claimed)
    else:
        assert back == finding
    assert back.enclosure.method == finding.enclosure.method
    assert json.dumps(finding_to_json(back)) == line


def test_an_audit_goes_on_from_its_journal(tmp_path):
    path, doubled = tmp_path / "j", [*CLAIMS, *CLAIMS[:2]]
    with Journal(path, SETTINGS) as journal:
        whole = audit(doubled, journal=journal)
    content = path.read_bytes()
    lines = content.splitlines(keepends=True)
    assert len(lines) == 1 + len(doubled)
    for size in {0, 1, len(lines[0]) - 1, *map(len, [b"".join(lines[:4]), content]), 700, 1500}:
        path.write_bytes(content[:size])
        if content[:size] and b"\n" not in content[:size]:
            with pytest.raises(InvalidInput, match="it is not a journal of an audit"):
                Journal(path, SETTINGS)
            continue
        with Journal(path, SETTINGS) as journal:
            assert audit(doubled, journal=journal).findings[0].claim == CLAIMS[0]
        again = path.read_bytes()
        kept = content[:size].rpartition(b"\n")[0]
        assert again.startswith(kept)
        assert len(again.splitlines()) == len(lines)
    with Journal(path, SETTINGS) as journal:
        once_more = audit(doubled, journal=journal)
    assert [f.verdict for f in once_more.findings] == [f.verdict for f in whole.findings]
    assert path.read_bytes() == again


def test_known_findings_are_not_judged_again(tmp_path, monkeypatch):
    with Journal(tmp_path / "j", SETTINGS) as journal:
        first = audit(CLAIMS, journal=journal)
    monkeypatch.setattr(runner, "judge_together", None)
    told = []
    with Journal(tmp_path / "j", SETTINGS) as journal:
        second = audit(
            reversed(CLAIMS), journal=journal, progress=lambda *numbers: told.append(numbers)
        )
    assert second.findings == first.findings[::-1]
    assert told == [(6, 6)]


def test_a_claim_that_moved_in_its_file_is_known(tmp_path):
    old, new = (replace(CLAIMS[0], place=Place("claims.yaml", line)) for line in (2, 9))
    with Journal(tmp_path / "journal", SETTINGS) as journal:
        audit([old], journal=journal)
    with Journal(tmp_path / "journal", SETTINGS) as journal:
        found = journal.take(new)
    assert found is not None
    assert found.claim.place == Place("claims.yaml", 9)


def test_other_settings_are_refused(tmp_path):
    Journal(tmp_path / "j", SETTINGS).__exit__(None, None, None)
    with pytest.raises(InvalidInput, match="written with digits 15, not 30; use another file"):
        Journal(tmp_path / "j", {"digits": 30})


def test_a_second_audit_cannot_write_to_it(tmp_path):
    pytest.importorskip("fcntl", reason="files are locked on POSIX systems only")
    with Journal(tmp_path / "j", SETTINGS), pytest.raises(InvalidInput, match="another audit"):
        Journal(tmp_path / "j", SETTINGS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"my thesis", "it is not a journal of an audit"),
        (b"my thesis\n", "line 1 is not of a journal"),
        (b"{}\n", "it is not a journal"),
        (b'{"format": "dpexact journal 2", "digits": 15}\n{}\n', "line 2 is not of a journal"),
        (b'{"format": "dpexact journal 2", "digits": 15}\n\xff\n', "line 2 is not of"),
    ],
)
def test_what_is_no_journal_is_left_alone(tmp_path, content, message):
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        Journal(path, SETTINGS)
    assert path.read_bytes() == content


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        Journal(tmp_path, SETTINGS)
    with pytest.raises(InvalidInput, match="it is not a regular file"):
        Journal("/dev/null", SETTINGS)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_disk_that_is_full(tmp_path, monkeypatch):
    """The file is named, also where closing it fails once more."""
    journal = Journal(tmp_path / "j", SETTINGS)
    journal._file.close()
    monkeypatch.setattr(journal, "_file", open("/dev/full", "wb"))  # noqa: SIM115
    with pytest.raises(NotWritten, match="j: cannot be written: No space left on device"), journal:
        audit(CLAIMS, journal=journal)


def test_answers_are_kept(tmp_path):
    failure = Failure("a case", "a call", "it crashed")
    with Journal(tmp_path / "j", SETTINGS) as journal:
        journal.write_answer("first", Answer(tuple(CLAIMS[:2])))
        journal.write_answer("second", Answer(failure=failure))
    with Journal(tmp_path / "j", SETTINGS) as journal:
        assert journal.answer("first") == Answer(tuple(CLAIMS[:2]))
        assert journal.answer("second") == Answer(failure=failure)
        assert journal.answer("third") is None
        assert journal.take(CLAIMS[0]) is None  # a claim is not yet a finding


@pytest.mark.parametrize(
    "damage",
    [
        {"enclosure": [1, 2, "m"]},
        {"enclosure": ["1/0", "1/1", "m"]},
        {"enclosure": ["2/1", "1/1", "m"]},
        {"enclosure": ["nan", "1/1", "m"]},
        {"relative_error": 3},
        {"digits": math.inf},
        {"digits": math.nan},
        {"seconds": "x"},
        {"verdict": ["sound"]},
        {"verdict": "sound"},
        {"enclosure": ["3/1", "3/1", "m"]},
        {"claim": None},
        {"claim": {"mechanism": "gdp(1)"}},
        {"question": [], "claims": [], "failure": None},
        {"question": "q", "claims": 1, "failure": None},
        {"question": "q", "claims": [], "failure": {"x": 1}},
    ],
    ids=str,
)
def test_a_damaged_line_is_named(tmp_path, damage):
    finding = finding_to_json(audit(CLAIMS[:1]).findings[0])
    lines = [{"format": "dpexact journal 2", **SETTINGS}, finding, finding | damage]
    path = tmp_path / "j"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InvalidInput, match="line 3 is not of a journal"):
        Journal(path, SETTINGS)


def test_a_deeply_nested_line_is_named(tmp_path):
    path = tmp_path / "j"
    path.write_bytes(b"[" * 100_000 + b"\n")
    with pytest.raises(InvalidInput, match="line 1 is not of a journal"):
        Journal(path, SETTINGS)


def test_a_journal_of_an_earlier_form_says_so(tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text('{"format": "dpexact journal 1", "digits": 15}\n{}\n')
    with pytest.raises(InvalidInput, match=r"form 'dpexact journal 1', not .*; use another file"):
        Journal(path, SETTINGS)
