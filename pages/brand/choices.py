"""What several screens let one choose from."""

from api.programs.programs import list_programs
from pages import calls

_MOST = 200


def programs() -> list[tuple[str, str]]:
    """Return the id and the name of each program, newest first, 200 at most. The screen uses `list_programs`."""
    return [(one["id"], one["name"]) for one in calls.needed(list_programs, query={"take": _MOST})["items"]]
