"""A valid call of every route with which a brand changes a switch, and the rows that these calls need."""

from collections.abc import Callable
from typing import Any

from tests.support.rows.brands import Brand
from tests.support.switches.switch_states import TO_CONFIRM, insert_switch

_SWITCHES = "/api/v1/switches"
_FILES = {"source": "files", "credentials": {}}
_PEOPLE = b"email\nben@example.com\n"

PreparedCall = tuple[str, Any]  # the path and the body; the owner sends it


def connect_files(owner: Brand) -> str:
    """Connect a switch whose source is files, and return its address."""
    response = owner.post(_SWITCHES, _FILES)
    assert response.status_code == 201, response.get_data(as_text=True)
    return f"{_SWITCHES}/{(response.json or {})['id']}"


def _upload_people(owner: Brand) -> str:
    address = connect_files(owner)
    upload = owner.call("PUT", f"{address}/files/affiliates/1", _PEOPLE)
    assert upload.status_code == 200, upload.get_data(as_text=True)
    return address


def _map_files(owner: Brand) -> str:
    address = _upload_people(owner)
    mapping = {
        "columns": {"affiliates": {"email": "email"}},
        "campaigns": [{"sourceId": "all", "programId": str(owner.program())}],
    }
    changed = owner.call("PATCH", address, mapping)
    assert changed.status_code == 200, changed.get_data(as_text=True)
    return address


def _insert(owner: Brand, state: str) -> str:
    return f"{_SWITCHES}/{insert_switch(owner, state)}"


#: The calls by method and rule.
CALLS: dict[str, Callable[[Brand], PreparedCall]] = {
    f"POST {_SWITCHES}": lambda owner: (_SWITCHES, _FILES),
    f"PATCH {_SWITCHES}/<switch_id>": lambda owner: (
        connect_files(owner),
        {"campaigns": [{"sourceId": "all", "programId": str(owner.program())}]},
    ),
    f"PUT {_SWITCHES}/<switch_id>/files/<collection>/<part>": lambda owner: (
        f"{connect_files(owner)}/files/affiliates/1",
        _PEOPLE,
    ),
    f"DELETE {_SWITCHES}/<switch_id>/files/<collection>/<part>": lambda owner: (
        f"{_upload_people(owner)}/files/affiliates/1",
        None,
    ),
    f"POST {_SWITCHES}/<switch_id>/read": lambda owner: (f"{_map_files(owner)}/read", {}),
    f"POST {_SWITCHES}/<switch_id>/resume": lambda owner: (f"{_insert(owner, 'Paused')}/resume", {}),
    f"POST {_SWITCHES}/<switch_id>/cancel": lambda owner: (f"{connect_files(owner)}/cancel", {}),
    f"POST {_SWITCHES}/<switch_id>/run": lambda owner: (f"{_insert(owner, 'Ready')}/run", {"confirm": TO_CONFIRM}),
    f"POST {_SWITCHES}/<switch_id>/undo": lambda owner: (f"{_insert(owner, 'Completed')}/undo", {}),
}
