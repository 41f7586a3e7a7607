"""The channel tag that a visit carries to its sale.

Source: tracking spec, "Server-to-server sale body", subId.
"""

import re

#: Characters.
MAX_LENGTH = 64

_NOT_ALLOWED = re.compile(r"[^a-z0-9._-]")


def normalize(value: str | None) -> str | None:
    """Return the tag in lower case, without invalid characters, cut to 64; None when nothing is left.

    Source: tracking spec, "Server-to-server sale body", subId.
    """
    if value is None:
        return None
    return _NOT_ALLOWED.sub("", value.lower())[:MAX_LENGTH] or None
