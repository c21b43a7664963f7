"""A real Dask cluster of two worker processes: the same report, also if one is killed."""

import gc
import os
import signal
import time

import pytest

from dpexact.audits import Claim, audit, cluster
from dpexact.audits.cluster import cluster as executor_of
from dpexact.audits.journal import Journal
from dpexact.errors import InvalidInput

distributed = pytest.importorskip("distributed", reason="needs Dask")

CLAIMS = [
    Claim("poisson(gaussian(1.3),256/60000)^3515", "epsilon", f"0.86{i}", "1e-5", "upper")
    for i in range(10)
] + [Claim("pure_dp(1/10)^100", "delta", f"1e-{i}", "4", "upper") for i in range(1, 30)]


@pytest.fixture(scope="module")
def local():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as found:
        yield found


def outcome(report):
    return [
        (f.claim, f.verdict, f.enclosure, f.enclosure.method, f.relative_error, f.digits, f.note)
        for f in report.findings
    ]


@pytest.mark.parametrize("timeout", [None, 60])
def test_the_report_is_that_of_one_process(local, timeout):
    with executor_of(local.scheduler_address) as executor:
        report = audit(CLAIMS, executor=executor, timeout=timeout)
    assert outcome(report) == outcome(audit(CLAIMS))


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(local):
    pids = [worker.pid for worker in local.workers.values()]

    def kill(done, total):
        if done == 3:
            os.kill(pids[0], signal.SIGKILL)

    with executor_of(local.scheduler_address) as executor:
        report = audit(CLAIMS, executor=executor, progress=kill)
    assert outcome(report) == outcome(audit(CLAIMS))
    assert [worker.pid for worker in local.workers.values()] != pids


@pytest.mark.slow
def test_tasks_are_not_named_by_what_is_in_them(local):
    """Such names took ten times as long as to send the tasks; equal ones are one."""
    with executor_of(local.scheduler_address) as executor:
        one, other = (executor.submit(os.urandom, 8) for _ in range(2))
        assert one.result() != other.result()


def test_a_scheduler_that_goes_is_named(local):
    """Dask cancels what it was asked, and looks for the scheduler for half a minute."""

    def ask():
        with executor_of(local.scheduler_address) as executor:
            task = executor.submit(time.sleep, 3)
            task.cancel()
            task.result()

    with pytest.raises(InvalidInput, match=r"^scheduler: tcp://.* was lost meanwhile"):
        ask()


def test_workers_that_do_not_come_back_end_an_audit(monkeypatch, tmp_path):
    """Dask waits for others for ever; what was found is in the journal."""
    monkeypatch.setattr(cluster, "RETURN", 1)

    def ask():
        with (
            distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=":0") as few,
            executor_of(few.scheduler_address) as executor,
            Journal(tmp_path / "journal", {}) as journal,
        ):
            audit(CLAIMS[:1], executor=executor, journal=journal)
            few.scale(0)
            audit(CLAIMS[:2], executor=executor, journal=journal)

    with pytest.raises(InvalidInput, match="no workers for 1 s; a journal"):
        ask()
    assert len((tmp_path / "journal").read_text().splitlines()) == 2


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with (
        pytest.raises(InvalidInput, match=r"^scheduler: no answer from tcp://127\.0\.0\.1:1"),
        executor_of("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://127.0.0.1", "my cluster", ""])
def test_no_client_is_left_half_made(monkeypatch, address):
    """Collected while another starts, it would wait for itself for ever."""
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    gc.disable()
    try:
        with pytest.raises(InvalidInput, match=r"^scheduler: "), executor_of(address):
            pass
        clients = [x for x in gc.get_objects() if isinstance(x, distributed.Client)]
        assert all(client.status == "closed" for client in clients)
    finally:
        gc.enable()


@pytest.mark.slow
def test_no_address():
    with (
        pytest.raises(InvalidInput, match="scheduler: no answer from my cluster"),
        executor_of("my cluster"),
    ):
        pass


@pytest.mark.slow
def test_no_workers(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        pytest.raises(InvalidInput, match="has no workers"),
        executor_of(empty.scheduler_address),
    ):
        pass


@pytest.mark.slow
def test_a_worker_of_another_version(local, monkeypatch):
    monkeypatch.setattr(cluster, "_version", lambda: "0.0.0")
    with pytest.raises(InvalidInput, match=r"has dpexact .*; 0\.0\.0 is needed"):
        cluster._check_versions({"tcp://worker": "9.9"})
    with pytest.raises(InvalidInput, match="lacks dpexact"):
        cluster._check_versions({"tcp://worker": ImportError("no module named dpexact")})
