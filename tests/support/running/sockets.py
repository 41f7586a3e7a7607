"""TLS sockets that are closed when the peer resets the connection before the handshake."""

import ssl


class ClosedWhenReset(ssl.SSLSocket):
    """An SSLSocket that is closed when a read fails because the connection was reset.

    Python reads from the socket while it wraps it, and leaves it open and without an owner if that fails. Then the
    garbage collector warns about it later, during some other test.
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        """Read, and close the socket if the connection was reset."""
        try:
            return super().recv(buflen, flags)
        except ConnectionResetError:
            self.close()
            raise


def close_when_reset() -> None:
    """Make all SSL contexts of this process create such sockets."""
    ssl.SSLContext.sslsocket_class = ClosedWhenReset
