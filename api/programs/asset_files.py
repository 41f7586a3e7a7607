"""Images of others, given out so that they stay images: no browser reads anything else out of them, or runs it."""

from flask import Response

from domain.programs import assets


def download_response(content: bytes, *, name: str, content_type: str) -> Response:
    """Return an image that was vetted, to be taken away; of the `name` it was given only plain letters are left."""
    answer = Response(content, content_type=content_type)
    answer.headers["Content-Disposition"] = f'attachment; filename="{assets.file_name(name, content_type)}"'
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
    answer.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
