"""beehiiv: subscriptions of one publication, with custom fields, tags and where they came from."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField
from adapters.gateways.wire import bearer
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SearchAdapter, SlugPlace
from adapters.platforms.wire import PlatformApi
from domain.platforms.signups import SignupRecord

_API = "https://api.beehiiv.com/v2"
_PARTS = {"expand[]": ("custom_fields", "tags")}


class Beehiiv(SearchAdapter):
    name = "beehiiv"
    label = "beehiiv"
    fields = (
        CredentialField("apiKey", "API key", "Settings, Workspace settings, API"),
        CredentialField("publicationId", "Publication id", "Beside the API keys: pub_…", secret=False),
    )
    slugs = SlugPlace(beside=("tags", "the page of the signup", "utm fields"))

    def check(self, account: PlatformAccount) -> str | None:
        """Read which publications the key sees."""
        publications = shapes.items(_api(account).require("/publications"), "data")
        ids = [shapes.text(publication, "id") for publication in publications]
        if ids and _publication(account) not in ids and _api(account).get(_path(account)) is None:
            return "the key sees no publication of this id"
        return None

    def search(self, account: PlatformAccount, email: str, names: Sequence[str]) -> Iterable[Any]:
        """Read a subscription by its email."""
        answer = _api(account).get(f"{_path(account)}/subscriptions/by_email/{shapes.segment(email)}", _PARTS)
        return [shapes.get(answer, "data")]

    def read(self, person: Mapping[str, Any]) -> SignupRecord:
        return SignupRecord(
            fields=shapes.pairs(person, "custom_fields"),
            tags=records.tags(person),
            addresses=records.texts(person, "referring_site"),
            marks=records.marks(person),
        )


def _api(account: PlatformAccount) -> PlatformApi:
    return PlatformApi("beehiiv", account, _API, bearer(account.credentials.get("apiKey", "")))


def _publication(account: PlatformAccount) -> str:
    return account.credentials.get("publicationId", "")


def _path(account: PlatformAccount) -> str:
    return f"/publications/{shapes.segment(_publication(account))}"


PLATFORM = Beehiiv()
