"""No test asks a name server: whether one answers, and how soon, differs from machine to machine."""

import socket
from typing import Any

_OWN = {None, "", "localhost", socket.gethostname()}


def forbid_name_lookups() -> None:
    """Let this process know addresses and its own machine, and no other name."""
    look_up = socket.getaddrinfo

    def resolve_local(host: Any, port: Any, *kind: int, **options: int) -> Any:
        if host not in _OWN:
            options["flags"] = options.get("flags", 0) | socket.AI_NUMERICHOST
        return look_up(host, port, *kind, **options)

    socket.getaddrinfo = resolve_local
