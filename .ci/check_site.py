"""Open pages of a built site in headless Chromium, and fail on horizontal scrolling, console errors or lost searches.

Usage: `python .ci/check_site.py SITE`.  Chromium is driven by chromedriver through the standard library.  Nothing is
checked where one of them is missing.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

PAGES = ("index", "how/own_cuts", "api/problem", "notebooks/gallery", "notebooks/cutting_stock")
WIDTHS = (390, 768, 1440)

SEARCHES = {
    "VRPTW": "templates/vehicle_routing",
    "CVRP": "templates/vehicle_routing",
    "ng-routes": "templates/vehicle_routing",
    "RCSPP": "vehicle_routing_by_hand",
    "ESPPRC": "vehicle_routing_by_hand",
    "shortest path": "vehicle_routing_by_hand",
    "crew pairing": "how/covering",
    "set partitioning": "how/covering",
    "Benders": "how/benders",
    "Dantzig-Wolfe": "decomposition",
    "multithreading": "how/parallel",
    "callback": "how/logs",
    "time limit": "how/limits",
    "cutting planes": "how/own_cuts",
    "lazy constraints": "how/own_cuts",
    "subset-row cuts": "how/priced_cuts",
    "Ryan-Foster": "branching",
    "warm start": "how/warm_pools",
    "Gurobi": "how/lp_solver",
    "CPLEX": "how/lp_solver",
    "SparseMAP": "how/differentiable",
    "big-M": "faq",
    "Farkas": "how/wrong_sign",
    "smoothing": "how_it_works",
    "infeasible": "when_it_goes_wrong",
    "GCG": "from_other_frameworks",
    "Coluna": "from_other_frameworks",
    "bin packing": "templates/cutting_stock",
    "VRPSolver": "from_other_frameworks",
    "min-max": "how/min_max",
    "electric vehicles": "how/own_resources",
    "GAP": "templates/assignment",
    "graph coloring": "templates/colouring",
    "correlation clustering": "templates/coreference",
    "CRF": "templates/chain_map",
    "Viterbi": "templates/chain_map",
    "Eisner": "templates/nonlocal_parsing",
    "dependency parsing": "templates/grandparent_parsing",
}
"""Words of the field, and the page that must be among the first results of a search for each."""

FIRST = 3
"""The number of results in which a page must be found."""

PATIENCE = 50
"""Tenths of a second until a search without results is lost."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Elements past the right edge of the page, except in boxes that scroll and in the closed drawer.
TOO_WIDE = """
const width = document.documentElement.clientWidth;
const scrolls = e => e && e !== document.body && e !== document.documentElement &&
  (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
const wide = [...document.querySelectorAll("main *")].filter(e => {
  const box = e.getBoundingClientRect();
  return box.width && box.right > width + 1 && !scrolls(e.parentElement) && !e.closest(".md-sidebar");
});
const excess = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - width;
return [excess, wide.slice(0, 3).map(e => e.outerHTML.slice(0, 120))];
"""


RESULTS = """
return [...document.querySelectorAll(".md-search-result__item > a")].map(e => e.href.split("?")[0].split("#")[0]);
"""


class Browser:
    """A session of chromedriver.

    Parameters
    ----------
    port
        The port that chromedriver listens to.
    chromium
        The path of the browser.
    profile
        A directory for the browser's files.
    """

    def __init__(self, port: int, chromium: str, profile: str) -> None:
        self._connection = HTTPConnection("localhost", port, timeout=60)
        self._session = "/session"
        options = {"binary": chromium, "args": [*ARGUMENTS, f"--user-data-dir={profile}"]}
        capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        reply = self.send("", {"capabilities": {"alwaysMatch": capabilities}})
        self._session += f"/{reply['sessionId']}"

    def send(self, command: str, values: dict[str, Any], method: str = "POST") -> Any:
        """Return the value that a command of WebDriver returns."""
        self._connection.request(method, self._session + command, json.dumps(values))
        value = json.load(self._connection.getresponse())["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(value["message"])
        return value

    def develop(self, command: str, **values: Any) -> Any:
        """Return the value that a command of the DevTools protocol returns."""
        return self.send("/goog/cdp/execute", {"cmd": command, "params": values})

    def show(self, page: Path, width: int, query: str = "") -> None:
        """Open a page of the file system at a width in pixels, with an empty console."""
        self.develop(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.send("/url", {"url": "about:blank"})
        self.send("/se/log", {"type": "browser"})
        self.send("/url", {"url": page.as_uri() + query})

    def evaluate(self, script: str) -> Any:
        """Return what the body of a JavaScript function returns."""
        return self.send("/execute/sync", {"script": script, "args": []})

    def errors(self) -> list[str]:
        """Return the errors in the console since the page was opened."""
        return [one["message"] for one in self.send("/se/log", {"type": "browser"}) if one["level"] == "SEVERE"]


def programs() -> tuple[str | None, str | None]:
    """Return the paths of Chromium and of chromedriver, None for one that is not installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None), shutil.which("chromedriver")


@contextmanager
def browser(chromium: str, driver: str) -> Iterator[Browser]:
    """Start chromedriver and a browser, and end both afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "successfully on port" in line)
            session = Browser(int(line.rstrip(".\n").rpartition(" ")[2]), chromium, profile)
            yield session
            session.send("", {}, "DELETE")
        finally:
            process.terminate()
            process.wait()


def findings(session: Browser, site: Path) -> Iterator[str]:
    """Yield a message for each page that is missing, and for each width at which one scrolls sideways or has errors."""
    for page in PAGES:
        if not (site / f"{page}.html").is_file():
            yield f"{page}: the site has no such page"
            continue
        for width in WIDTHS:
            session.show(site / f"{page}.html", width)
            time.sleep(0.2)
            excess, wide = session.evaluate(TOO_WIDE)
            where = f"{page} at {width} px"
            if excess > 0 or wide:
                yield f"{where}: {max(excess, 0)} px too wide: {' '.join(wide)}"
            yield from (f"{where}: {error}" for error in session.errors())


def lost_searches(session: Browser, site: Path) -> Iterator[str]:
    """Yield a message for each word that does not lead to its page."""
    for word, page in SEARCHES.items():
        session.show(site / "index.html", WIDTHS[-1], f"?q={quote(word)}")
        results: list[str] = []
        for _ in range(PATIENCE):
            time.sleep(0.1)
            results = session.evaluate(RESULTS)
            if results:
                break
        if (site / f"{page}.html").as_uri() not in results[:FIRST]:
            names = [result.removeprefix(site.as_uri() + "/") for result in results[:FIRST]]
            yield f"a search for {word} finds {', '.join(names) or 'nothing'}, not {page}"


def main() -> int:
    """Return 0 if there are no findings or no browser, else 1."""
    chromium, driver = programs()
    if chromium is None or driver is None:
        print("The site is not opened in a browser: Chromium or chromedriver is not installed")
        return 0
    site = Path(sys.argv[1]).resolve()
    with browser(chromium, driver) as session:
        found = [*findings(session, site), *lost_searches(session, site)]
    print("".join(f"{one}\n" for one in found), end="", file=sys.stderr)
    print(f"Chromium has opened {len(PAGES)} pages at {len(WIDTHS)} widths, and searched {len(SEARCHES)} words")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
