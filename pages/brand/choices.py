"""Choices that several screens offer."""

from collections.abc import Iterable, Mapping
from typing import Any

from api.affiliates.affiliates import list_affiliates
from api.programs.programs import list_programs
from pages import api_client

_MAX_ROWS = 200
#: The error of an email that `find_affiliate_id` does not find.
UNKNOWN_AFFILIATE = "No affiliate in this program has this email."


def list_program_choices() -> list[tuple[str, str]]:
    """Return the id and the name of each program, newest first, 200 at most. The screen uses `list_programs`."""
    return name_programs(fetch_programs())


def fetch_programs() -> list[Mapping[str, Any]]:
    """Return the programs as `list_program_choices` does, with all fields."""
    rows: list[Mapping[str, Any]] = api_client.require(list_programs, query={"take": _MAX_ROWS})["items"]
    return rows


def name_programs(programs: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the id and the name of each program."""
    return [(program["id"], program["name"]) for program in programs]


def application_questions(program: Mapping[str, Any]) -> dict[str, str]:
    """Return the questions of a program's application form by key."""
    form = program["applicationForm"]
    return {field["key"]: field["label"] for field in form["fields"]} if form else {}


def find_affiliate_id(email: str, program_id: str | None) -> str | None:
    """Return the id of a program's affiliate with this email; None where the program has no such affiliate.

    A list to choose from would be too long. The screen uses `list_affiliates`.
    """
    normalized = email.strip().lower()
    if not normalized:
        return None
    answer = api_client.call(
        list_affiliates, query={"q": normalized, "programId": program_id or None, "take": _MAX_ROWS}
    )
    if answer.refusal is not None:
        return None
    return next((row["id"] for row in answer.data["items"] if row["email"] == normalized), None)
