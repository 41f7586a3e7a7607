"""A fake Kit: subscribers, looked up by email."""

from typing import Any

from adapters.platforms.kit import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import Person, PlatformStage

KEY = "kit_fake"


class KitStage(PlatformStage):
    """A fake Kit that responds to a lookup of an unknown email with 200 and an empty list."""

    platform = PLATFORM
    credentials = {"apiKey": KEY}

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("X-Kit-Api-Key") == KEY

    def is_lookup(self, call: ApiCall) -> bool:
        return call.path == "/v4/subscribers"

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/v4/account":
            return 200, {"user": {"email": "owner@example.com"}, "account": {"id": 1, "name": "Ada's"}}
        if call.path != "/v4/subscribers" or call.params.get("status") != ["all"]:
            return 404, {"errors": ["Not Found"]}
        person = self.people.get(call.params["email_address"][0].lower())
        return 200, {
            "subscribers": [_serialize_person(person, call)] if person else [],
            "pagination": {"per_page": 500},
        }


def _serialize_person(person: Person, call: ApiCall) -> dict[str, Any]:
    included = call.params["include"][0].split(",")
    view: dict[str, Any] = {"id": 660, "email_address": person.email, "state": "active", "fields": dict(person.fields)}
    if "attribution" in included:
        blank = dict.fromkeys(("utm_source", "utm_medium", "utm_campaign"))
        view["attribution"] = {"referrer": person.page, **blank, **person.marks, "source_type": "form"}
    if "tags" in included:
        view["tags"] = [{"id": place, "name": tag} for place, tag in enumerate(person.tags)]
    return view
