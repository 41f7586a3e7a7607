"""Signed HTTPS POSTs from 16 bare threads, each with a requests.Session that keeps its connection.

In: the signature over the same body, the same headers, the answer's status. Out: any database or queue, a deadline,
the check of where a URL leads. `python -m bench.anchors.poster URL COUNT CA_FILE SECRET` reads the body from standard
input and prints the seconds from the first answer to the last.
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
    """Post, and print the seconds."""
    url, count, ca, secret = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4].encode()
    body = sys.stdin.buffer.read()
    turns = iter(range(count))
    answered_at: list[float] = []

    def post(place: int) -> None:
        session = requests.Session()
        session.trust_env = False  # no proxy, netrc or other authorities out of the environment; also faster
        session.verify = ca
        for turn in turns:  # a C iterator: one thread at a time takes from it
            target = f"{url}{(turn + place) % 20}"
            answer = session.post(target, data=body, headers=_headers(secret, body), timeout=10)
            answer.raise_for_status()
            answered_at.append(time.perf_counter())

    threads = [threading.Thread(target=post, args=(place,)) for place in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(answered_at) != count:
        sys.exit(f"{count - len(answered_at)} of {count} posts failed")
    print(max(answered_at) - min(answered_at))


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
