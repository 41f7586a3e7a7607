"""Use the installed own Python client as a brand's server does, against the running service."""

import http.server
import os
import queue
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from finderfee import ApiError, ConnectionFailed, Finderfee, InvalidSignature, verify_webhook
from finderfee.generated.records import LeadBody, RefundBody, SaleAnswer

URL, PROXY = os.environ["FINDERFEE_URL"], os.environ["FINDERFEE_PROXY"]
SLUG = os.environ["FINDERFEE_SLUG"]


def create_client(base_url: str = URL, *, secret: str = os.environ["FINDERFEE_SECRET"], retries: int = 4) -> Finderfee:
    return Finderfee(base_url, api_key=os.environ["FINDERFEE_KEY"], signing_secret=secret, retries=retries)


def catch_refusal(call: Callable[[], object]) -> ApiError:
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError("nothing was refused")


def is_accepted(
    body: bytes | str, headers: Mapping[str, Any], secret: str | Sequence[str], now: float | None = None
) -> bool:
    try:
        verify_webhook(body, headers, secret, now=now)
    except InvalidSignature:
        return False
    return True


finderfee = create_client()


def sell(order: str, via: Finderfee = finderfee) -> SaleAnswer:
    return via.sale({"externalEventId": order, "affiliateSlug": SLUG, "amountCents": 10_000, "currency": "USD"})


# A sale: once, repeated, concurrently, and with an invalid amount.
first = sell("py-1")
assert first["ok"] and first["conversionId"]
assert sell("py-1") == {"ok": True, "deduped": True}
with ThreadPoolExecutor(8) as pool:
    concurrent = list(pool.map(lambda _: sell("py-2"), range(8)))
assert sum("conversionId" in answer for answer in concurrent) == 1, concurrent
try:
    finderfee.sale({"externalEventId": "py-3", "affiliateSlug": SLUG, "amountCents": 99.5})  # type: ignore[typeddict-item]
    raise AssertionError("a fractional amount was sent")
except TypeError:
    pass

# A partial refund, sent twice concurrently with one key; then the rest; then a refused one.
part: RefundBody = {"externalEventId": "py-1", "refundAmountCents": 2_500}
with ThreadPoolExecutor(2) as pool:
    parts = list(pool.map(lambda _: finderfee.refund(part, idempotency_key="py-refund-1"), range(2)))
assert parts[0] == parts[1]
assert parts[0]["cumulativeRefundedAmountCents"] == 2_500 and not parts[0]["isFullRefund"]
rest = finderfee.refund({"externalEventId": "py-1"})
assert rest["refundedAmountCents"] == 7_500 and rest["isFullRefund"]
assert catch_refusal(lambda: finderfee.refund({"externalEventId": "py-1"})).code == "already_fully_refunded"

equal: RefundBody = {"externalEventId": "py-2", "refundAmountCents": 1_000}
assert [finderfee.refund(equal)["cumulativeRefundedAmountCents"] for _ in range(3)] == [1_000, 2_000, 3_000], (
    "equal refunds without a key are separate"
)

# A lead, and the same email again.
lead: LeadBody = {"affiliateSlug": SLUG, "email": "mira.py@customer.example", "name": "Mira Nováková"}
assert finderfee.lead(lead)["leadId"]
assert finderfee.lead(lead) == {"ok": True, "deduped": True}

# Refusals: by a rule with its field, malformed, a wrong secret, an unknown id.
unknown = catch_refusal(
    lambda: finderfee.sale({"externalEventId": "py-4", "affiliateSlug": "nobody-here", "amountCents": 1})
)
assert (unknown.status, unknown.code) == (400, "affiliate_not_found") and unknown.request_id and unknown.message
insecure = catch_refusal(
    lambda: finderfee.webhooks.create_webhook_endpoint({"url": "ftp://shop.example", "events": ["*"]})
)
assert (insecure.code, insecure.field) == ("https_required", "url"), insecure
malformed = catch_refusal(lambda: finderfee.programs.create_program({"name": 7}))  # type: ignore[typeddict-item]
assert malformed.code is None and malformed.errors["name"], malformed.body
wrong = catch_refusal(lambda: sell("py-5", create_client(secret="not the secret")))
assert (wrong.status, wrong.code, wrong.body) == (401, None, None)
assert catch_refusal(lambda: finderfee.programs.get_program("3f0c5f1f-7a11-4c0e-9a57-0d8f5d2e6c1b")).code == "not_found"

