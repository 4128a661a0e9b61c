"""Pictures of everything that people see: make screenshots

Every page of the site (``make docs`` first), the report of ``sapwood demo`` and each panel of the explorer, on a
desktop and on a phone, light and dark, as PNG files in a folder, and on paper as PDF; and a list of what is wrong with
them: text over other text, text that is cut off, what sticks out of the window, text below the contrast that
accessibility guidelines ask for (4.5 to 1, large text 3 to 1), headings at the end of a page.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))

from explorer.browser import LOOKS, Browser, Page, find_chromium  # noqa: E402
from explorer.paper import PAPER_WIDTH, paper_faults, print_page  # noqa: E402
from explorer.running import serve  # noqa: E402

ROOT = HERE.parents[2]
SIZES = {"desktop": 1280, "phone": 390}
PANELS = ("analyze", "change", "data", "compare", "decode")
TEXT = "The+farmer+gave+the+child+an+apple.+Anna+saw+the+cow+with+the+old+scarf."


def main() -> int:
    """Take the pictures and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default=str(ROOT / "build" / "screenshots"), help="folder for the pictures")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names: site, report, explorer, roles, ...")
    parser.add_argument("--report", help="a report of sapwood demo (default: one is made)")
    parser.add_argument("--models", help="a folder of models for the explorer, beside toy models of every kind")
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        print("There is no Chromium on this machine (on Debian: apt-get install chromium).")
        return 1
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    site = ROOT / "docs" / "_build" / "html"
    with tempfile.TemporaryDirectory() as place:
        pages = {f"site-{p.relative_to(site).with_suffix('').as_posix().replace('/', '-')}": p for p in _site(site)}
        if _wanted("report", options.only):
            pages["report"] = Path(options.report) if options.report else _report(Path(place))
        addresses = {name: path.resolve().as_uri() for name, path in pages.items()}
        kinds = {"explorer": ["--nursery"], "explorer-english": [options.models] if options.models else []}
        site_only = bool(options.only) and all(one.startswith("site-") for one in options.only)
        servers = {} if site_only else {kind: serve(*given) for kind, given in kinds.items()}
        for one, served in servers.items():
            addresses |= {f"{one}-{panel}": f"{served.url}#{panel}" for panel in PANELS}
            models = json.loads(served.ask("GET", "/api/contents")[2])["models"]
            for name in (model["name"] for model in models if model["panel"] == "analyze"):
                addresses[f"{one}-analyze-{name}"] = f"{served.url}#analyze?model={name}&text={TEXT}"
        wanted = {name: address for name, address in addresses.items() if _wanted(name, options.only)}
        count = _take(Browser(program), wanted, folder)
        for served in servers.values():
            served.process.kill()
    pictures, files = (len(list(folder.glob(kind))) for kind in ("*.png", "*.pdf"))
    print(f"{pictures} pictures and {files} files for paper in {folder}; {count} faults")
    return 1 if count else 0


def _wanted(name: str, only: list[str]) -> bool:
    return not only or any(one in name for one in only)


def _report(folder: Path) -> Path:
    command = [sys.executable, "-m", "sapwood.cli", "demo", "-q", "-o", "report.html"]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return folder / "report.html"


def _take(browser: Browser, addresses: dict[str, str], folder: Path) -> int:
    count = 0
    try:
        for name, address in addresses.items():
            for size, width in SIZES.items():
                page = _opened(browser, name, address, width=width)
                for mode in ("light", "dark"):
                    page.prefer(mode)
                    page.picture(folder / f"{name}-{size}-{mode}.png")
                    count += _say(f"{name} ({size}, {mode})", page.run(LOOKS))
                page.close()
            page = _opened(browser, name, address, width=PAPER_WIDTH)
            print_page(page, folder / f"{name}.pdf")
            count += _say(f"{name} (paper)", paper_faults(page, folder / f"{name}.pdf"))
            page.close()
    finally:
        browser.close()
    return count


def _opened(browser: Browser, name: str, address: str, *, width: int) -> Page:
    page = browser.open(address, width=width)
    if name.startswith("explorer"):
        page.wait("document.documentElement.dataset.ready === 'yes' && !document.querySelector('.waiting')")
        time.sleep(0.5)
    else:
        page.wait("document.readyState === 'complete'")
    return page


def _say(place: str, faults: list[str]) -> int:
    for fault in faults:
        print(f"{place}: {fault}", flush=True)
    return len(faults)


def _site(site: Path) -> list[Path]:
    """Return the pages of the site; of the sources of modules there are many alike, and they are left out."""
    if not site.is_dir():
        print("The site is not built; make docs builds it.")
        return []
    return sorted(path for path in site.rglob("*.html") if not {"_modules", "_static"} & set(path.parts))


if __name__ == "__main__":
    sys.exit(main())
