"""Text of one line: names, titles, tags and codes that people type, and text of strangers within our own lines.

Control characters could forge lines, and bidirectional overrides and isolates change the order in which a line is read.
They are refused in input of people, removed from input of programs, and never displayed.
"""

import re

#: The control characters and the bidirectional overrides and isolates, as a character class of a pattern.
REFUSED_CHARACTERS = r"\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069"

_REFUSED = re.compile(f"[{REFUSED_CHARACTERS}]")
_BREAKS = re.compile(r"[\t-\r\u0085]+")
_BREAKS_ANYWHERE = re.compile(r"[\t-\r\u0085\u2028\u2029]+")


def is_valid(text: str) -> bool:
    """Return whether a text has no control characters, bidirectional overrides or isolates."""
    return _REFUSED.search(text) is None


def clean(text: str) -> str:
    """Return a text without the characters that `is_valid` refuses: line breaks and tabs become a space."""
    if text.isascii() and text.isprintable():  # the common case
        return text
    return _REFUSED.sub("", _BREAKS.sub(" ", text))


def format_line(text: str, *, max_length: int) -> str:
    """Return a text for display within a line: without line breaks of any kind, cut to `max_length`."""
    line = clean(_BREAKS_ANYWHERE.sub(" ", text))
    return line if len(line) <= max_length else f"{line[:max_length]}… ({len(line)} characters)"


def quote(text: str) -> str:
    """Return a line in quotation marks, with those within it escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
