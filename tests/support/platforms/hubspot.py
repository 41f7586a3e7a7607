"""hubspot for the tests: contacts, found by their email; properties that are not asked for are left out."""

from typing import Any
from urllib.parse import unquote

from adapters.platforms.hubspot import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

TOKEN = "pat-na1-fake"  # nobody's
_CONTACTS = "/crm/v3/objects/contacts/"


class HubSpotStage(PlatformStage):
    """A token that may read contacts and nothing else is `narrow`."""

    platform = PLATFORM
    credentials = {"accessToken": TOKEN}
    cannot = frozenset({"tags", "marks"})
    is_narrow = False

    def is_authorized(self, asked: ApiCall) -> bool:
        return asked.headers.get("Authorization") == f"Bearer {TOKEN}"

    def is_lookup(self, asked: ApiCall) -> bool:
        return asked.path.startswith(_CONTACTS)

    def answer(self, asked: ApiCall) -> tuple[int, Any]:
        if asked.path == "/account-info/v3/details":
            narrow = 403, {"status": "error", "message": "This token has no such scope.", "category": "MISSING_SCOPES"}
            return narrow if self.is_narrow else (200, {"portalId": 62515})
        if f"{asked.path}/" == _CONTACTS:
            return 200, {"results": []}
        person = self.people.get(unquote(asked.path.removeprefix(_CONTACTS)).lower())
        if person is None or asked.params.get("idProperty") != ["email"]:
            return 404, {"status": "error", "message": "resource not found", "category": "OBJECT_NOT_FOUND"}
        known = {"email": person.email, "hs_analytics_first_url": person.page, **person.fields}
        wanted = asked.params["properties"][0].split(",")
        return 200, {"id": "501", "properties": {name: known[name] for name in wanted if name in known}}
