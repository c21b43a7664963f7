"""The routes of the page, and what keeps other pages away from it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, create_task_group
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpexact.errors import DpexactError, InvalidInput
from dpexact.serve.forms import MAX_TEXT, Form
from dpexact.serve.judged import hear_all
from dpexact.serve.parts import missing, page, problem, static
from dpexact.serve.workers import Workers

_T = TypeVar("_T")
Tell = Callable[[dict[str, Any]], Awaitable[None]]

#: Longest query of an address in bytes: every byte of every field may be written as three.
MAX_QUERY: Final = 3 * MAX_TEXT
#: The names of this machine for itself; the port may be another one, as behind ``ssh -L``.
_HOST: Final = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses what does not come from the page itself, and adds the headers that protect it.

    A foreign name in ``Host`` means that a foreign page had its name resolve to this machine; a
    foreign ``Origin`` or ``Sec-Fetch-Site`` that a foreign page asks. A link from elsewhere to the
    page itself is no harm.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refused = _refusal(Headers(scope=scope), scope["path"])
        if refused:
            await PlainTextResponse(f"{refused}\n", 403)(scope, receive, guarded)
        elif len(scope["query_string"]) > MAX_QUERY:
            told = f"the address is too long (limit {MAX_QUERY} bytes)\n"
            await PlainTextResponse(told, 414)(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)


def _refusal(headers: Headers, path: str) -> str:
    """Why a request is refused; empty if it is not."""
    hosts, origin = headers.getlist("host"), headers.get("origin")
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        return "Host: this page answers to localhost only"
    if origin is not None and origin != f"http://{hosts[0]}":
        return "Origin: this page answers to itself only"
    site = headers.get("sec-fetch-site", "none")
    followed = path == "/" and headers.get("sec-fetch-mode") == "navigate"
    if site not in ("none", "same-origin") and not followed:
        return "Sec-Fetch-Site: this page answers to itself only"
    return ""


class Lines(Response):
    """JSON a line, as ``work`` tells it; it is cancelled when the reader goes."""

    media_type = "application/x-ndjson"

    def __init__(self, work: Callable[[Tell], Awaitable[None]]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._work = work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def tell(record: dict[str, Any]) -> None:
            line = json.dumps(record).encode() + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})

        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        await while_there(receive, lambda: self._work(tell))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def while_there(receive: Receive, work: Callable[[], Awaitable[_T]]) -> _T | None:
    """What ``work`` returns; ``None`` if whoever asked went away, and it was cancelled."""
    found: list[_T] = []
    async with create_task_group() as group:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        found.append(await work())
        group.cancel_scope.cancel()
    return found[0] if found else None


def application(jobs: int, workers: Workers | None = None) -> Starlette:
    """The page as an ASGI application, with up to ``jobs`` computations at a time."""
    crew = Workers(jobs) if workers is None else workers
    bench = CapacityLimiter(1)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        crew.close()

    async def whole(request: Request) -> Response:
        try:
            return HTMLResponse(page(_form(request)))
        except InvalidInput as error:
            return HTMLResponse(page(Form.of({}), str(error)), 400)

    async def answer(request: Request) -> Response:
        async def work(tell: Tell) -> None:
            try:
                form = _form(request)
                found = await crew.ask("answer", form)
            except DpexactError as error:
                found = problem(str(error))
            await tell({"part": "answer", **found})
            for part in () if "error" in found else ("curve", "profile"):
                try:
                    found = await crew.ask(part, form)
                except DpexactError as error:
                    found = {"error": str(error)}
                if "error" in found:
                    found = missing(part, found["error"])
                await tell({"part": part, **found})

        return Lines(work)

    async def accountants(request: Request) -> Response:
        async def work(tell: Tell) -> None:
            try:
                question = await crew.ask("question", _form(request))
                if "error" in question:
                    await tell(question)
                    return
                async with bench:
                    await hear_all(question, lambda table: tell({"html": table}), jobs)
            except DpexactError as error:
                await tell(problem(str(error)))

        return Lines(work)

    async def certificate(request: Request) -> Response:
        try:
            form = _form(request)
            found = await while_there(request.receive, lambda: crew.ask("certificate", form))
        except DpexactError as error:
            found = {"error": str(error)}
        if found is None or "document" not in found:
            why = "cancelled" if found is None else found["error"]
            return PlainTextResponse(f"{why}\n", 422)
        name = 'attachment; filename="certificate.json"'
        headers = {"Content-Disposition": name}
        return Response(found["document"], media_type="application/json", headers=headers)

    def file(name: str, kind: str) -> Route:
        async def get(_: Request) -> Response:
            return Response(static(name), media_type=kind)

        return Route(f"/{name}", get)

    routes = [
        Route("/", whole),
        Route("/answer", answer),
        Route("/accountants", accountants),
        Route("/certificate", certificate),
        file("page.css", "text/css"),
        file("page.js", "text/javascript"),
    ]
    return Starlette(routes=routes, middleware=[Middleware(Guard)], lifespan=life)


def _form(request: Request) -> Form:
    """The form that the address of a request describes.

    Raises:
        InvalidInput: a field is given twice or unknown.
    """
    fields: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in fields:
            raise InvalidInput(f"{name[:40]}: given twice")
        fields[name] = value
    return Form.of(fields)
