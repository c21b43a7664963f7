"""The page at an address of this machine."""

from __future__ import annotations

import os
import socket

from dpexact.errors import InvalidInput

#: The only address that is served: this machine's own.
HOST = "127.0.0.1"


def check_installed() -> None:
    """Refuse where Starlette or uvicorn is not installed.

    Raises:
        InvalidInput: one of them is not.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        reason = 'serve: needs starlette and uvicorn; pip install "dpexact[serve]"'
        raise InvalidInput(reason) from None


def listening(port: int) -> socket.socket:
    """A socket at ``port``, or at a free one if that is 0.

    Raises:
        InvalidInput: it is taken, or not allowed.
    """
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise InvalidInput(
            f"port: {port} cannot be had ({reason}); give another one, or 0 for any that is free"
        ) from None


def run(listener: socket.socket, jobs: int) -> None:
    """Serve the page until an interrupt, with up to ``jobs`` computations at a time."""
    import uvicorn

    from dpexact.serve.application import application

    uvicorn.Server(
        uvicorn.Config(
            application(jobs),
            loop="asyncio",
            http="h11",
            ws="none",
            lifespan="on",
            log_level="critical",  # what is cancelled at the end is no error
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=0,
        )
    ).run(sockets=[listener])
