"""mailchimp: members of one audience, with merge fields and tags; it does not store the page where they signed up.

A member who was archived is still known. Under heavy use a page in front of the API answers 403 to all calls.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField, CredentialsRefused
from adapters.gateways.wire import basic
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SearchAdapter, SlugPlace
from adapters.platforms.wire import PlatformApi, find_replacement
from domain.platforms.signups import SignupRecord

_CENTRE = re.compile(r"[a-z]{2,6}[0-9]{1,4}")
_PARTS = "id,email_address,status,merge_fields,tags"


class Mailchimp(SearchAdapter):
    name = "mailchimp"
    label = "Mailchimp"
    fields = (
        CredentialField("apiKey", "API key", "Profile, Extras, API keys; it ends in a data centre such as -us21"),
        CredentialField("listId", "Audience id", "Audience, Settings: the unique id of the audience", secret=False),
    )
    email_field = "email_address"
    slugs = SlugPlace(("AFF_SLUG", "VIA"), longest=10, beside=("tags",))

    def check(self, account: PlatformAccount) -> str | None:
        """Check that the key is good, and that it sees the audience."""
        api = _api(account)
        api.require("/ping")
        return None if api.get(_path(account), {"fields": "id"}) else "the key sees no audience of this id"

    def search(self, account: PlatformAccount, email: str, names: Sequence[str]) -> Iterable[Any]:
        """Read a member by the hash of their email."""
        digest = hashlib.md5(email.strip().lower().encode(), usedforsecurity=False).hexdigest()
        return [_api(account).get(f"{_path(account)}/members/{digest}", {"fields": _PARTS})]

    def read(self, person: Mapping[str, Any]) -> SignupRecord:
        return SignupRecord(fields=shapes.table(person, "merge_fields"), tags=records.tags(person))


def _api(account: PlatformAccount) -> PlatformApi:
    key = account.credentials.get("apiKey", "")
    centre = key.rpartition("-")[2]
    if not _CENTRE.fullmatch(centre) and not find_replacement("mailchimp"):
        raise CredentialsRefused("the key does not end in a data centre such as -us21")
    address = f"https://{centre}.api.mailchimp.com/3.0"
    return PlatformApi("mailchimp", account, address, basic("any", key), refuses_in_json=True)


def _path(account: PlatformAccount) -> str:
    return f"/lists/{shapes.segment(account.credentials.get('listId', ''))}"


PLATFORM = Mailchimp()
