"""An audit that is killed goes on from its journal: nothing lost, nothing doubled."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

CASES = [
    {
        "mechanism": f"poisson(gaussian({sigma}/10), 1/100)^1000",
        "claims": "epsilon",
        "epsilon": f"{value}",
        "delta": "1e-6",
        "kind": "upper",
        "id": f"{sigma}-{value}",
    }
    for sigma in range(8, 18)
    for value in (1, 2, 3)
]


def command(folder, name, jobs, *options):
    """The audit, with its report in a file of that name."""
    claims = folder / "claims.json"
    claims.write_text(json.dumps({"claims": CASES}))
    options = ["--jobs", str(jobs), "--digits", "40", "--json", str(folder / name), *options]
    return [sys.executable, "-m", "dpexact", "audit", str(claims), *options]


def found_in(report):
    """The findings, whatever time they took."""
    return [{**row, "seconds": 0} for row in json.loads(report.read_text())["claims"]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What one process finds that nobody interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run(command(folder, "whole.json", 1), stdout=subprocess.DEVNULL, check=False)
    return found_in(folder / "whole.json")


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed(tmp_path, how, jobs, whole):
    journal = tmp_path / "findings.jsonl"
    resuming = command(tmp_path, "resumed.json", jobs, "--journal", str(journal))
    first = subprocess.Popen(resuming, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while first.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 5):
        time.sleep(0.01)
    os.kill(first.pid, how)
    said = first.communicate()[1].decode()
    assert first.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130), said
    assert not (tmp_path / "resumed.json").exists()
    kept = journal.read_bytes().count(b"\n") - 1
    assert 4 <= kept < len(CASES)
    if how == signal.SIGINT:
        assert (
            said
            == f"dpexact: interrupted; {journal} keeps what was found, the same command goes on\n"
        )

    assert subprocess.run(resuming, stdout=subprocess.DEVNULL, check=False).returncode == 1
    assert journal.read_bytes().count(b"\n") == 1 + len(CASES)
    found = found_in(tmp_path / "resumed.json")
    assert found == whole
    assert [row["id"] for row in found] == [case["id"] for case in CASES]
