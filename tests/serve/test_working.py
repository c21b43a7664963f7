"""The child: answers, its limits, and that it lives through what it cannot answer."""

import json
import subprocess
import sys

import pytest
from served_pages import ENDLESS

from dpexact.audits.children import Child, ChildLost
from dpexact.serve import working

COMMAND = [sys.executable, "-m", "dpexact.serve.working"]


@pytest.fixture
def child():
    child = Child(COMMAND)
    yield child
    child.close()


def request(seconds=60, part="answer", **fields):
    return {"part": part, "fields": fields, "seconds": seconds}


@pytest.mark.slow
def test_it_answers_one_after_the_other(child):
    assert child.ask(None, 60) is None
    assert child.ask(request(), 60)["spoken"] == "epsilon at most 2.378018"
    assert child.ask(request(nonsense="1"), 60)["error"].startswith("unknown field")
    assert child.ask(request(part="question"), 60)["quantity"] == "epsilon"


@pytest.mark.slow
def test_the_processor_is_limited(child):
    pytest.importorskip("resource")
    child.ask(None, 60)
    with pytest.raises(ChildLost, match="killed by signal 24"):
        child.ask(request(2, **ENDLESS), 60)


@pytest.mark.slow
def test_the_seconds_count_from_the_request(child):
    pytest.importorskip("resource")
    for _ in range(4):  # together longer than one may take
        assert "spoken" in child.ask(request(2, "answer"), 60)
        assert "html" in child.ask(request(2, "curve"), 60)


@pytest.mark.slow
def test_memory_that_is_not_there_is_an_answer():
    """In a process of its own: limits cannot be taken back."""
    code = """
import json, resource
from dpexact.serve import parts, working
def hungry(form):
    return {"html": "x" * (8 << 30)}
parts.PARTS["answer"] = hungry
print(json.dumps(working.answer({"part": "answer", "fields": {}, "seconds": 60})))
"""
    pytest.importorskip("resource")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["error"] == "this needs more than 4 GiB of memory"


def test_a_defect_is_told(monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.setattr(working, "_limit", lambda seconds: None)
    monkeypatch.setattr(working, "part", broken)
    found = working.answer(request())
    assert found["error"].startswith("internal error: ZeroDivisionError: one two; this is a defect")
    assert working.answer(None) is None
