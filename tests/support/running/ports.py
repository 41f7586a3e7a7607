"""Ports of this machine that are kept for whoever is to listen there later.

A port that was found free and let go of is anybody's: the next server of another test may be given it.
"""

import socket
from contextlib import ExitStack


def hold_port(port: int = 0) -> socket.socket:
    """Return what keeps a port: nobody is given it by chance, and who asks for it by its number may listen there.

    Until somebody does, whoever calls is refused. It is given back with `close`. Raises OSError where `port` is taken.
    """
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except BaseException:
        listener.close()
        raise
    return listener


def hold_ports(count: int) -> list[socket.socket]:
    """Return what keeps so many ports that follow one another."""
    while True:
        with ExitStack() as stack:
            listener = [stack.enter_context(hold_port())]
            try:
                listener += [
                    stack.enter_context(hold_port(port_number(listener[0]) + place)) for place in range(1, count)
                ]
            except (OSError, OverflowError):
                continue
            stack.pop_all()
            return listener


def port_number(listener: socket.socket) -> int:
    """Return the number of a port that is held."""
    return int(listener.getsockname()[1])
