"""Stripe's list of events, played on this machine: the pages are made before anybody asks.

`python -m bench.ground.stripe_lists PORT COUNT PREFIX` lists the paid invoices of COUNT payments, the newest first.
"""

import json
import sys
import time
from http.server import HTTPServer
from urllib.parse import parse_qs, urlsplit

from bench.ground.stripe import paid_invoice
from commands.demo.prompt_handler import PromptHandler

#: How many events are on a page: as many as the adapter asks for.
PAGE = 100


def pages(count: int, prefix: str) -> dict[str, bytes]:
    """Return the pages by the id of the event that they begin behind; the first is behind none."""
    events = [json.loads(paid_invoice(f"{prefix}-{number}", number, int(time.time()))) for number in range(count)]
    made, after = {}, ""
    for first in range(0, count, PAGE):
        data = events[first : first + PAGE]
        made[after] = json.dumps({"object": "list", "data": data, "has_more": first + PAGE < count}).encode()
        after = data[-1]["id"]
    return made


def main() -> None:
    """Answer until killed."""
    port, count, prefix = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    made = pages(count, prefix)

    class Listing(PromptHandler):
        def do_GET(self) -> None:
            after = parse_qs(urlsplit(self.path).query).get("starting_after", [""])[0]
            content = made[after]
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    HTTPServer(("127.0.0.1", port), Listing).serve_forever()


if __name__ == "__main__":
    main()
