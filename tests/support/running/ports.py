"""Ports of this machine that are kept for whoever is to listen there later.

A port that was found free and let go of is anybody's: the next server of another test may be given it.
"""

import socket


def hold() -> socket.socket:
    """Return what keeps a port: nobody is given it by chance, and who asks for it by its number may listen there.

    Until somebody does, whoever calls is refused. It is given back with `close`.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    return held


def number(held: socket.socket) -> int:
    """Return the number of a port that is held."""
    return int(held.getsockname()[1])
