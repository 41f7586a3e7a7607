"""The source of exchange rates."""

from dataclasses import dataclass

from settings.parsers import http_url
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Rates(Concern):
    """Reference exchange rates."""

    feed_url: str | None = setting(
        "FX_FEED_URL",
        http_url,
        None,
        "reference rates, fetched at 16:30 UTC every day: XML as the European Central Bank publishes it, or CSV (see"
        " `flask fx load`)",
    )
