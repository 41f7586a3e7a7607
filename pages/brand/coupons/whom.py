"""The affiliate that a form names by their email: a list to choose from would be too long."""

from api.affiliates.affiliates import list_affiliates
from pages import calls

_MOST = 200


def find(email: str, program_id: str | None) -> str | None:
    """Return the id of a program's affiliate with this email; None when there is none.

    The screen uses `list_affiliates`.
    """
    wanted = email.strip().lower()
    if not wanted:
        return None
    answer = calls.call(list_affiliates, query={"q": wanted, "programId": program_id or None, "take": _MOST})
    if answer.refusal is not None:
        return None
    return next((one["id"] for one in answer.data["items"] if one["email"] == wanted), None)
