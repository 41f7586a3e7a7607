"""Switches from other affiliate systems: their addresses, our pace, and how long a switch can be undone."""

from collections.abc import Mapping
from dataclasses import dataclass

from domain.switches import pace
from domain.switches.sources import SourceName
from settings.parsers import host_url, rate, seconds_list, whole_number
from settings.table import Concern, setting


def _base_url(source: str, label: str) -> str | None:
    return setting(
        f"SWITCH_{source.upper()}_BASE_URL",
        host_url("https://api.example.com"),
        None,
        f"scheme and host that replace those of {label}'s API, for tests and for a proxy",
        default_text="its own address",
    )


@dataclass(frozen=True, slots=True)
class SwitchSources(Concern):
    """How the systems that brands leave are read, and how long a switch can be undone."""

    rewardful_base_url: str | None = _base_url("rewardful", "Rewardful")
    firstpromoter_base_url: str | None = _base_url("firstpromoter", "FirstPromoter")
    tolt_base_url: str | None = _base_url("tolt", "Tolt")
    partnerstack_base_url: str | None = _base_url("partnerstack", "PartnerStack")
    tapfiliate_base_url: str | None = _base_url("tapfiliate", "Tapfiliate")
    lemonsqueezy_base_url: str | None = _base_url("lemonsqueezy", "Lemon Squeezy")
    dub_base_url: str | None = _base_url("dub", "Dub")
    requests_per_s: float | None = setting(
        "SWITCH_REQUESTS_PER_S",
        rate,
        None,
        "requests per second to the system that a brand leaves; 0: as fast as it answers",
        default_text="what each system allows",
    )
    retry_at_s: tuple[int, ...] = setting(
        "SWITCH_RETRY_AT_S",
        seconds_list,
        pace.RETRY_AT_S,
        "seconds after which a request without a usable answer is repeated; then the switch pauses",
    )
    undo_days: int = setting(
        "SWITCH_UNDO_DAYS", whole_number(1, 365), 14, "days for which a completed switch can be undone"
    )

    @property
    def base_urls(self) -> Mapping[SourceName, str | None]:
        """The scheme and host that replace those of each source."""
        return {name: getattr(self, f"{name}_base_url") for name in SourceName if name != SourceName.Files}
