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


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed(tmp_path, how, jobs):
    claims, journal = tmp_path / "claims.json", tmp_path / "findings.jsonl"
    claims.write_text(json.dumps({"claims": CASES}))

    def command(name, *options):
        report = tmp_path / name
        options = ["--jobs", str(jobs), "--digits", "40", "--json", str(report), *options]
        return [sys.executable, "-m", "dpexact", "audit", str(claims), *options]

    resuming = command("resumed.json", "--journal", str(journal))
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
    subprocess.run(command("whole.json"), stdout=subprocess.DEVNULL, check=False)
    reports = [json.loads((tmp_path / name).read_text()) for name in ("resumed.json", "whole.json")]
    found, whole = ([{**row, "seconds": 0} for row in report["claims"]] for report in reports)
    assert found == whole
    assert [row["id"] for row in found] == [case["id"] for case in CASES]
