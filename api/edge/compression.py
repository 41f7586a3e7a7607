"""Compression of long answers for clients that accept gzip: pages, JSON, scripts, styles and icons.

An answer with a secret (`Operation.shows_secret`) is never compressed: an attacker who chooses a part of it and sees
its length could infer the rest. A page of a signed-in person is compressed only if another page of the service or the
person requested it, so that no other site chooses a part of it. Streams and CSV are not compressed.
"""

import gzip

from flask import Response, g, request

#: Shorter answers are not compressed.
MIN_BYTES = 1024
_LEVEL = 5
_PAGE = "text/html"
_TYPES = (_PAGE, "application/json", "application/problem+json", "text/javascript", "text/css", "image/svg+xml")


def compress(answer: Response) -> Response:
    """Compress an answer if that is worthwhile, and add Accept-Encoding to its Vary header."""
    if not _is_worth_it(answer):
        return answer
    add_vary(answer, "Accept-Encoding")
    if accepts_gzip():
        set_compressed_body(answer, compress_bytes(answer.get_data()))
    return answer


def add_vary(answer: Response, name: str) -> None:
    """Add a request header to the Vary header of an answer, so that no cache returns it for another value.

    `answer.vary` does the same, but parses and writes a set each time, and every answer has a Vary header.
    """
    vary = next((value for header, value in answer.headers if header.lower() == "vary"), None)
    if vary is None:
        answer.headers.add("Vary", name)
    elif name.lower() not in map(str.strip, vary.lower().split(",")):
        answer.headers["Vary"] = f"{vary}, {name}"


def accepts_gzip() -> bool:
    """Return whether the caller of this request accepts gzip."""
    header = request.environ.get("HTTP_ACCEPT_ENCODING")
    return bool(header) and request.accept_encodings.quality("gzip") > 0


def compress_bytes(body: bytes) -> bytes:
    """Return a body as gzip, the same bytes in every process."""
    return gzip.compress(body, _LEVEL, mtime=0)


def set_compressed_body(answer: Response, body: bytes) -> None:
    """Set a body that is compressed already. The answer's ETag is that of the uncompressed body, so it becomes weak."""
    answer.set_data(body)
    answer.headers["Content-Encoding"] = "gzip"
    tag, is_weak = answer.get_etag()
    if tag is not None and not is_weak:
        answer.set_etag(tag, weak=True)


def _is_worth_it(answer: Response) -> bool:
    if answer.is_streamed or answer.direct_passthrough or answer.mimetype not in _TYPES:
        return False
    if (answer.calculate_content_length() or 0) < MIN_BYTES or "Content-Encoding" in answer.headers:
        return False
    if answer.mimetype == _PAGE and _is_requested_by_another_site():
        return False
    return not ("operation" in g and g.operation.shows_secret)


def _is_requested_by_another_site() -> bool:
    """Return whether another site may have caused this request of a person, which the cookie's SameSite allows.

    `none` is an address that was typed or bookmarked. Subdomains of brands count as other sites. Old browsers send no
    Sec-Fetch-Site, and none of them sends it over plain http.
    """
    has_cookie = "HTTP_COOKIE" in request.environ
    return has_cookie and request.environ.get("HTTP_SEC_FETCH_SITE") not in ("same-origin", "none")
