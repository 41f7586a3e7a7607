"""Reserves free ports of this machine for servers that a test starts later.

Without a reservation the server of another test could get the same port.
"""

import socket
from contextlib import ExitStack


def hold_port(port: int = 0) -> socket.socket:
    """Reserve a port and return its socket, which releases it with `close`. Raises OSError if `port` is in use.

    The system gives a reserved port to no one, but a server may listen on it by its number. Until then connections are
    refused.
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
    """Reserve `count` consecutive ports and return their sockets."""
    while True:
        with ExitStack() as stack:
            listeners = [stack.enter_context(hold_port())]
            try:
                listeners += [
                    stack.enter_context(hold_port(port_number(listeners[0]) + place)) for place in range(1, count)
                ]
            except (OSError, OverflowError):
                continue
            stack.pop_all()
            return listeners


def port_number(listener: socket.socket) -> int:
    """Return the number of a reserved port."""
    return int(listener.getsockname()[1])
