"""Files are written whole or not at all."""

import os
import stat
import threading

import pytest

from dpexact import files
from dpexact.errors import InvalidInput
from dpexact.files import check_writable, write_atomically


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "report.html"
    write_atomically(path, "one ε")
    assert path.read_text(encoding="utf-8") == "one ε"
    write_atomically(str(path), "two")
    assert path.read_text() == "two"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    plain, path = tmp_path / "plain", tmp_path / "report"
    plain.write_text("")
    write_atomically(path, "")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    path.chmod(0o640)
    write_atomically(path, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "report"
    path.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InvalidInput, match=r"report: cannot write: No space left on device$"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_an_interrupt_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "report"
    path.write_text("old")

    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]


def test_paths_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path, reason in [
        (tmp_path, "Is a directory"),
        (tmp_path / "absent" / "report", "No such file"),
        (tmp_path / "file" / "report", "Not a directory"),
        (tmp_path / ("x" * 300), "File name too long"),
        (str(tmp_path / "a\0b"), "null"),
        (tmp_path / "absent" / "two\nlines", "No such file"),
    ]:
        with pytest.raises(InvalidInput, match=f"cannot write: .*{reason}") as caught:
            write_atomically(path, "text")
        assert "\n" not in str(caught.value)
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_is_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_directly(tmp_path):
    # a pipe of our own, never a device of the machine: code that is wrong would replace it
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    write_atomically(pipe, "through")
    reader.join(10)
    assert received == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="descriptors have no paths")
def test_a_pipe_that_nobody_reads_is_no_failure_of_a_file():
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        write_atomically(f"/dev/fd/{writing}", "text")
    os.close(writing)


def test_a_path_can_be_checked_before_the_work(tmp_path):
    check_writable(tmp_path / "report")
    assert os.listdir(tmp_path) == []
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for path in (tmp_path, tmp_path / "absent" / "report", tmp_path / ("x" * 300), "a\0b", circle):
        with pytest.raises(InvalidInput, match="cannot write") as caught:
            check_writable(path)
        assert "\n" not in str(caught.value)
