"""Signs requests: HMAC-SHA256 of `<unix seconds>.<raw body>` with the key's signing secret."""

from __future__ import annotations

import hmac
import threading
import time


def digest(secret: str, timestamp_s: int, body: bytes) -> str:
    """Return the signature of these bytes at a unix second, as 64 hex characters."""
    return hmac.new(secret.encode(), b"%d." % timestamp_s + body, "sha256").hexdigest()


class Signer:
    """Signs with one secret. The same body twice within a second gets two different seconds.

    A signature is valid for one refund, so two intended refunds need different ones.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._lock = threading.Lock()
        self._signed: dict[bytes, int] = {}

    def header(self, body: bytes) -> str:
        """Return the X-Service-Signature of a signed sale, refund or lead."""
        timestamp_s = self._next_timestamp(body)
        return f"t={timestamp_s},sig={digest(self._secret, timestamp_s, body)}"

    def _next_timestamp(self, body: bytes) -> int:
        with self._lock:
            now_s = int(time.time())
            self._signed = {signed: at for signed, at in self._signed.items() if at >= now_s}
            self._signed[body] = self._signed[body] + 1 if body in self._signed else now_s
            return self._signed[body]
