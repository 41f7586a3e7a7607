"""beehiiv for the tests: subscriptions of one publication, found by their email in the path."""

from typing import Any
from urllib.parse import unquote

from adapters.platforms.beehiiv import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

KEY, PUBLICATION = "bh_fake", "pub_00000000-0000-0000-0000-000000000001"
_BY_EMAIL = f"/v2/publications/{PUBLICATION}/subscriptions/by_email/"


class BeehiivStage(PlatformStage):
    """A path with anything but strict encoding finds nobody."""

    platform = PLATFORM
    credentials = {"apiKey": KEY, "publicationId": PUBLICATION}

    def is_authorized(self, asked: ApiCall) -> bool:
        return asked.headers.get("Authorization") == f"Bearer {KEY}"

    def is_lookup(self, asked: ApiCall) -> bool:
        return "/subscriptions/by_email/" in asked.path

    def answer(self, asked: ApiCall) -> tuple[int, Any]:
        if asked.path == "/v2/publications":
            return 200, {"data": [{"id": PUBLICATION, "name": "Ada's"}], "page": 1, "total_results": 1}
        sent = asked.path.removeprefix(_BY_EMAIL)
        person = self.people.get(unquote(sent).lower())
        if not asked.path.startswith(_BY_EMAIL) or person is None or {"+", "@"} & set(sent):
            return 404, {"errors": [{"message": "Subscription not found", "code": "NOT_FOUND"}]}
        blank = {"utm_source": "", "utm_medium": "", "utm_campaign": "", "utm_channel": "website"}
        shown = {"id": "sub_1", "email": person.email, "status": "active", **blank, **person.marks}
        shown |= {"referring_site": person.page or "", "referral_code": "xyz"}
        if "custom_fields" in asked.params["expand[]"]:
            shown["custom_fields"] = [
                {"name": name, "kind": "string", "value": value} for name, value in person.fields.items()
            ]
        if "tags" in asked.params["expand[]"]:
            shown["tags"] = list(person.tags)
        return 200, {"data": shown}
