"""The page in a real browser: first paint, sliders, silence, memory.

Needs the extra `test` and a Chromium. Prints what was measured beside what was aimed at; the
peer is the aim. A store of 300 records of 100,000 steps is made in a temporary folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import xarray as xr

RECORDS, STEPS = 300, 100_000
MOVES, MANY = 40, 1000
SMALL = {
    "balance": "learning_rate", "swing-by": "means_0", "one-layer": "means_0",
    "orbits": "learning_rate", "factorisation": "first", "quadratic-map": "learning_rate",
    "rank-staircase": "decades", "linearity": "distance", "catapult": "factor",
    "associative-memory": "noise", "graph-classes": "depth",
}  # fmt: skip
MOVE = """async ([name, place]) => {
  const root = document.documentElement;
  const before = Number(root.dataset.moved);
  const begun = performance.now();
  const slider = document.querySelector(`input[type=range][data-name="${name}"]`);
  slider.value = place;
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  while (Number(root.dataset.moved) === before) await new Promise((go) => setTimeout(go, 2));
  return performance.now() - begun;
}"""


def fill(home: Path) -> None:
    """So many long records."""
    from dynascope.store import Store

    step = np.arange(STEPS)
    for number in range(RECORDS):
        loss = np.exp(-step / STEPS) * (1 + 0.1 * np.random.default_rng(number).random(STEPS))
        run = xr.Dataset(
            {"loss": (("seed", "step"), loss[None]), "diverged": ("seed", [False])},
            {"seed": [0], "step": step},
        )
        sink = Store(home).sink({"number": number}, f"{number + 1:016x}", label=f"run {number}")
        sink.append(run, b"")
        sink.finish({"seconds": 1.0, "seeds": 1})


def _ps(pid: int, column: str) -> list[int]:
    """A column of `ps` for the server and its processes."""
    words = ["ps", "-o", f"{column}=", "--pid", str(pid), "--ppid", str(pid)]
    found = subprocess.run(words, capture_output=True, text=True, check=True)
    return [int(n) for n in found.stdout.split()]


def memory(pid: int) -> str:
    """Megabytes of the server and its processes, and of each of them."""
    each = [kilobytes / 1024 for kilobytes in _ps(pid, "rss")]
    return f"{sum(each):.0f} MB ({' + '.join(f'{m:.0f}' for m in each)})"


def processor(pid: int) -> float:
    """Seconds of processor that the server and its processes have used, where /proc tells them."""
    ticks = 0
    for one in _ps(pid, "pid"):
        with contextlib.suppress(OSError):
            ticks += sum(
                map(int, Path(f"/proc/{one}/stat").read_text().split(") ")[1].split()[11:13])
            )
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_warm(pid: int) -> None:
    """Until the server and its processes rest: every explorer is compiled then."""
    used = processor(pid)
    while True:
        time.sleep(3)
        used, before = processor(pid), used
        if used - before < 0.1:
            return


def say(what: str, found: str, aim: str) -> None:
    print(f"{what:58} {found:>32}" + (f"   (aim {aim})" if aim else ""), flush=True)


def main() -> None:
    try:
        import uvicorn  # noqa: F401  what the extra `page` brings
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        print(f"no {error.name} here (pip install -e '.[test]'): nothing measured")
        return
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        print("no Chromium here: nothing measured")
        return
    home = Path(tempfile.mkdtemp())
    fill(home)
    server = subprocess.Popen(
        [sys.executable, "-m", "dynascope", "page", "--no-open", "--port", "0"],
        env={**os.environ, "DYNASCOPE_HOME": str(home)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout
        base = re.search(r"http://[^/]+", server.stdout.readline())[0]  # type: ignore[index]
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            measure(browser, base, server.pid)
            browser.close()
    finally:
        server.send_signal(2)
        server.wait(20)
        shutil.rmtree(home, ignore_errors=True)


def measure(browser, base: str, pid: int) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    begun = time.perf_counter()
    page.goto(base)
    page.wait_for_selector("#waiting")
    say("a start: the page that says what is loaded", f"{time.perf_counter() - begun:.2f} s", "1 s")
    page.wait_for_selector(".card", timeout=120_000)
    say("a start: the gallery", f"{time.perf_counter() - begun:.2f} s", "no wait the next time")
    paints = []
    for address in ("/", "/records"):
        for _ in range(5):
            page.goto(f"{base}{address}")
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            paints.append(page.evaluate(paint))
        say(f"first paint of {address}, {RECORDS} records of {STEPS:,} steps",
            f"{statistics.median(paints[-5:]):.0f} ms", "1000 ms")  # fmt: skip
    wait_warm(pid)
    say("a start: every explorer is warm", f"{time.perf_counter() - begun:.0f} s", "")
    for explorer, slider in SMALL.items():
        page.goto(f"{base}/explore/{explorer}")
        page.wait_for_function("document.documentElement.dataset.moved", timeout=300_000)
        used = processor(pid)
        took = [page.evaluate(MOVE, [slider, 300 + 5 * (i % 60)]) for i in range(MOVES)][5:]
        used = 1000 * (processor(pid) - used) / MOVES
        high = sorted(took)[int(0.95 * len(took))]
        say(f"slider of {explorer}, median and 95th percentile",
            f"{statistics.median(took):.0f} ms, {high:.0f} ms",
            f"200 ms, 400 ms; processor of the server {used:.0f} ms a move")  # fmt: skip
    asked: list[str] = []
    page.goto(f"{base}/explore/balance")
    page.wait_for_function("document.documentElement.dataset.moved")
    time.sleep(1)
    page.on("request", lambda request: asked.append(request.url))
    time.sleep(10)
    say("requests of an idle page in 10 s", str(len(asked)), "0")
    for i in range(100):
        page.evaluate(MOVE, ["learning_rate", 200 + i])
    say("memory of the server (and of each process) at first", memory(pid), "")
    for times in (1, 2):
        for i in range(MANY):
            page.evaluate(MOVE, ["learning_rate", 200 + i % 500])
        say(f"memory after {times * MANY} moves", memory(pid), "the same")


if __name__ == "__main__":
    main()
