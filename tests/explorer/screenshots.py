"""Pictures of everything that people see: make screenshots

Every page of the site (``make docs`` first), the report of ``sapwood demo`` and each panel of the explorer, on a
desktop and on a phone, light and dark, as PNG files in a folder; and a list of what is wrong with them: what sticks
out of the window, and text below the contrast that accessibility guidelines ask for (4.5 to 1, large text 3 to 1).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.insert(0, str(HERE.parents[1]))

from explorer.browser import Browser, Page, find_chromium  # noqa: E402
from explorer.running import serve  # noqa: E402

ROOT = HERE.parents[2]
SIZES = {"desktop": 1280, "phone": 390}
PANELS = ("analyze", "change", "data", "compare", "decode")
CONTRAST = """(() => {
  const lum = (c) => { const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]); };
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (text) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3]));
  const ground = (e) => { const stack = [];
    for (; e; e = e.parentElement) stack.push(rgba(getComputedStyle(e).backgroundColor));
    return stack.reverse().reduce((b, a) => over(a, b), [255, 255, 255]); };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility?.({checkOpacity: true})) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const style = getComputedStyle(element);
    const svg = element.namespaceURI.endsWith('svg');
    const ink = rgba(svg ? style.fill : style.color);
    ink[3] *= (svg ? Number(style.fillOpacity) : 1);
    const back = ground(svg ? element.closest('svg').parentElement : element);
    const front = over(ink, back);
    const [a, b] = [lum(front), lum(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const need = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < need - 0.01) {
      const key = `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}`;
      const text = walker.currentNode.textContent.trim().slice(0, 30);
      if (!found.has(key)) found.set(key, `${key} ${ratio.toFixed(2)} ${text}`);
    }
  }
  return [...found.values()];
})()"""


def faults(page: Page) -> list[str]:
    """Say what is wrong with a page."""
    wide = page.run("document.documentElement.scrollWidth - innerWidth")
    said = [f"{wide} pixels wider than the window"] if wide > 1 else []
    return said + [f"contrast: {one}" for one in page.run(CONTRAST)]


def main() -> int:
    """Take the pictures and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default=str(ROOT / "build" / "screenshots"), help="folder for the pictures")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names: site, report, explorer, roles, ...")
    parser.add_argument("--models", nargs="?", help="a folder of models for the explorer (default: toy models)")
    parser.add_argument("--dark", action="store_true", help="dark pictures only")
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        print("There is no Chromium on this machine (on Debian: apt-get install chromium).")
        return 1
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        report = ROOT / "report.html"
        if not report.exists():
            report = Path(place) / "report.html"
            subprocess.run(
                [sys.executable, "-m", "sapwood.cli", "demo", "-q", "-o", str(report)], check=True, cwd=place
            )
        site = ROOT / "docs" / "_build" / "html"
        pages = {f"site-{p.relative_to(site).with_suffix('').as_posix().replace('/', '-')}": p for p in _site(site)}
        addresses = {name: path.as_uri() for name, path in {**pages, "report": report}.items()}
        served = serve(*([options.models] if options.models else []))
        addresses |= {f"explorer-{panel}": f"{served.url}#{panel}" for panel in PANELS}
        for kind in ("roles", "frames", "parser", "reranker", "trees"):
            asked = "text=The+farmer+gave+the+child+an+apple.+Anna+saw+the+cow."
            addresses[f"explorer-{kind}"] = f"{served.url}#analyze?model={kind}&{asked}"
        wanted = {n: a for n, a in addresses.items() if not options.only or any(one in n for one in options.only)}
        count = _take(Browser(program), wanted, folder, [True] if options.dark else [False, True])
        served.process.kill()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}, {count} faults")
    return 0


def _take(browser: Browser, addresses: dict[str, str], folder: Path, modes: list[bool]) -> int:
    count = 0
    try:
        for name, address in addresses.items():
            for size, width in SIZES.items():
                for dark in modes:
                    page = browser.open(address, width=width, dark=dark)
                    if name.startswith("explorer"):
                        page.wait(
                            "document.documentElement.dataset.ready === 'yes' && !document.querySelector('.waiting')"
                        )
                        time.sleep(0.5)
                    else:
                        page.wait("document.readyState === 'complete'")
                    mode = "dark" if dark else "light"
                    page.picture(folder / f"{name}-{size}-{mode}.png")
                    for fault in faults(page):
                        count += 1
                        print(f"{name} ({size}, {mode}): {fault}")
    finally:
        browser.close()
    return count


def _site(site: Path) -> list[Path]:
    """Return the pages of the site; of the sources of modules there are many alike, and they are left out."""
    if not site.is_dir():
        print("The site is not built; make docs builds it.")
        return []
    return sorted(path for path in site.rglob("*.html") if not {"_modules", "_static"} & set(path.parts))


if __name__ == "__main__":
    sys.exit(main())
