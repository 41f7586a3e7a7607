"""Sockets for TLS that are closed when the other side goes away before it has said a word."""

import ssl


class ClosedWhenReset(ssl.SSLSocket):
    """An SSLSocket of which nothing is left to the garbage collector.

    Python looks for unread bytes on a connection that was reset before it is wrapped, and leaves the socket open when
    that fails. Nobody has it then: what the collector says of it, whenever it comes by, is said of some other test.
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Read as ever; a socket that was reset is closed."""
        try:
            return super().recv(buflen, flags)
        except ConnectionResetError:
            self.close()
            raise


def close_when_reset() -> None:
    """Let every context of this process make such sockets, whoever serves or calls."""
    ssl.SSLContext.sslsocket_class = ClosedWhenReset
