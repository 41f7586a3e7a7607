"""Reads ids out of paths."""

import re
from uuid import UUID

from domain.refused import not_found

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def uuid(text: str, what: str) -> UUID:
    """Return the id, or refuse with 404 not_found: what is no id names nothing."""
    if not _ID.fullmatch(text):
        raise not_found(what)
    return UUID(text)
