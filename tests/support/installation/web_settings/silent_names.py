"""gunicorn's settings for a web server whose name server never answers for names under .test."""

import os
import runpy
import socket
import threading
from pathlib import Path
from typing import Any

# A real installation asks names, and gives receivers time; the machine of these tests does not.
os.environ |= {"WEBHOOK_ALLOW_PRIVATE": "off", "WEBHOOK_TIMEOUT_S": "10"}

_resolve = socket.getaddrinfo


def _stay_silent(host: Any, *arguments: Any, **options: Any) -> Any:
    if str(host).endswith(".test"):
        threading.Event().wait(60)
        raise socket.gaierror(socket.EAI_AGAIN, "nobody answered")
    return _resolve(host, *arguments, **options)


socket.getaddrinfo = _stay_silent
globals().update(runpy.run_path(str(Path(__file__).resolve().parents[4] / "gunicorn.conf.py")))
