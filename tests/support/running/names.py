"""Blocks name lookups in tests, because their results and times differ from machine to machine."""

import socket
from typing import Any

_OWN = {None, "", "localhost", socket.gethostname()}


def forbid_name_lookups() -> None:
    """Make this process resolve only addresses and the names of this machine."""
    look_up = socket.getaddrinfo

    def resolve_local(host: Any, port: Any, *kind: int, **options: int) -> Any:
        if host not in _OWN:
            options["flags"] = options.get("flags", 0) | socket.AI_NUMERICHOST
        return look_up(host, port, *kind, **options)

    socket.getaddrinfo = resolve_local
