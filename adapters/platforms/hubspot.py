"""hubspot: contacts with properties, and the page of their first visit."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField, CredentialsRefused
from adapters.gateways.wire import bearer
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SearchAdapter, SlugPlace
from adapters.platforms.wire import PlatformApi
from domain.platforms.signups import SignupRecord

_API = "https://api.hubapi.com"
_CONTACTS = "/crm/v3/objects/contacts"
_FIRST_VISIT = ("hs_analytics_first_url", "hs_analytics_first_referrer")


class HubSpot(SearchAdapter):
    name = "hubspot"
    label = "HubSpot"
    fields = (
        CredentialField(
            "accessToken", "Access token", "Settings, Integrations, Private apps; scope crm.objects.contacts.read"
        ),
    )
    slugs = SlugPlace(beside=("the page of the first visit",))

    def check(self, account: PlatformAccount) -> str | None:
        """Read whose token it is; where that is not allowed, read contacts, the only right that is needed."""
        try:
            _api(account).require("/account-info/v3/details")
        except CredentialsRefused:
            _api(account).get(_CONTACTS, {"limit": 1})
        return None

    def search(self, account: PlatformAccount, email: str, names: Sequence[str]) -> Iterable[Any]:
        """Read a contact by their email. A property that does not exist is left out of the answer."""
        properties = ",".join(dict.fromkeys(["email", *names, *_FIRST_VISIT, "createdate"]))
        params = {"idProperty": "email", "properties": properties}
        return [shapes.get(_api(account).get(f"{_CONTACTS}/{shapes.segment(email)}", params), "properties")]

    def read(self, person: Mapping[str, Any]) -> SignupRecord:
        return SignupRecord(fields=shapes.table(person), addresses=records.texts(person, *_FIRST_VISIT))


def _api(account: PlatformAccount) -> PlatformApi:
    return PlatformApi("hubspot", account, _API, bearer(account.credentials.get("accessToken", "")))


PLATFORM = HubSpot()
