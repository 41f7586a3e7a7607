"""The anchor of deliveries: signed HTTPS POSTs from 16 threads, each with a keep-alive requests.Session.

Included: the signature over the same body, the same headers, the response's status. Not included: any database or
queue, a deadline, the check of a URL's target. `python -m bench.anchors.poster URL COUNT CA_FILE SECRET` reads the body
from standard input and prints the seconds from the first response to the last.
"""

import hashlib
import hmac
import sys
import threading
import time
import uuid

import requests

_THREADS = 16


def main() -> None:
    """Send the POSTs and print the seconds."""
    url, count, ca, secret = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].encode()
    body = sys.stdin.buffer.read()
    numbers = iter(range(count))
    responded_at: list[float] = []

    def post(offset: int) -> None:
        session = requests.Session()
        session.trust_env = False  # no proxy, netrc or certificate authorities from the environment; also faster
        session.verify = ca
        for number in numbers:  # a C iterator, so only one thread at a time takes from it
            target = f"{url}{(number + offset) % 20}"
            response = session.post(target, data=body, headers=_headers(secret, body), timeout=10)
            response.raise_for_status()
            responded_at.append(time.perf_counter())

    threads = [threading.Thread(target=post, args=(offset,)) for offset in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(responded_at) != count:
        sys.exit(f"{count - len(responded_at)} of {count} posts failed")
    print(max(responded_at) - min(responded_at))


def _headers(secret: bytes, body: bytes) -> dict[str, str]:
    t = int(time.time())
    digest = hmac.new(secret, b"%d." % t + body, hashlib.sha256).hexdigest()
    return {
        "Content-Type": "application/json",
        "User-Agent": "anchor/1",
        "X-Service-Signature": f"t={t},v1={digest}",
        "X-Service-Timestamp": str(t),
        "X-Service-Event": "conversion.created",
        "X-Service-Delivery-Id": str(uuid.uuid4()),
    }


if __name__ == "__main__":
    main()
