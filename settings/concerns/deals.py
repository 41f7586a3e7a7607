"""What the platform keeps of creator deals."""

from dataclasses import dataclass

from settings.parsers import whole
from settings.table import Concern, setting


@dataclass(frozen=True, slots=True)
class Deals(Concern):
    """The take comes on top of each milestone, and is charged with it."""

    take_bps: int = setting(
        "DEAL_TAKE_BPS",
        whole(0, 10_000),
        0,
        "what is charged on top of each milestone of a deal and kept, in hundredths of a percent",
    )
