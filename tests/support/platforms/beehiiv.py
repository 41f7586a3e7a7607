"""A fake beehiiv: subscriptions of one publication, looked up by the email in the path."""

from typing import Any
from urllib.parse import unquote

from adapters.platforms.beehiiv import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

KEY, PUBLICATION = "bh_fake", "pub_00000000-0000-0000-0000-000000000001"
_BY_EMAIL = f"/v2/publications/{PUBLICATION}/subscriptions/by_email/"


class BeehiivStage(PlatformStage):
    """A fake beehiiv that finds no one if the email in the path is not percent-encoded strictly."""

    platform = PLATFORM
    credentials = {"apiKey": KEY, "publicationId": PUBLICATION}

    def is_authorized(self, call: ApiCall) -> bool:
        return call.headers.get("Authorization") == f"Bearer {KEY}"

    def is_lookup(self, call: ApiCall) -> bool:
        return "/subscriptions/by_email/" in call.path

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/v2/publications":
            return 200, {"data": [{"id": PUBLICATION, "name": "Ada's"}], "page": 1, "total_results": 1}
        encoded_email = call.path.removeprefix(_BY_EMAIL)
        person = self.people.get(unquote(encoded_email).lower())
        if not call.path.startswith(_BY_EMAIL) or person is None or {"+", "@"} & set(encoded_email):
            return 404, {"errors": [{"message": "Subscription not found", "code": "NOT_FOUND"}]}
        blank = {"utm_source": "", "utm_medium": "", "utm_campaign": "", "utm_channel": "website"}
        view = {"id": "sub_1", "email": person.email, "status": "active", **blank, **person.marks}
        view |= {"referring_site": person.page or "", "referral_code": "xyz"}
        if "custom_fields" in call.params["expand[]"]:
            view["custom_fields"] = [
                {"name": name, "kind": "string", "value": value} for name, value in person.fields.items()
            ]
        if "tags" in call.params["expand[]"]:
            view["tags"] = list(person.tags)
        return 200, {"data": view}
