"""What tests do with a page: open it, wait for answers, ask, and check that nothing was harmed."""

from __future__ import annotations

import json

from explorer.browser import Browser, Page
from explorer.running import Served

HOSTILE = "<script>window.hacked=1</script> <img src=x onerror=window.hacked=1> {{1}} ${1} \"' onload=window.hacked=1"


def opened(browser: Browser, served: Served, panel: str = "analyze", **settings) -> Page:
    page = browser.open(f"{served.url}#{panel}", **settings)
    page.wait("document.documentElement.dataset.ready === 'yes'")
    settle(page, panel)
    return page


def settle(page: Page, panel: str) -> None:
    """Wait until the panel has its answer, or its error."""
    results = f"document.querySelector('#{panel}-results')"
    fault = f"!document.querySelector('#{panel}-fault').hidden"
    page.wait(f"!{results}.classList.contains('waiting') && ({results}.childElementCount > 0 || {fault})")


def changed(page: Page, panel: str, act) -> None:
    """Do something, and wait until the panel shows another answer than before."""
    status, fault = (f"document.querySelector('#{panel}-{part}')" for part in ("status", "fault"))
    page.run(f"{status}.textContent = '', {fault}.hidden = true")
    act()
    page.wait(f"{status}.textContent || !{fault}.hidden")
    settle(page, panel)


def unharmed(page: Page) -> None:
    assert page.run("window.hacked === undefined && document.querySelectorAll('main script, main img').length === 0")
    assert page.heard("Runtime.exceptionThrown") == []
    # The policy had nothing to stop: no element was ever made of the text.
    assert [entry for entry in page.heard("Log.entryAdded") if entry["entry"]["source"] == "security"] == []


def analyze(page: Page, text: str, model: str) -> None:
    page.run(f"document.querySelector('#analyze-model').value = {json.dumps(model)}")
    page.fill("#analyze-text", text)
    changed(page, "analyze", lambda: page.press("Enter", control=True))
