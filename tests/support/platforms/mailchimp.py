"""A fake Mailchimp: members of one audience, looked up by the hash of their email."""

import base64
import hashlib
from typing import Any

from adapters.platforms.mailchimp import PLATFORM
from tests.support.gateways.stage import ApiCall
from tests.support.platforms.stage import PlatformStage

KEY, AUDIENCE = "0123456789abcdef-us21", "a1b2c3"
_MEMBERS = f"/3.0/lists/{AUDIENCE}/members/"


class MailchimpStage(PlatformStage):
    """A fake Mailchimp whose members are all archived, which the service must treat like others."""

    platform = PLATFORM
    credentials = {"apiKey": KEY, "listId": AUDIENCE}
    unsupported = frozenset({"page", "marks"})

    def is_authorized(self, call: ApiCall) -> bool:
        login = base64.b64decode(call.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        return login.partition(":")[2] == KEY

    def is_lookup(self, call: ApiCall) -> bool:
        return "/members/" in call.path

    def answer(self, call: ApiCall) -> tuple[int, Any]:
        if call.path == "/3.0/ping":
            return 200, {"health_status": "Everything's Chimpy!"}
        if call.path == f"/3.0/lists/{AUDIENCE}":
            return 200, {"id": AUDIENCE}
        by_hash = {hashlib.md5(email.encode(), usedforsecurity=False).hexdigest(): email for email in self.people}
        email = by_hash.get(call.path.removeprefix(_MEMBERS))
        if not call.path.startswith(_MEMBERS) or email is None:
            return 404, {"title": "Resource Not Found", "status": 404, "detail": "It could not be found."}
        person = self.people[email]
        return 200, {
            "id": "c8d3adca922f6037a02ffe71617aa302",
            "email_address": person.email,
            "status": "archived",
            "merge_fields": {"FNAME": "Ada", "ADDRESS": {"city": "Oslo"}, **person.fields},
            "tags": [{"id": place, "name": tag} for place, tag in enumerate(person.tags)],
        }
