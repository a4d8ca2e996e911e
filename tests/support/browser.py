"""A headless Chromium that Selenium drives, for tests of pages that the tools write. No page may use the network.

with browser(tmp_path, width=360) as page:
    page.get(path.as_uri())
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# program -> the names under which distributions install it
_NAMES = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "chromedriver": ("chromedriver",)}
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
)


def require_browser() -> None:
    """Skip the test, with the reason, if Selenium, Chromium or its driver is not installed."""
    pytest.importorskip("selenium", reason="no selenium: pip install 'coopmat[browser]'")
    for program in _NAMES:
        if _find(program) is None:
            pytest.skip(f"no {program}: apt install chromium chromium-driver")


def _find(program: str) -> str | None:
    return next((path for name in _NAMES[program] if (path := shutil.which(name))), None)


@contextmanager
def browser(profile: Path, width: int = 1280, height: int = 900, *, script: bool = True) -> Iterator[Any]:
    """Yield a driver of a new browser, whose window has this inner size in pixels; skip the test if there is none.

    profile: an empty directory for the browser's files.
    script: whether pages may run scripts.
    """
    require_browser()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = _find("chromium") or ""
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile / 'chromium'}"):
        options.add_argument(argument)
    if not script:
        options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=_find("chromedriver")))
    try:
        driver.set_page_load_timeout(60)
        resize(driver, width, height)
        yield driver
    finally:
        driver.quit()


def resize(driver: Any, width: int, height: int) -> None:
    """Set the inner size of the window; windows themselves cannot be as narrow as a telephone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def prefer(driver: Any, scheme: str, media: str = "") -> None:
    """Let pages see a preference for the color scheme "light" or "dark", and the medium "screen" or "print"."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def print_to_pdf(driver: Any) -> bytes:
    """Return the page as the PDF file that the browser prints."""
    settings = {"printBackground": False, "paperWidth": 8.27, "paperHeight": 11.69}
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", settings)["data"])


def errors(driver: Any) -> list[str]:
    """Return the errors and warnings that the browser's console has got since the last call."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def requested(driver: Any) -> set[str]:
    """Return the URLs that the pages have requested since the last call, without those of the browser itself."""
    events = (json.loads(entry["message"])["message"] for entry in driver.get_log("performance"))
    urls = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    return {url for url in urls if not url.startswith(("data:", "chrome:"))}


def overflow(driver: Any) -> int:
    """Return by how many pixels the page is wider than the window."""
    width: int = driver.execute_script("const e = document.documentElement; return e.scrollWidth - e.clientWidth;")
    return width
