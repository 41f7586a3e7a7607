"""mailchimp for the tests: members of one audience, found by the hash of their email."""

import base64
import hashlib
from typing import Any

from adapters.platforms.mailchimp import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

KEY, AUDIENCE = "0123456789abcdef-us21", "a1b2c3"
_MEMBERS = f"/3.0/lists/{AUDIENCE}/members/"


class MailchimpStage(PlatformStage):
    """An archived member answers as every other."""

    platform = PLATFORM
    credentials = {"apiKey": KEY, "listId": AUDIENCE}
    cannot = frozenset({"page", "marks"})

    def is_authorized(self, asked: ApiCall) -> bool:
        said = base64.b64decode(asked.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        return said.partition(":")[2] == KEY

    def is_lookup(self, asked: ApiCall) -> bool:
        return "/members/" in asked.path

    def answer(self, asked: ApiCall) -> tuple[int, Any]:
        if asked.path == "/3.0/ping":
            return 200, {"health_status": "Everything's Chimpy!"}
        if asked.path == f"/3.0/lists/{AUDIENCE}":
            return 200, {"id": AUDIENCE}
        by_hash = {hashlib.md5(email.encode(), usedforsecurity=False).hexdigest(): email for email in self.people}
        email = by_hash.get(asked.path.removeprefix(_MEMBERS))
        if not asked.path.startswith(_MEMBERS) or email is None:
            return 404, {"title": "Resource Not Found", "status": 404, "detail": "It could not be found."}
        person = self.people[email]
        return 200, {
            "id": "c8d3adca922f6037a02ffe71617aa302",
            "email_address": person.email,
            "status": "archived",
            "merge_fields": {"FNAME": "Ada", "ADDRESS": {"city": "Oslo"}, **person.fields},
            "tags": [{"id": place, "name": tag} for place, tag in enumerate(person.tags)],
        }
