"""Files written whole or not at all."""

from __future__ import annotations

import csv
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dpexact.errors import DpexactError, InvalidInput, NotWritten
from dpexact.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Largest file that is read, in bytes.
MAX_BYTES: Final = 64 << 20


@contextmanager
def refusing(
    what: str, otherwise: str = "", kind: type[DpexactError] = InvalidInput
) -> Iterator[None]:
    """An error of ``kind`` says in one line why a file is no use inside: ``what``, and the system.

    Of what that has no words for, as a text that is not UTF-8, ``otherwise`` is said, or the error.
    """
    try:
        yield
    except (DpexactError, BrokenPipeError):  # who closes a pipe has read enough
        raise
    # a NUL in a path is a ValueError, links in a circle a RuntimeError
    except (OSError, ValueError, RuntimeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or otherwise or str(error)
        raise kind(f"{what}: {reason}") from None


def read_text(path: str | os.PathLike[str], most: int = MAX_BYTES) -> str:
    """The text, in UTF-8, of a file of at most so many bytes; of a device no more are read.

    Raises:
        OSError, ValueError: it cannot be read, is larger, or holds something else.
    """
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes")
    return content.decode("utf-8-sig")


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write bytes, or text as UTF-8, to ``path``; a reader sees the old file or the new one.

    Links are followed, the mode of an old file is kept, and devices and pipes are written directly.

    Raises:
        NotWritten: ``path`` is a directory or cannot be written; nothing has changed then.
        BrokenPipeError: ``path`` is a pipe that nobody reads any more.
    """
    with refusing(f"{visible(os.fspath(path))}: cannot write", kind=NotWritten):
        _write(Path(path), content.encode("utf-8") if isinstance(content, str) else content)


def write_figure(axes: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``axes`` in the format that the suffix of ``path`` names, atomically.

    Raises:
        InvalidInput: an unknown suffix, or ``path`` cannot be written.
    """
    kind = Path(path).suffix.lstrip(".").lower()
    known = sorted(axes.figure.canvas.get_supported_filetypes())
    if kind not in known:
        raise InvalidInput(f"{visible(os.fspath(path))}: suffix must be one of {', '.join(known)}")
    content = io.BytesIO()
    axes.figure.canvas.print_figure(content, format=kind, bbox_inches="tight")
    write_atomically(path, content.getvalue())


def _write(path: Path, content: bytes) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None and not stat.S_ISREG(mode):  # /dev/stdout, a pipe; a directory refuses
        path.write_bytes(content)
        return
    target = path.resolve()
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse a ``path`` that can plainly not be written, before long work is lost on it.

    Raises:
        InvalidInput: it is a directory, its name is too long, or its folder does not exist or
            refuses new files.
    """
    target, shown = Path(path), f"{visible(os.fspath(path))}: cannot write"
    with refusing(shown):
        folder = target.resolve().parent
        if target.is_dir():
            reason = "it is a directory"
        elif not folder.is_dir():
            reason = "its folder does not exist"
        elif not os.access(folder, os.W_OK):
            reason = "its folder is not writable"
        else:
            return
        raise InvalidInput(f"{shown}: {reason}")
