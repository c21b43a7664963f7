"""A real Chromium without a window, steered over a pipe; tests skip where there is none."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
SWITCHES = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
]
PATIENCE = 60.0
_KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40, "ArrowRight": 39, "ArrowLeft": 37}


class Browser:
    """A browser with a profile of its own in ``folder``; use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        theirs, ours = os.pipe()
        reading, writing = os.pipe()
        # it reads commands on descriptor 3 and writes answers on 4
        shell = f'exec "$@" 3<&{theirs} 4>&{writing}'
        command = [CHROMIUM, *SWITCHES, f"--user-data-dir={folder}", "--remote-debugging-pipe"]
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=(theirs, writing),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(writing)
        self._out, self._in = os.fdopen(ours, "wb"), os.fdopen(reading, "rb")
        self._number, self._rest = 0, b""

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()

    def send(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """The answer to one command of the DevTools protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            found = self._read()
            if found.get("id") == self._number:
                assert "error" not in found, found
                result: dict[str, Any] = found["result"]
                return result

    def page(self, width: int = 1200, height: int = 900, scheme: str = "light") -> Page:
        """An empty page of that size in CSS pixels, in a context of its own."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)
        session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        page = Page(self, session["sessionId"], context, target["targetId"])
        page.send("Page.enable")
        page.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.send("Emulation.setEmulatedMedia", features=features)
        return page

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            chunk = os.read(self._in.fileno(), 1 << 20)
            assert chunk, "the browser is gone"
            self._rest += chunk
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser, session: str, context: str, target: str) -> None:
        self._browser, self._session = browser, session
        self.context, self._target = context, target

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.send(method, self._session, **parameters)

    def open(self, address: str) -> None:
        """Go to ``address`` and wait until its scripts have run."""
        self.send("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def tell(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, script: str, seconds: float = PATIENCE) -> None:
        """Wait until the expression is true."""
        until = time.monotonic() + seconds
        while not self.tell(f"Boolean({script})"):
            assert time.monotonic() < until, f"never: {script}"
            time.sleep(0.05)

    def press(self, key: str, shift: bool = False) -> None:
        """Press and release a key."""
        code = {"windowsVirtualKeyCode": _KEYS[key], "modifiers": 8 * shift}
        text = {"Enter": "\r", " ": " "}.get(key)
        typed = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        name = "Space" if key == " " else key
        self.send("Input.dispatchKeyEvent", key=key, code=name, **code, **typed)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=name, **code)

    def write(self, text: str) -> None:
        """Type over what the focused field holds."""
        self.tell("document.activeElement.select()")
        self.send("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """A picture of the whole page, from top to bottom, as PNG."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Leave the page as a user who closes it."""
        self._browser.send("Target.closeTarget", targetId=self._target)
