"""kit: subscribers with custom fields, tags and the page that they signed up on.

Lists lag behind: somebody who just subscribed may be missing for minutes.
"""

from collections.abc import Sequence

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SlugPlace
from adapters.platforms.wire import PlatformWire
from domain.platforms.signups import SignupRecord

_API = "https://api.kit.com/v4"


class Kit:
    """The adapter; it has no state."""

    name = "kit"
    label = "Kit"
    fields = (CredentialField("apiKey", "API key", "Settings, Developer: a V4 key"),)
    slugs = SlugPlace(beside=("tags", "the page of the signup", "utm fields"))

    def check(self, account: PlatformAccount) -> str | None:
        """Ask whose key it is."""
        _wire(account).needed("/account")
        return None

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Read a subscriber, whatever became of their subscription."""
        asked = {"email_address": email, "status": "all", "include": "attribution,tags"}
        said = _wire(account).get("/subscribers", asked)
        found = records.whose(shapes.items(said, "subscribers"), email, "email_address")
        if found is None:
            return None
        origin = shapes.at(found, "attribution")
        return SignupRecord(
            fields=shapes.table(found, "fields"),
            tags=records.tags(found),
            addresses=records.texts(origin, "referrer"),
            marks=records.marks(origin),
        )


def _wire(account: PlatformAccount) -> PlatformWire:
    return PlatformWire("kit", account, _API, {"X-Kit-Api-Key": account.credentials.get("apiKey", "")})


PLATFORM = Kit()
