"""activecampaign: contacts with custom fields, on a host of the brand's own.

A contact's fields have numbers; their names are read and cached. It stores no reliable page of origin.
"""

import re
import time
from collections.abc import Mapping, Sequence

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField, CredentialsRefused
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, PlatformAdapter, SlugPlace
from adapters.platforms.wire import PlatformApi
from domain.platforms.signups import SignupRecord

_TYPED = re.compile(r"(?P<scheme>https?://)?(?P<host>[^/?#@:\s]+(?::[0-9]+)?)(?:[/?#]\S*)?", re.IGNORECASE)
_NAMES_CACHED_S = 300.0
_MAX_CACHED = 1_000
_MAX_FIELDS = 100


class ActiveCampaign(PlatformAdapter):
    """The adapter; it caches the names of accounts' fields for minutes. Safe for threads."""

    name = "activecampaign"
    label = "ActiveCampaign"
    fields = (
        CredentialField("apiUrl", "API URL", "Settings, Developer: such as https://you.api-us1.com", secret=False),
        CredentialField("apiKey", "API key", "Beside the API URL"),
    )
    slugs = SlugPlace()

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], tuple[float, Mapping[str, str]]] = {}

    def check(self, account: PlatformAccount) -> str | None:
        """Read whose key it is."""
        if _api(account).get("/users/me") is None:
            raise CredentialsRefused("there is no API at this address")
        return None

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Read a contact, then their fields."""
        api = _api(account)
        contact = records.find_by_email(
            shapes.items(api.get("/contacts", {"email": email}), "contacts"), email, "email"
        )
        number = shapes.text(contact, "id")
        if number is None:
            return None
        values = shapes.items(api.get(f"/contacts/{shapes.segment(number)}/fieldValues"), "fieldValues")
        by_number = {
            field: text
            for value in values
            if (field := shapes.text(value, "field")) and (text := shapes.text(value, "value"))
        }
        names_by_number = self._field_names(account, api, by_number) if by_number else {}
        return SignupRecord(fields={names_by_number.get(field, field): text for field, text in by_number.items()})

    def _field_names(self, account: PlatformAccount, api: PlatformApi, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the names of fields by number; they are read again for a number that is not cached."""
        key = account.credentials.get("apiUrl", ""), account.credentials.get("apiKey", "")
        until, names = self._names.get(key, (0.0, {}))
        if time.monotonic() < until and values.keys() <= names.keys():
            return names
        fields = shapes.items(api.get("/fields", {"limit": _MAX_FIELDS}), "fields")
        names = {
            number: tag.strip("%")
            for field in fields
            if (number := shapes.text(field, "id")) and (tag := shapes.text(field, "perstag"))
        }
        if len(self._names) >= _MAX_CACHED:
            self._names.clear()
        self._names[key] = time.monotonic() + _NAMES_CACHED_S, names
        return names


def _api(account: PlatformAccount) -> PlatformApi:
    typed = _TYPED.fullmatch(account.credentials.get("apiUrl", ""))
    if typed is None:
        raise CredentialsRefused("the API URL is no address such as https://you.api-us1.com")
    address = f"{(typed['scheme'] or 'https://').lower()}{typed['host']}/api/3"
    headers = {"Api-Token": account.credentials.get("apiKey", "")}
    return PlatformApi("activecampaign", account, address, headers, is_brands_host=True)


PLATFORM = ActiveCampaign()
