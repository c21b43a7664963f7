"""Audits: input order, executors, what counts as a claim, exit codes."""

import os
import random
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import dpexact
from dpexact.audits import Claim, audit, runner
from dpexact.audits.runner import collect
from dpexact.errors import InvalidInput

SOUND = Claim("gaussian(1)", "epsilon", "4.4", "1e-5", "upper", accountant="b 2")
UNSOUND = Claim("gaussian(1)", "epsilon", "4.3", "1e-5", "upper", accountant="a 1")
INACCURATE = Claim("gaussian(1)", "epsilon", "4", "1e-5", "estimate", accountant="a 1")
ACCURATE = Claim("gaussian(1)", "epsilon", "4.37", "1e-5", "estimate")
UNDECIDED = Claim("gaussian(1)", "epsilon", float("nan"), "1e-5", "upper")
MAPPING = {"mechanism": "gdp(1)", "claims": "delta", "epsilon": 1, "delta": "0.2", "kind": "upper"}


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ([], 0),
        ([SOUND, ACCURATE], 0),
        ([SOUND, UNDECIDED, UNSOUND], 1),
        ([INACCURATE], 1),
        ([SOUND, UNDECIDED], 3),
    ],
)
def test_exit_code(claims, code):
    assert audit(claims).exit_code == code


def test_the_report_counts_and_names_versions():
    report = audit([SOUND, UNSOUND, INACCURATE, UNDECIDED], 20, command="dpexact audit x")
    assert report.summary == {
        "unsound": 1,
        "inaccurate": 1,
        "undecided": 1,
        "accurate": 0,
        "sound": 1,
    }
    assert next(iter(report.summary)) == "unsound"
    assert report.versions["dpexact"] == dpexact.__version__
    assert report.versions["python"] == sys.version.split()[0]
    assert set(report.versions) == {"dpexact", "python", "python-flint", "flint"}
    assert report.accountants == ("a 1", "b 2")
    assert (report.command, report.digits) == ("dpexact audit x", 20)
    assert report.seconds > 0
    assert report.started.endswith("+00:00")


class Shuffled(Executor):
    """Runs tasks in a random order, on the first wait for any of them."""

    def __init__(self):
        self.pool = ThreadPoolExecutor(2)

    def submit(self, function, /, *arguments):
        def late():
            time.sleep(random.Random(str(arguments)).random() / 20)
            return function(*arguments)

        return self.pool.submit(late)


def varied(count):
    return [
        Claim("gaussian(2)^3", "epsilon", f"{2 + i / 10:.1f}", "1e-5", "upper")
        for i in range(count)
    ]


def outcome(report):
    return [(f.claim, f.verdict, f.enclosure, f.digits, f.note) for f in report.findings]


def test_order_does_not_depend_on_the_executor():
    claims = varied(20)
    alone = outcome(audit(claims))
    assert [claim for claim, *_ in alone] == claims
    shuffled = Shuffled()
    assert outcome(audit(claims, executor=shuffled)) == alone
    shuffled.pool.shutdown()


def test_worker_processes_give_the_same_report():
    claims = varied(4)
    seen = []
    report = audit(claims, jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert outcome(report) == outcome(audit(claims))
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]


SLOW = Claim("poisson(gaussian(100),256/60000)^3515", "delta", "1e-9", "1", "upper")


@pytest.mark.slow
@pytest.mark.parametrize("own_executor", [False, True])
def test_a_claim_that_takes_too_long_does_not_stop_the_others(own_executor):
    threads = ThreadPoolExecutor(1) if own_executor else None
    report = audit([SOUND, SLOW, UNSOUND], timeout=1, executor=threads)
    assert [finding.verdict for finding in report.findings] == ["sound", "undecided", "unsound"]
    assert report.findings[1].note == "no answer within 1 s of the processor"
    assert report.exit_code == 1
    if threads is not None:
        threads.shutdown()


