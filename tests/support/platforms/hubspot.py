"""A fake HubSpot: contacts, looked up by email, with the requested properties only."""

from typing import Any
from urllib.parse import unquote

from adapters.platforms.hubspot import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

TOKEN = "pat-na1-fake"  # not a real token
_CONTACTS = "/crm/v3/objects/contacts/"


class HubSpotStage(PlatformStage):
    """A fake HubSpot; with `is_narrow` its token may read contacts only."""

    platform = PLATFORM
    credentials = {"accessToken": TOKEN}
    unsupported = frozenset({"tags", "marks"})
    is_narrow = False

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {TOKEN}"

    def is_lookup(self, call: ApiCall) -> bool:
        return call.path.startswith(_CONTACTS)

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/account-info/v3/details":
            missing_scope = (
                403,
                {"status": "error", "message": "This token has no such scope.", "category": "MISSING_SCOPES"},
            )
            return missing_scope if self.is_narrow else (200, {"portalId": 62515})
        if f"{call.path}/" == _CONTACTS:
            return 200, {"results": []}
        person = self.people.get(unquote(call.path.removeprefix(_CONTACTS)).lower())
        if person is None or call.params.get("idProperty") != ["email"]:
            return 404, {"status": "error", "message": "resource not found", "category": "OBJECT_NOT_FOUND"}
        existing = {"email": person.email, "hs_analytics_first_url": person.page, **person.fields}
        fields = call.params["properties"][0].split(",")
        return 200, {"id": "501", "properties": {name: existing[name] for name in fields if name in existing}}
