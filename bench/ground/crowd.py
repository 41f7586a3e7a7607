"""Clients that hold connections and send nothing, or next to nothing: opened, dripped into and opened again.

Run as `python -m bench.ground.crowd PORT IDLE DRIPPING`; prints a line once all of them are connected, goes on until
stopped.
"""

import select
import socket
import sys
import time
from contextlib import suppress

_EVERY_S = 1.0
_BEGUN = b"POST /api/tracking/s2s HTTP/1.1\r\nHost: shop.example.com\r\nContent-Length: 4000\r\n\r\n"
_DRIP = b"x"


def main(port: int, idle: int, dripping: int) -> None:
    """Hold the connections; those that the server closes are replaced within a second."""
    silent = [_connected(port, b"") for _ in range(idle)]
    slow = [_connected(port, _BEGUN) for _ in range(dripping)]
    print("all are connected", flush=True)
    while True:
        time.sleep(_EVERY_S)
        silent = [_connected(port, b"") if _is_closed(held) else held for held in silent]
        slow = [_connected(port, _BEGUN) if _is_closed(held) or not _dripped(held) else held for held in slow]


def _connected(port: int, sent: bytes) -> socket.socket:
    held = socket.create_connection(("127.0.0.1", port), timeout=30)
    held.sendall(sent)
    held.setblocking(False)
    return held


def _is_closed(held: socket.socket) -> bool:
    poll = select.poll()
    poll.register(held, select.POLLIN)
    if not poll.poll(0):
        return False
    with suppress(BlockingIOError):
        held.close()
    return True


def _dripped(held: socket.socket) -> bool:
    try:
        return held.send(_DRIP) == len(_DRIP)
    except OSError:
        held.close()
        return False


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:4]))
