"""Stored exchange rates, and an HTTP server that publishes a feed of them."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from commands.demo.no_delay_handler import NoDelayHandler
from models import db


def list_rates(*currencies: str) -> list[tuple[Any, ...]]:
    """Return currency, day and rate of all stored rates of these currencies."""
    with db.any_org_work():
        return db.db.run(
            "select currency, published_on, per_usd from fx_rate where currency = any(%s) order by 1, 2",
            (list(currencies),),
        )


@contextmanager
def serve_feed(content: bytes, status: int = 200) -> Iterator[str]:
    """Serve a file over HTTP while the block runs; yield its URL."""

    class Answer(NoDelayHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(content)

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/rates"
    finally:
        server.shutdown()
        server.server_close()
