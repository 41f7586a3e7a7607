"""kit: subscribers with custom fields, tags and the page that they signed up on.

Lists lag behind: a person who just subscribed may be missing for minutes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SearchAdapter, SlugPlace
from adapters.platforms.wire import PlatformApi
from domain.platforms.signups import SignupRecord

_API = "https://api.kit.com/v4"


class Kit(SearchAdapter):
    name = "kit"
    label = "Kit"
    fields = (CredentialField("apiKey", "API key", "Settings, Developer: a V4 key"),)
    email_field = "email_address"
    slugs = SlugPlace(beside=("tags", "the page of the signup", "utm fields"))

    def check(self, account: PlatformAccount) -> str | None:
        """Read whose key it is."""
        _api(account).require("/account")
        return None

    def search(self, account: PlatformAccount, email: str, names: Sequence[str]) -> Iterable[Any]:
        """Read a subscriber, whatever the state of their subscription."""
        params = {"email_address": email, "status": "all", "include": "attribution,tags"}
        return shapes.items(_api(account).get("/subscribers", params), "subscribers")

    def read(self, person: Mapping[str, Any]) -> SignupRecord:
        origin = shapes.get(person, "attribution")
        return SignupRecord(
            fields=shapes.table(person, "fields"),
            tags=records.tags(person),
            addresses=records.texts(origin, "referrer"),
            marks=records.marks(origin),
        )


def _api(account: PlatformAccount) -> PlatformApi:
    return PlatformApi("kit", account, _API, {"X-Kit-Api-Key": account.credentials.get("apiKey", "")})


PLATFORM = Kit()
