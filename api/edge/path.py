"""Parsing of ids in paths and queries."""

import re
from uuid import UUID

from domain.refusals import Refused, not_found

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


def uuid(text: str, what: str) -> UUID:
    """Return the id. Raises Refused 404 not_found for a text that is not an id."""
    if not _ID.fullmatch(text):
        raise not_found(what)
    return UUID(text)


def number(text: str, what: str) -> int:
    """Return a number that counts from 1. Raises Refused 404 not_found for another text."""
    if not _NUMBER.fullmatch(text):
        raise not_found(what)
    return int(text)


def required_program(text: str) -> UUID:
    """Return the program id of a query. Raises Refused 400 program_id_required if it is missing or invalid."""
    if not _ID.fullmatch(text):
        raise Refused(400, "program_id_required", "programId must be the id of a program.", field="programId")
    return UUID(text)
