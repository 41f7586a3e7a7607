"""The type and size of an image from its first bytes, without decoding it: PNG, JPEG, GIF and WebP.

SVG is not supported, since it can contain scripts.
"""

from collections.abc import Callable
from dataclasses import dataclass

from domain.refusals import Refused

_MIN_PIXELS = 16
_MAX_PIXELS = 4096

_PNG = b"\x89PNG\r\n\x1a\n"
_GIFS = (b"GIF87a", b"GIF89a")
_JPEG = b"\xff\xd8\xff"
# Start-of-frame markers contain the size; C4, C8 and CC are other markers.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Markers without a length: temporary, restarts.
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})


@dataclass(frozen=True, slots=True)
class Image:
    """The media type of an image, and its width and height in pixels."""

    content_type: str
    width: int
    height: int


def check(content: bytes, *, declared_type: str | None, max_bytes: int) -> Image:
    """Return the type and size of an image. `declared_type` is the media type it was sent as, None if not declared.

    Raises Refused: 413 payload_too_large; 400 invalid_image for content that is not one of the four types, was sent as
    another one, or is too small or too large to display.
    """
    if len(content) > max_bytes:
        raise Refused(413, "payload_too_large", f"An image can have at most {max_bytes} bytes.")
    image = read(content)
    if image is None or declared_type not in (None, image.content_type):
        kinds = ", ".join(CONTENT_TYPES)
        raise Refused(400, "invalid_image", f"The content must be an image of the type it is sent as: {kinds}.")
    if not all(_MIN_PIXELS <= size <= _MAX_PIXELS for size in (image.width, image.height)):
        message = (
            f"Width and height must be {_MIN_PIXELS} to {_MAX_PIXELS} pixels, not {image.width} by {image.height}."
        )
        raise Refused(400, "invalid_image", message)
    return image


def read(data: bytes) -> Image | None:
    """Return the type and size of the bytes; None if they are not one of the four types, or cut off before the size."""
    for content_type, is_kind, size_of in _KINDS:
        if is_kind(data):
            size = size_of(data)
            return Image(content_type, *size) if size else None
    return None


def _png_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 10:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        if marker == 0xFF:  # fill byte
            at += 1
        elif marker in _BARE:
            at += 2
        else:
            at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None


def _is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


def _webp_size(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
    if kind == b"VP8L" and data[20] == 0x2F:
        packed = int.from_bytes(data[21:25], "little")
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if kind == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    return None


_Size = tuple[int, int] | None
_KINDS: tuple[tuple[str, Callable[[bytes], bool], Callable[[bytes], _Size]], ...] = (
    ("image/png", lambda data: data.startswith(_PNG), _png_size),
    ("image/jpeg", lambda data: data.startswith(_JPEG), _jpeg_size),
    ("image/gif", lambda data: data.startswith(_GIFS), _gif_size),
    ("image/webp", _is_webp, _webp_size),
)

#: The supported media types.
CONTENT_TYPES = tuple(content_type for content_type, _, _ in _KINDS)
