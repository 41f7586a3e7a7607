"""The file of a new import, on its way from the look at it to the import.

It travels in the form itself, packed. So nothing is kept here of what nobody has decided to import: no row with
addresses of customers to seal and to sweep, nothing that ends between two clicks, and no script. Who changes it changes
what they themselves import, and that is read and judged anew.
"""

import base64
import binascii
import zlib

from flask import request

#: The largest file, in bytes, and the largest form that brings one, packed or not.
MOST_BYTES = 2 * 1024 * 1024
MOST_FORM_BYTES = 2 * MOST_BYTES


class UnusableUpload(ValueError):
    """There is no file, or none that can be used; the message says why, for people."""


def text() -> str:
    """Return the text of the file that this request brings, chosen or packed. Raises UnusableUpload."""
    request.max_form_memory_size = MOST_FORM_BYTES  # a packed file is a field like any other
    packed = request.form.get("packed")
    if packed:
        return _decoded(_unpacked(packed))
    chosen = request.files.get("file")
    try:
        if chosen is None or not chosen.filename:
            raise UnusableUpload("Choose a file.")
        return _decoded(chosen.read(MOST_BYTES + 1))
    finally:
        request.close()  # a large file was put into one on the disk


def packed(text: str) -> str:
    """Return a file as a hidden field carries it. At level 9 zlib takes 30 times as long for some texts."""
    return base64.b64encode(zlib.compress(text.encode())).decode()


def _unpacked(sent: str) -> bytes:
    try:
        return zlib.decompressobj().decompress(base64.b64decode(sent, validate=True), MOST_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise UnusableUpload("The file did not come through. Choose it again.") from error


def _decoded(raw: bytes) -> str:
    if len(raw) > MOST_BYTES:
        raise UnusableUpload(f"It is larger than {MOST_BYTES // 1024 // 1024} MiB. Divide it.")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise UnusableUpload("It is no text in UTF-8. Save it as “CSV UTF-8” and choose it again.") from error
