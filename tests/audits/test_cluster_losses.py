"""A Dask cluster that loses workers: every claim has one finding, and the journal has it once."""

import json
import os
import random
import signal
from collections import Counter

import pytest

from dpexact.audits import Claim, audit
from dpexact.audits.cluster import cluster as executor_of
from dpexact.audits.journal import Journal
from dpexact.audits.reports import JsonLines

distributed = pytest.importorskip("distributed", reason="needs Dask")

COUNT = 600
KILLS = (40, 150, 300, 450)


def claims():
    return [
        Claim(
            f"gaussian({1 + i % 97}/10)^{1 + i % 5}",
            "delta",
            "1e-3",
            f"{i}/300",
            "upper",
            id=str(i),
        )
        for i in range(COUNT)
    ]


@pytest.mark.slow
def test_workers_killed_in_the_middle_lose_nothing(tmp_path):
    chance = random.Random(3)
    asked = claims()
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as local,
        executor_of(local.scheduler_address) as executor,
        Journal(tmp_path / "journal", {}) as journal,
        JsonLines(tmp_path / "lines") as lines,
    ):
        killed = []

        def kill(done, total):
            if len(killed) < len(KILLS) and done >= KILLS[len(killed)]:
                pids = {worker.pid for worker in local.workers.values() if worker.pid}
                if pids := sorted(pids - set(killed)):  # on a busy machine none may be back yet
                    killed.append(chance.choice(pids))
                    os.kill(killed[-1], signal.SIGKILL)

        report = audit(asked, executor=executor, journal=journal, progress=kill, found=lines.found)
        lines.end(report)
    assert len(killed) >= 2
    assert [finding.claim for finding in report.findings] == asked
    alone = audit(asked)
    assert [f.verdict for f in report.findings] == [f.verdict for f in alone.findings]
    assert [f.enclosure for f in report.findings] == [f.enclosure for f in alone.findings]
    journalled = [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines()[1:]]
    assert Counter(entry["claim"]["id"] for entry in journalled) == Counter(map(str, range(COUNT)))
    written = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert [entry["id"] for entry in written[:-1]] == [str(i) for i in range(COUNT)]
    assert written[-1]["summary"]["claims"] == COUNT
