"""The browser and the system of a session, by its User-Agent: `Firefox on Windows`."""

import re

# The first that the text contains: other browsers name Chrome and Safari too.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_PRODUCT = re.compile(r"(?!Mozilla)([\w.-]{1,40})(?:/|$)")


def describe_browser(user_agent: str | None) -> str | None:
    """Return the names of a browser and its system, or of another program; None for an unknown text."""
    names = [
        next((name for part, name in parts if part in (user_agent or "")), None) for parts in (_BROWSERS, _SYSTEMS)
    ]
    product = _PRODUCT.match(user_agent or "")
    return " on ".join(name for name in names if name) or (product[1] if product else None)
