"""The application behind a real socket, for clients that call it over HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from models import db


class _Handler(WSGIRequestHandler):
    disable_nagle_algorithm = True
    timeout = 5  # seconds of silence


class _Server(ThreadedWSGIServer):
    """Serves each connection in a thread, since browsers open spare ones. Closing waits for all threads."""

    daemon_threads = False

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        super().process_request_thread(request, client_address)
        db.db.drop_connection()


@contextmanager
def serve_app(app: object, *, port: int = 0) -> Iterator[str]:
    """Serve the application while the block runs; yield its URL. Port 0 means any free port."""
    server = _Server("127.0.0.1", port, app, _Handler)  # type: ignore[arg-type]  # a Flask application
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
