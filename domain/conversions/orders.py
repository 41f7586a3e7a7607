"""The orders in which conversions are listed, each with an index behind it."""

from enum import StrEnum


class ConversionOrder(StrEnum):
    """`newest` and `oldest` go by when a conversion was recorded, `payable` by when its hold ends."""

    newest = "newest"
    oldest = "oldest"
    payable = "payable"
