"""Type and size of an image, from its first bytes."""

import struct

import pytest

from domain.organization import images
from tests.support.rows.images import gif, jpeg, png, webp


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (png(300, 200), "image/png"),
        (gif(300, 200), "image/gif"),
        (gif(300, 200).replace(b"89a", b"87a"), "image/gif"),
        (jpeg(300, 200), "image/jpeg"),
        (jpeg(300, 200, frame=0xC2), "image/jpeg"),
        (jpeg(300, 200, before=b"\xff\xff\xff\xfe" + struct.pack(">H", 6) + b"note"), "image/jpeg"),
        (jpeg(300, 200, before=b"\xff\xc4" + struct.pack(">H", 4) + b"\0\0"), "image/jpeg"),
        (jpeg(300, 200, before=b"\xff\xd0"), "image/jpeg"),
        (webp(300, 200, "VP8X"), "image/webp"),
        (webp(300, 200, "VP8L"), "image/webp"),
        (webp(300, 200, "VP8"), "image/webp"),
    ],
)
def test_type_and_size_are_read(data, content_type):
    assert images.read(data) == images.Image(content_type, width=300, height=200)


@pytest.mark.parametrize("data", [png(300, 200)[:24], gif(300, 200)[:10], jpeg(300, 200), webp(300, 200)])
def test_truncated_image_is_none_without_an_error(data):
    readable_lengths = [length for length in range(len(data) + 1) if images.read(data[:length])]

    assert readable_lengths
    assert readable_lengths == list(range(readable_lengths[0], len(data) + 1))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg/>",
        b"%PDF-1.7",
        b"RIFF\0\0\0\0WAVE" + b"\0" * 40,
        b"\xff\xd8\xff" + b"\xff" * 100_000,
        b"\xff\xd8" + b"\xff\xe0\0\0" * 10_000,
        b"\xff\xd8\xff\xda" + b"\0" * 100,
        b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
    ],
)
def test_other_data_is_not_an_image(data):
    assert images.read(data) is None
