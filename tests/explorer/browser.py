"""A headless Chromium, driven over its own debugging pipe: no driver program and no library is needed.

``Browser`` starts one process; ``Page`` is a tab in a window of its own, with its own storage, like another user.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

# An expression in JavaScript whose value is a list of what is wrong with how a page looks.
LOOKS = (Path(__file__).parent / "looks.js").read_text(encoding="utf-8")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Return the program, if this machine has one."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One process. Messages are JSON with a zero byte between them, on file descriptors 3 and 4."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        command = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self._profile}"]
        # The only page it ever sees is ours; containers have neither a sandbox nor much shared memory.
        command += ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--mute-audio"]
        command += [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
        ]
        command += ["--hide-scrollbars", "--force-color-profile=srgb"]

        def arrange() -> None:
            os.dup2(to_read, 13)
            os.dup2(from_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self._process = subprocess.Popen(
            command, preexec_fn=arrange, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_read)
        os.close(from_write)
        self._out, self._in = os.fdopen(to_write, "wb", buffering=0), os.fdopen(from_read, "rb", buffering=0)
        self._left = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what happens meanwhile is kept in ``events``."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            found = self._read()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.events.append(found)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            piece = self._in.read(1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def open(self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> Page:
        """Open a page as a user of its own."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, context)
        page.call("Page.enable")
        page.call("Runtime.enable")
        page.call("Network.enable")
        page.call("Log.enable")
        page.resize(width, height)
        page.prefer("dark" if dark else "light")
        page.call("Page.navigate", url=url)
        return page

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()
        shutil.rmtree(self._profile, ignore_errors=True)


class Page:
    """A tab."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self._browser, self._session, self._context = browser, session, context

    def close(self) -> None:
        """Close the tab and forget its user."""
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str, *, media: str = "") -> None:
        """Wish for light or dark, on what the page is shown on, or as if that were paper (``"print"``)."""
        wish = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=wish)

    def run(self, script: str) -> Any:
        """Evaluate a JavaScript expression and return its value."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true, and return its value; while a page loads, much is missing yet."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(RuntimeError):
                value = self.run(script)
                if value:
                    return value
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script}; the page says {self.run('document.body.innerText')!r}")
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def fill(self, selector: str, value: str) -> None:
        """Put text into a field as a paste does."""
        field = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{field}.focus(), {field}.select?.()")
        self.call("Input.insertText", text=value)

    def type(self, value: str) -> None:
        """Put text in the place of all that the field with the focus holds."""
        self.press("a", control=True)
        self.call("Input.insertText", text=value)

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a list, and tell the page as a user's choice does."""
        field = f"document.querySelector({json.dumps(selector)})"
        self.run(
            f"{field}.value = {json.dumps(value)}, {field}.dispatchEvent(new Event('change', {{bubbles: true}})), true"
        )

    def press(self, key: str, *, control: bool = False, shift: bool = False, alt: bool = False) -> None:
        """Press a key, wherever the focus is; what the page leaves to it, the browser does, such as Back and reload."""
        codes = {"Enter": 13, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, " ": 32, "F5": 116}
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        name = "Space" if key == " " else f"Key{key.upper()}" if len(key) == 1 else key
        what = {"key": key, "code": name, "windowsVirtualKeyCode": code}
        what["modifiers"] = (1 if alt else 0) + (2 if control else 0) + (8 if shift else 0)
        what["nativeVirtualKeyCode"] = code
        written = None if control or alt else {"Enter": "\r", " ": " "}.get(key)
        down = {"type": "keyDown", "text": written} if written else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **down, **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def click(self, selector: str) -> None:
        """Click in the middle of an element with the mouse."""
        field = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{field}.scrollIntoView({{block: 'center'}})")
        place = self.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({field}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def picture(self, path: str | Path) -> None:
        """Save the whole page as PNG."""
        height = self.run("Math.max(document.documentElement.scrollHeight, 300)")
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        asked = {"format": "png", "optimizeForSpeed": True, "captureBeyondViewport": True, "clip": clip}
        found = self.call("Page.captureScreenshot", **asked)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def heard(self, method: str) -> list[dict[str, Any]]:
        """Return the events of this page with a name, so far."""
        self.run("1")
        return [
            event["params"]
            for event in self._browser.events
            if event.get("sessionId") == self._session and event.get("method") == method
        ]