@pytest.mark.slow
def test_an_interrupt_stops_the_processes_at_once():
    def interrupt(done, total):
        if done:
            raise KeyboardInterrupt

    started, before = time.monotonic(), active_children(os.getpid())
    with pytest.raises(KeyboardInterrupt):
        audit([SOUND, SLOW], jobs=2, timeout=60, progress=interrupt)
    assert time.monotonic() - started < 30
    assert active_children(os.getpid()) == before


def active_children(pid):
    """The processes whose parent is ``pid``, where ``/proc`` tells."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and "judging" in (status.parent / "cmdline").read_text():
            found.append(status.parent.name)
    return found


def test_progress_in_this_process():
    seen = []
    audit([SOUND, UNSOUND], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


class Losing(Executor):
    """Loses the tasks that hold the claim ``over``, as a worker that runs out of memory does."""

    def __init__(self, over):
        self.over, self.sizes = over, []

    def submit(self, function, /, batch, *arguments):
        future = Future()
        claims = [claim for chunk in batch for claim in chunk]
        self.sizes.append(len(claims))
        if self.over in claims:
            future.set_exception(OSError("worker\nkilled"))
        else:
            future.set_result(function(batch, *arguments))
        return future


def test_a_lost_claim_does_not_stop_the_others():
    claims = varied(20)
    losing = Losing(claims[7])
    report = audit(claims, executor=losing)
    assert losing.sizes == [20] + [1] * 20  # what was lost is given out again, one by one
    notes = [(finding.verdict, finding.note) for finding in report.findings]
    assert notes.pop(7) == ("undecided", "the worker was lost: OSError: worker killed")
    assert {note for _, note in notes} == {""}


def test_an_interrupt_cancels_what_waits():
    submitted = []

    class Waiting(Executor):
        def submit(self, function, /, *arguments):
            submitted.append(Future())
            if len(submitted) == 1:
                submitted[0].set_result(function(*arguments))
            return submitted[-1]

    def interrupt(done, total):
        if done:
            raise KeyboardInterrupt

    claims = [Claim(f"gaussian({sigma})", "delta", "1", "1", "upper") for sigma in (1, 2, 3)]
    with pytest.raises(KeyboardInterrupt):
        audit(claims, executor=Waiting(), progress=interrupt)
    assert [future.cancelled() for future in submitted] == [False, True, True]


def test_paths_mappings_and_claims_mix(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text("mechanism,claims,epsilon,delta,kind\ngdp(1),delta,1,0.2,upper\n")
    from_file = collect(str(path))
    assert collect(path) == from_file == collect(MAPPING) == collect(iter([MAPPING]))
    assert collect([SOUND, path, MAPPING]) == [SOUND, *from_file, *from_file]
    assert collect(SOUND) == [SOUND]


def test_a_float_in_a_mapping_is_its_binary_value():
    (found,) = collect(MAPPING | {"delta": 0.2})
    assert found.claimed.fraction == Fraction(0.2) != Fraction(1, 5)


@pytest.mark.parametrize(
    ("claims", "message"),
    [
        (3, "claims: 3 is neither"),
        ([SOUND, 3], "claim 2: 3 is neither"),
        ([SOUND, MAPPING | {"knid": 1}], "claim 2: unknown key 'knid'"),
        ([MAPPING | {"delta": float("nan")}], "claim 1: delta: nan cannot be claimed"),
        ([{}], "claim 1: key 'mechanism' is missing"),
        (Path("absent.yaml"), "absent.yaml: cannot read the file"),
    ],
)
def test_what_is_no_claim(claims, message):
    with pytest.raises(InvalidInput, match=f"^{message}"):
        audit(claims)


@pytest.mark.parametrize(
    "options",
    [
        {"digits": 0},
        {"jobs": 0},
        {"jobs": 10**6},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
    ],
)
def test_bad_options(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        audit([SOUND], **options)


def test_a_single_claim_needs_no_processes(monkeypatch):
    monkeypatch.setattr(runner, "ThreadPoolExecutor", None)
    assert audit([SOUND], jobs=os.cpu_count() + 1).exit_code == 0
