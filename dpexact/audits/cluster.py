"""A Dask cluster as the executor of an audit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dpexact.errors import InvalidInput
from dpexact.visible import visible

if TYPE_CHECKING:
    from distributed import Client

#: Seconds to wait for the scheduler, and again for its first worker.
PATIENCE: Final = 10

#: Seconds in which workers must come back after the last was lost.
RETURN: Final = 60


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The executor of the Dask scheduler at ``address``, such as ``tcp://host:8786``.

    Tasks go to whichever worker is free; those of a worker that dies go to another.

    Raises:
        InvalidInput: Dask is not installed, no scheduler answers there or later, it has no workers
            or has lost them all, or a worker has another version of dpexact or none.
    """
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError:
        raise InvalidInput('scheduler: needs Dask; pip install "dpexact[cluster]"') from None
    try:
        # an address that a client refuses leaves one half made, which waits for itself for ever if
        # it is collected while another starts
        get_address_host_port(address, strict=True)
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        said = " ".join(str(error).split())
        raise InvalidInput(f"scheduler: no answer from {visible(address)}: {said}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise InvalidInput(f"scheduler: {visible(address)} has no workers") from None
        _check_versions(client.run(_version, on_error="return"))
        # each task is one of its own: names made of all that is in it take longer than to judge it
        with client.get_executor(pure=False) as executor, _watched(client, executor):
            try:
                yield executor
            except CancelledError:
                raise InvalidInput(
                    f"scheduler: {visible(address)} was lost meanwhile, or had no workers for "
                    f"{RETURN} s; a journal, if one is kept, has what was found"
                ) from None


@contextmanager
def _watched(client: Client, executor: Executor) -> Iterator[None]:
    """Cancel what waits for workers that do not come back: Dask would wait for ever."""
    ended = threading.Event()

    def watch() -> None:
        try:
            while not ended.wait(RETURN / 60):
                client.wait_for_workers(1, timeout=RETURN)
        except Exception:  # a scheduler that is lost has cancelled everything itself
            executor.shutdown(wait=False)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _version() -> str:
    from dpexact import __version__

    return __version__


def _check_versions(found: dict[str, object]) -> None:
    for worker, version in sorted(found.items()):
        if version != _version():
            state = f"has dpexact {version}" if isinstance(version, str) else "lacks dpexact"
            raise InvalidInput(f"scheduler: worker {worker} {state}; {_version()} is needed")
