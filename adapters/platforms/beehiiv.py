"""beehiiv: subscriptions of one publication, with custom fields, tags and where they came from."""

from collections.abc import Sequence

from adapters.gateways import shapes
from adapters.gateways.base import CredentialField
from adapters.gateways.wire import bearer
from adapters.platforms import records
from adapters.platforms.base import PlatformAccount, SlugPlace
from adapters.platforms.wire import PlatformWire
from domain.platforms.signups import SignupRecord

_API = "https://api.beehiiv.com/v2"
_PARTS = {"expand[]": ("custom_fields", "tags")}


class Beehiiv:
    """The adapter; it has no state."""

    name = "beehiiv"
    label = "beehiiv"
    fields = (
        CredentialField("apiKey", "API key", "Settings, Workspace settings, API"),
        CredentialField("publicationId", "Publication id", "Beside the API keys: pub_…", secret=False),
    )
    slugs = SlugPlace(beside=("tags", "the page of the signup", "utm fields"))

    def check(self, account: PlatformAccount) -> str | None:
        """Ask which publications the key sees."""
        seen = [shapes.text(one, "id") for one in shapes.items(_wire(account).needed("/publications"), "data")]
        if seen and _publication(account) not in seen and _wire(account).get(_path(account)) is None:
            return "the key sees no publication of this id"
        return None

    def find(self, account: PlatformAccount, email: str, *, names: Sequence[str]) -> SignupRecord | None:
        """Read a subscription by its email."""
        said = _wire(account).get(f"{_path(account)}/subscriptions/by_email/{shapes.segment(email)}", _PARTS)
        found = records.whose([shapes.at(said, "data")], email, "email")
        if found is None:
            return None
        return SignupRecord(
            fields=shapes.pairs(found, "custom_fields"),
            tags=records.tags(found),
            addresses=records.texts(found, "referring_site"),
            marks=records.marks(found),
        )


def _wire(account: PlatformAccount) -> PlatformWire:
    return PlatformWire("beehiiv", account, _API, bearer(account.credentials.get("apiKey", "")))


def _publication(account: PlatformAccount) -> str:
    return account.credentials.get("publicationId", "")


def _path(account: PlatformAccount) -> str:
    return f"/publications/{shapes.segment(_publication(account))}"


PLATFORM = Beehiiv()
