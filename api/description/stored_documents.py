"""Documents that are built once and stored compressed: the OpenAPI document, the manifest, the pages of /docs."""

import gzip
import hashlib
from dataclasses import dataclass

from flask import Response, request

from api.edge import compression

_CACHE = "public, max-age=300"
_LEVEL = 9


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document: its media type, its compressed bytes, and the tag of its content."""

    media_type: str
    compressed: bytes
    etag: str

    def respond(self) -> Response:
        """Return the document, or 304 if the caller has it. It costs nothing to compress, and little to decompress."""
        accepts_gzip = compression.accepts_gzip()
        body = self.compressed if accepts_gzip else gzip.decompress(self.compressed)
        answer = Response(body, content_type=f"{self.media_type}; charset=utf-8")
        if accepts_gzip:
            answer.headers["Content-Encoding"] = "gzip"
        answer.headers["Cache-Control"] = _CACHE
        answer.set_etag(self.etag, weak=True)
        compression.add_vary(answer, "Accept-Encoding")
        answer.make_conditional(request)
        return answer


def store(body: str | bytes, media_type: str) -> StoredDocument:
    """Return a document to store."""
    content = body.encode() if isinstance(body, str) else body
    digest = hashlib.sha256(content).hexdigest()[:16]
    return StoredDocument(media_type, gzip.compress(content, _LEVEL, mtime=0), digest)
