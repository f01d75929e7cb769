"""A real browser for tests of pages: Chromium, spoken to through a pipe.

Its debugging protocol is JSON messages that end with a zero byte, so that nothing needs to be
installed besides the browser. The variable ``SKLEARN_SL_BROWSER`` names one that is not found.
"""

import base64
import contextlib
import glob
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Where playwright puts what it downloads.
PLAYWRIGHT = "~/.cache/ms-playwright/chromium*/*/"
PROGRAMS = ("chrome", "headless_shell", "chrome-headless-shell")
MISSING = "no Chromium or Chrome: install one (apt-get install chromium), or set SKLEARN_SL_BROWSER"
TIMEOUT = 60.0  # seconds, for an answer of the browser
PATIENCE = 180.0  # seconds, for a download
# From where playwright takes browsers; asked first, as it would try for minutes to reach it.
SOURCE = ("cdn.playwright.dev", 443)
REACHED_WITHIN = 3.0  # seconds


def find():
    """Return the path of a browser, None if there is none."""
    places = [os.environ.get("SKLEARN_SL_BROWSER", ""), *map(shutil.which, NAMES)]
    folder = os.path.expanduser(PLAYWRIGHT)
    places += [path for name in PROGRAMS for path in sorted(glob.glob(folder + name), reverse=True)]
    return next((p for p in places if p and os.access(p, os.X_OK) and os.path.isfile(p)), None)


def fetch():
    """Try to get a browser through playwright, which is used for nothing else.

    Where it cannot be had nothing is printed, and nobody waits long.
    """
    if not (urllib.request.getproxies() or reachable(SOURCE)):
        return
    commands = [["pip", "install", "--quiet", "--retries", "0", "playwright"]]
    commands += [["playwright", "install", "--only-shell", "chromium"]]
    with contextlib.suppress(subprocess.SubprocessError):
        for command in commands:
            subprocess.run(
                [sys.executable, "-m", *command], check=True, timeout=PATIENCE, capture_output=True
            )


def reachable(address):
    """Say whether something answers at a place in the network."""
    try:
        socket.create_connection(address, REACHED_WITHIN).close()
    except OSError:
        return False
    return True


class Browser:
    """A browser with one page.

    Parameters
    ----------
    path : str
        Of the program.
    profile : path
        An empty folder for its files.
    """

    def __init__(self, path, profile):
        for_it, self.write = os.pipe()
        self.read, from_it = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        arguments += ["--disable-background-networking", "--no-first-run"]
        arguments += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]

        def as_3_and_4():  # where the browser listens and speaks
            os.dup2(for_it, 13)  # out of the way first: 3 and 4 may be the ends themselves
            os.dup2(from_it, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [path, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=as_3_and_4,
            close_fds=False,
        )
        os.close(for_it)
        os.close(from_it)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        """Call a method of the protocol and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        """Return the next message."""
        end = time.monotonic() + TIMEOUT
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0.0, end - time.monotonic()))
            chunk = os.read(self.read, 1 << 20) if ready else b""
            if not chunk:
                raise TimeoutError("the browser does not answer")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, path, width=1280, height=900, dark=False, scripts=True):
        """Show a file in a window of that size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.events.clear()
        self.ask("Page.navigate", url=f"file://{os.path.abspath(path)}")
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def run(self, script):
        """Return the value of a JavaScript expression."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def complaints(self):
        """Return what the browser complained about: errors, and breaches of the page's policy."""
        self.run("0")  # so that all earlier messages have come
        texts = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                texts.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Runtime.exceptionThrown":
                texts.append(str(event["params"]["exceptionDetails"]))
        return texts

    def screenshot(self, path, whole=True):
        """Write a picture of the page to a PNG file."""
        answer = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        """End the process."""
        for end in (self.write, self.read):
            with contextlib.suppress(OSError):
                os.close(end)
        self.process.kill()
        self.process.wait()


if __name__ == "__main__":
    if find() is None:
        fetch()
    print(f"tests of pages in a browser: {find() or f'left out, {MISSING}'}")
