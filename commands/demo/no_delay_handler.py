"""The base class of auxiliary HTTP servers: the demo's, `flask listen`, those of bench and tests."""

import http.server


class NoDelayHandler(http.server.BaseHTTPRequestHandler):
    """Sends each part of a response at once.

    The library writes head and body apart. With Nagle's algorithm, which is its default, the body waits until the
    client has acknowledged the head. On a kept connection the client delays that by 40 ms.
    """

    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Print no access log."""
