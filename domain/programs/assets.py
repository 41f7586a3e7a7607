"""What a brand may give its affiliates to advertise with."""

from enum import StrEnum

from domain import slugs


class AssetKind(StrEnum):
    """What an asset is."""

    Text = "Text"
    Image = "Image"


#: The longest text, in characters, and the largest image, in bytes.
LONGEST_TEXT = 5_000
MOST_IMAGE_BYTES = 2 * 1024 * 1024
#: How many assets an organization may have, and how many bytes all of them together.
MOST_ASSETS = 200
MOST_BYTES = 100 * 1024 * 1024

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def file_name(name: str, content_type: str) -> str:
    """Return what an image is called when it is taken away: plain letters alone, and the ending of what it is."""
    return f"{slugs.plain(name) or 'image'}.{_ENDINGS[content_type]}"
