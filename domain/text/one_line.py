"""Text of one line: names, titles, tags and codes that people type, and text by strangers in a line of our own.

Control characters would forge lines, and the bidirectional overrides and isolates change the order in which a line is
read. Where people type they are refused, where programs send they are taken out, and wherever it is shown such a text
stays on its line.
"""

import re

#: The control characters and the overrides and isolates of the bidirectional algorithm, as a class of a pattern.
REFUSED = r"\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069"

_REFUSED = re.compile(f"[{REFUSED}]")
_BREAKS = re.compile(r"[\t-\r\u0085]+")
_BREAKS_ANYWHERE = re.compile(r"[\t-\r\u0085\u2028\u2029]+")


def is_valid(text: str) -> bool:
    """Return whether a text has no control character and nothing that overrides or isolates its direction."""
    return _REFUSED.search(text) is None


def cleaned(text: str) -> str:
    """Return a text without what `is_valid` refuses: line breaks and tabs become a space, the rest is removed."""
    if text.isascii() and text.isprintable():  # by far the most
        return text
    return _REFUSED.sub("", _BREAKS.sub(" ", text))


def displayed(text: str, *, max_length: int) -> str:
    """Return a text as it is shown within a line: without line breaks of any kind, cut to `max_length`."""
    line = cleaned(_BREAKS_ANYWHERE.sub(" ", text))
    return line if len(line) <= max_length else f"{line[:max_length]}… ({len(line)} characters)"


def quoted(text: str) -> str:
    """Return a line in quotation marks that no text within it can close."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
