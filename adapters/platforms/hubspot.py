"""hubspot: contacts with properties, and the page of their first visit."""

from collections.abc import Sequence

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField, CredentialsRefused
from adapters.gateways.wire import bearer
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SlugPlace
from adapters.platforms.wire import PlatformWire
from domain.platforms.signups import SignupRecord

_API = "https://api.hubapi.com"
_CONTACTS = "/crm/v3/objects/contacts"
_FIRST_VISIT = ("hs_analytics_first_url", "hs_analytics_first_referrer")


class HubSpot:
    """The adapter; it has no state."""

    name = "hubspot"
    label = "HubSpot"
    fields = (
        CredentialField(
            "accessToken", "Access token", "Settings, Integrations, Private apps; scope crm.objects.contacts.read"
        ),
    )
    slugs = SlugPlace(beside=("the page of the first visit",))

    def check(self, account: PlatformAccount) -> str | None:
        """Ask whose token it is; where it may not say so, whether it reads contacts, which is all that we do."""
        try:
            _wire(account).needed("/account-info/v3/details")
        except CredentialsRefused:
            _wire(account).get(_CONTACTS, {"limit": 1})
        return None

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Read a contact by their email. A property that is not there is left out of the answer."""
        wanted = ",".join(dict.fromkeys(["email", *names, *_FIRST_VISIT, "createdate"]))
        asked = {"idProperty": "email", "properties": wanted}
        said = _wire(account).get(f"{_CONTACTS}/{shapes.segment(email)}", asked)
        found = records.whose([shapes.at(said, "properties")], email, "email")
        if found is None:
            return None
        return SignupRecord(fields=shapes.table(found), addresses=records.texts(found, *_FIRST_VISIT))


def _wire(account: PlatformAccount) -> PlatformWire:
    return PlatformWire("hubspot", account, _API, bearer(account.credentials.get("accessToken", "")))


PLATFORM = HubSpot()
