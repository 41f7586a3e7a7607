"""The first bytes of image files, from which the service reads their type and size."""

import struct


def png(width: int, height: int) -> bytes:
    """Return a PNG up to the end of its header."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", width, height, 8, 6, 0, 0, 0) + b"\0" * 4


def gif(width: int, height: int) -> bytes:
    """Return a GIF up to the end of its screen descriptor."""
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0)


def jpeg(width: int, height: int, *, frame: int = 0xC0, before: bytes = b"") -> bytes:
    """Return a JPEG up to its frame header; `before` comes between the JFIF segment and the frame."""
    jfif = b"\xff\xe0" + struct.pack(">H5sBBBHHBB", 16, b"JFIF\0", 1, 1, 0, 1, 1, 0, 0)
    return b"\xff\xd8" + jfif + before + struct.pack(">BBHBHHB", 0xFF, frame, 17, 8, height, width, 3) + b"\0" * 9


def webp(width: int, height: int, kind: str = "VP8X") -> bytes:
    """Return a WebP up to the size in its first chunk: VP8X, VP8L or VP8 (lossy)."""
    if kind == "VP8X":
        chunk = b"\0" * 4 + struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    elif kind == "VP8L":
        chunk = b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + b"\0" * 5
    else:
        chunk = b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    name = kind.ljust(4).encode()
    return b"RIFF" + struct.pack("<I", 12 + len(chunk)) + b"WEBP" + name + struct.pack("<I", len(chunk)) + chunk
