"""gunicorn's settings for a web server whose name server never answers for names under .test."""

import os
import runpy
import socket
import threading
from pathlib import Path
from typing import Any

# As in a real installation, unlike in other tests: names are looked up, and receivers have ten seconds.
os.environ |= {"WEBHOOK_ALLOW_PRIVATE": "off", "WEBHOOK_TIMEOUT_S": "10"}

_resolve = socket.getaddrinfo


def _resolve_except_test_names(host: Any, *arguments: Any, **options: Any) -> Any:
    if str(host).endswith(".test"):
        threading.Event().wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "no response from the name server")
    return _resolve(host, *arguments, **options)


socket.getaddrinfo = _resolve_except_test_names
globals().update(runpy.run_path(str(Path(__file__).resolve().parents[4] / "gunicorn.conf.py")))
