"""Reads ids out of paths and queries."""

import re
from uuid import UUID

from domain.refusals import Refused, not_found

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def uuid(text: str, what: str) -> UUID:
    """Return the id, or refuse with 404 not_found: a text that is not an id names nothing."""
    if not _ID.fullmatch(text):
        raise not_found(what)
    return UUID(text)


def number(text: str, what: str) -> int:
    """Return the number of a thing that is counted from 1, or refuse with 404 not_found."""
    if not _NUMBER.fullmatch(text):
        raise not_found(what)
    return int(text)


def needed_program(sent: str) -> UUID:
    """Return the program that a query must name, or refuse with 400 program_id_required: missing or no id at all."""
    if not _ID.fullmatch(sent):
        raise Refused(400, "program_id_required", "programId must be the id of a program.", field="programId")
    return UUID(sent)
