"""activecampaign: contacts with custom fields, on a host of the brand's own.

A contact's fields have numbers; what each is called is asked for once in a while. It keeps no page that somebody came
from that could be relied on.
"""

import re
import time
from collections.abc import Mapping, Sequence

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField, CredentialsRefused
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SlugPlace
from adapters.platforms.wire import PlatformWire
from domain.platforms.signups import SignupRecord

_TYPED = re.compile(r"(?P<scheme>https?://)?(?P<host>[^/?#@:\s]+(?::[0-9]+)?)(?:[/?#]\S*)?", re.IGNORECASE)
_NAMES_KEPT_S = 300.0
_MOST_KEPT = 1_000
_MOST_FIELDS = 100


class ActiveCampaign:
    """The adapter; it remembers what accounts call their fields, for minutes. Safe for threads."""

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
        """Ask whose key it is."""
        if _wire(account).get("/users/me") is None:
            raise CredentialsRefused("there is no API at this address")
        return None

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Read a contact, then their fields."""
        wire = _wire(account)
        found = records.whose(shapes.items(wire.get("/contacts", {"email": email}), "contacts"), email, "email")
        number = shapes.text(found, "id")
        if number is None:
            return None
        values = shapes.items(wire.get(f"/contacts/{shapes.segment(number)}/fieldValues"), "fieldValues")
        by_number = {
            field: text
            for one in values
            if (field := shapes.text(one, "field")) and (text := shapes.text(one, "value"))
        }
        called = self._called(account, wire, by_number) if by_number else {}
        return SignupRecord(fields={called.get(field, field): text for field, text in by_number.items()})

    def _called(self, account: PlatformAccount, wire: PlatformWire, wanted: Mapping[str, str]) -> Mapping[str, str]:
        """Return what fields are called, by number; asked anew for one that is not known."""
        whose = account.credentials.get("apiUrl", ""), account.credentials.get("apiKey", "")
        until, known = self._names.get(whose, (0.0, {}))
        if time.monotonic() < until and wanted.keys() <= known.keys():
            return known
        told = shapes.items(wire.get("/fields", {"limit": _MOST_FIELDS}), "fields")
        known = {
            number: tag.strip("%")
            for one in told
            if (number := shapes.text(one, "id")) and (tag := shapes.text(one, "perstag"))
        }
        if len(self._names) >= _MOST_KEPT:
            self._names.clear()
        self._names[whose] = time.monotonic() + _NAMES_KEPT_S, known
        return known


def _wire(account: PlatformAccount) -> PlatformWire:
    typed = _TYPED.fullmatch(account.credentials.get("apiUrl", ""))
    if typed is None:
        raise CredentialsRefused("the API URL is no address such as https://you.api-us1.com")
    address = f"{(typed['scheme'] or 'https://').lower()}{typed['host']}/api/3"  # which of them is for the guard
    headers = {"Api-Token": account.credentials.get("apiKey", "")}
    return PlatformWire("activecampaign", account, address, headers, is_typed=True)


PLATFORM = ActiveCampaign()
