"""Links in letters that speak for their reader: who reads another's letter must not sign in or answer by it."""

import re

_TOKEN = re.compile(r"(/sign-in/link/|/p/answers/)[A-Za-z0-9_%=.-]+")


def masked(text: str) -> str:
    """Return a text whose links to sign in, or to answer as somebody who applied, lead nowhere."""
    return _TOKEN.sub(r"\1…", text)