# The client retries after 429, 503 and a lost response, and nothing happens twice.
assert sell("py-6", create_client(f"{PROXY}/busy"))["conversionId"]
assert sell("py-7", create_client(f"{PROXY}/away"))["conversionId"]
lost = sell("py-8", create_client(f"{PROXY}/lost"))
assert lost["conversionId"], "a repeated sale gets the response of the first"
half_refund = create_client(f"{PROXY}/lost").refund({"externalEventId": "py-8", "refundAmountCents": 4_000})
assert half_refund["cumulativeRefundedAmountCents"] == 4_000, "refunded twice"
busy = catch_refusal(lambda: sell("py-9", create_client(f"{PROXY}/busy", retries=0)))
assert (busy.status, busy.code, busy.retry_after_s) == (429, None, 1.0)
try:
    sell("py-9", create_client("http://127.0.0.1:1", retries=1))
    raise AssertionError("a server responds at port 1")
except ConnectionFailed:
    pass

# A paged list.
program_ids = {
    finderfee.programs.create_program(
        {"name": f"Python {n}", "defaultCommissionType": "Percentage", "defaultCommissionValue": n}
    )["id"]
    for n in range(1, 6)
}
page = finderfee.programs.list_programs(take=2)
assert len(page["items"]) == 2 and page["hasMore"]
listed = [program["id"] for program in finderfee.programs.iterate_programs(take=2)]
assert program_ids <= set(listed) and len(listed) == len(set(listed)) > 5
assert finderfee.conversions.export_conversions(status="Pending").startswith("id,")
finderfee.programs.archive_program(program_ids.pop())

# A delivered webhook.
deliveries: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()


class Receiver(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        deliveries.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
certificate = Path(os.environ["FINDERFEE_CERTIFICATE"])
context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()

endpoint = finderfee.webhooks.create_webhook_endpoint(
    {"url": f"https://localhost:{server.server_port}/hook", "events": ["conversion.created"]}
)
secret = endpoint["secret"]
sale = sell("py-10")
headers, raw = deliveries.get(timeout=60)
event = verify_webhook(raw, headers, secret)
assert event["type"] == "conversion.created"
assert event["data"]["conversionId"] == sale["conversionId"] and event["data"]["amountCents"] == 10_000
signed_at = int(headers["X-Service-Timestamp"])
stale = {**headers, "X-Service-Signature": headers["X-Service-Signature"] + f",v1={'0' * 64}"}
assert is_accepted(raw.decode(), {name.lower(): [value] for name, value in stale.items()}, ["an older one", secret])
assert is_accepted(raw, headers, secret, now=signed_at + 300) and is_accepted(raw, headers, secret, now=signed_at - 300)
assert not is_accepted(raw, headers, secret, now=signed_at + 301)
assert not is_accepted(raw, headers, secret, now=signed_at - 301)
assert not is_accepted(raw + b" ", headers, secret)
assert not is_accepted(raw, headers, secret + "x")
assert not is_accepted(raw, headers, [])
assert not is_accepted(raw, {}, secret)
for header in (
    "",
    "t=1",
    f"v1={'0' * 64}",
    "t=x,v1=y",
    f"t={signed_at},t=1,v1={'0' * 64}",
    f"t=-{signed_at},v1={'0' * 64}",
):
    assert not is_accepted(raw, {"X-Service-Signature": header}, secret), header
finderfee.webhooks.test_webhook_endpoint(endpoint["id"], {"type": "test"})
headers, raw = deliveries.get(timeout=60)
assert verify_webhook(raw, headers, secret)["type"] == "test"
assert secret not in repr(finderfee) and os.environ["FINDERFEE_KEY"] not in repr(finderfee)
