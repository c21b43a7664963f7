"""Volumes, determinism, and the guard on FLINT's precision."""

from __future__ import annotations

import gc
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import flint
import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))  # the tests share the module oracles

from oracles import DEFAULT, SCALE, scaled

settings.register_profile(
    "dpexact",
    deadline=None,
    derandomize=SCALE <= 1,  # larger volumes are nightly runs: new examples, printed blobs
    print_blob=SCALE > 1,
    database=None,
    max_examples=scaled(100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dpexact")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file runs in one worker, so what is made for all its tests is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log)


def pytest_collection_modifyitems(config, items):
    """In a quick look a test function runs on a sample of its cases, evenly spaced."""
    if SCALE >= DEFAULT:
        return
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    sample = {id(item) for of in cases.values() for item in of[:: -(-len(of) // scaled(20))]}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in sample])
    items[:] = [item for item in items if id(item) in sample]


def pytest_collection_finish(session):
    """What was collected stays: looking through it for garbage took a tenth of the processor."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _precision_is_restored() -> Iterator[None]:
    before = flint.ctx.prec
    yield
    after, flint.ctx.prec = flint.ctx.prec, before
    assert after == before, f"the test left FLINT's precision at {after} bits"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Children can be interrupted, also where background jobs, and so these tests, ignore that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
