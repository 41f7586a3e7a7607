"""Long answers travel compressed to clients that take it: JSON, scripts, style and icons.

An answer that shows a secret is never compressed, even a long one: where a part of it can be chosen by somebody who
sees how long it is, the length would tell of the rest. `Operation.shows_secret` says which these are. Streams and CSV
go out as they are made. The standard library does it: which answers are left alone is all that there is to decide.
"""

import gzip

from flask import Response, g, request

#: Below this it is not worth it.
LEAST_BYTES = 1024
_LEVEL = 5
_TYPES = ("application/json", "application/problem+json", "text/javascript", "text/css", "image/svg+xml")


def compress(answer: Response) -> Response:
    """Compress an answer that is worth it, and say that it depends on what the caller takes."""
    if not _is_worth_it(answer):
        return answer
    depends_on(answer, "Accept-Encoding")
    if is_taken():
        mark(answer, packed(answer.get_data()))
    return answer


def depends_on(answer: Response, name: str) -> None:
    """Say that an answer depends on a header of its request: no cache may give it to one that sends another.

    As `answer.vary` says it, which reads and writes a set each time, and every answer depends on something.
    """
    said = next((value for header, value in answer.headers if header.lower() == "vary"), None)
    if said is None:
        answer.headers.add("Vary", name)
    elif name.lower() not in map(str.strip, said.lower().split(",")):
        answer.headers["Vary"] = f"{said}, {name}"


def is_taken() -> bool:
    """Say whether the caller of this request takes gzip."""
    sent = request.environ.get("HTTP_ACCEPT_ENCODING")
    return bool(sent) and request.accept_encodings.quality("gzip") > 0


def packed(body: bytes) -> bytes:
    """Return a body as gzip: the same one in every process."""
    return gzip.compress(body, _LEVEL, mtime=0)


def mark(answer: Response, body: bytes) -> None:
    """Give an answer a body that is packed already. What it is known by stands for the unpacked one, so it is weak."""
    answer.set_data(body)
    answer.headers["Content-Encoding"] = "gzip"
    tag, is_weak = answer.get_etag()
    if tag is not None and not is_weak:
        answer.set_etag(tag, weak=True)


def _is_worth_it(answer: Response) -> bool:
    if answer.is_streamed or answer.direct_passthrough or answer.mimetype not in _TYPES:
        return False
    if (answer.calculate_content_length() or 0) < LEAST_BYTES or "Content-Encoding" in answer.headers:
        return False
    return not ("operation" in g and g.operation.shows_secret)
