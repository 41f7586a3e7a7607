"""Advertising assets that a brand gives its affiliates."""

from enum import StrEnum

from domain import slugs


class AssetKind(StrEnum):
    """The kind of an asset."""

    Text = "Text"
    Image = "Image"


#: The maximum size of a text, in characters, and of an image, in bytes.
MAX_TEXT_CHARS = 5_000
MAX_IMAGE_BYTES = 2 * 1024 * 1024
#: The maximum number of an organization's assets, and of their bytes in all.
MAX_ASSETS = 200
MAX_BYTES = 100 * 1024 * 1024

_EXTENSIONS = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


def file_name(name: str, content_type: str) -> str:
    """Return the file name of a downloaded image: ASCII letters, digits and hyphens, with the extension of its type."""
    return f"{slugs.simplify(name) or 'image'}.{_EXTENSIONS[content_type]}"
