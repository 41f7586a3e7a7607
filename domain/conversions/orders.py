"""The sort orders of conversions, each backed by an index."""

from enum import StrEnum


class ConversionOrder(StrEnum):
    """`newest` and `oldest` sort by the time a conversion was recorded, `payable` by the end of its hold."""

    newest = "newest"
    oldest = "oldest"
    payable = "payable"
