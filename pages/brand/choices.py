"""What several screens let one choose from."""

from collections.abc import Iterable, Mapping
from typing import Any

from api.affiliates.affiliates import list_affiliates
from api.programs.programs import list_programs
from pages import calls

_MOST = 200
#: What is said of an email that `affiliate` does not find.
NO_AFFILIATE = "No affiliate of this program has this email."


def programs() -> list[tuple[str, str]]:
    """Return the id and the name of each program, newest first, 200 at most. The screen uses `list_programs`."""
    return named(records())


def records() -> list[Mapping[str, Any]]:
    """Return the programs themselves, as `programs` does."""
    found: list[Mapping[str, Any]] = calls.needed(list_programs, query={"take": _MOST})["items"]
    return found


def named(programs: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the id and the name of each program."""
    return [(one["id"], one["name"]) for one in programs]


def questions(program: Mapping[str, Any]) -> dict[str, str]:
    """Return what a program's own form asks, by key."""
    form = program["applicationForm"]
    return {one["key"]: one["label"] for one in form["fields"]} if form else {}


def affiliate(email: str, program_id: str | None) -> str | None:
    """Return the id of a program's affiliate with this email; None when there is none.

    A list to choose from would be too long. The screen uses `list_affiliates`.
    """
    wanted = email.strip().lower()
    if not wanted:
        return None
    answer = calls.call(list_affiliates, query={"q": wanted, "programId": program_id or None, "take": _MOST})
    if answer.refusal is not None:
        return None
    return next((one["id"] for one in answer.data["items"] if one["email"] == wanted), None)
