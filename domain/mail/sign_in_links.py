"""Links in emails that authenticate their reader; other readers of an email's text must not be able to use them."""

import re

_TOKEN = re.compile(r"(/sign-in/link/|/sign-in/invite/|/p/answers/)[A-Za-z0-9_%=.-]+")


def mask(text: str) -> str:
    """Return a text without the tokens of sign-in links, invitations to teams and applicants' answer links."""
    return _TOKEN.sub(r"\1…", text)
