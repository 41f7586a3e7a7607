"""Webhooks on the dashboard. Source: the pages' interface, "Webhook" and "Delivery"."""

import hashlib
import hmac
import html
import json
import os
import re
import subprocess

import pytest

from tests.support.outside import receiver as receivers

URL = "/dashboard/webhooks"


@pytest.fixture
def owner(brand, visitor, links):
    visitor.open(links("owner"))
    return visitor


@pytest.fixture
def endpoint(brand, receiver):
    """An endpoint of the brand at the receiver, subscribed to every event."""
    return brand.endpoint(receiver.url)


def _key(answer, words):
    """Return the idempotency key of the form whose button starts with these words."""
    forms = re.findall(r"<form method=\"post\".*?</form>", answer.text, re.DOTALL)
    (form,) = [form for form in forms if re.search(rf"<button[^>]*>{words}", form)]
    return re.search('name="_key" value="([^"]*)"', form)[1]


def _submit(visitor, endpoint_id, words, do, **fields):
    key = _key(visitor.open(f"{URL}/{endpoint_id}"), words)
    return visitor.send(f"{URL}/{endpoint_id}", {"_key": key, "do": do} | fields)


def _send_sample(visitor, endpoint):
    """Send a sample event and return the address of its delivery's page."""
    redirect = _submit(visitor, endpoint["id"], "Send a sample", "sample", type="test")
    assert redirect.status_code == 303
    return redirect.headers["Location"]


def test_new_endpoint_shows_its_secret_once(brand, owner):
    page = owner.open(URL)
    assert "No endpoints yet" in page.text
    fields = {"_key": _key(page, "Create endpoint"), "url": "https://localhost/hook", "events": "*", "description": ""}

    created, again = owner.send(URL, fields), owner.send(URL, fields)

    secret = re.search(r'id="secret" value="(whsec_[^"]*)"', created.text)[1]
    assert created.status_code == 200
    assert secret in again.text  # the first answer again
    assert len(brand.get("/api/v1/webhooks").json["items"]) == 1
    assert secret not in owner.open(URL).text
    assert 'aria-label="Endpoints"' in owner.open(URL).text


def test_endpoint_of_a_workflow_is_listed_separately_and_can_only_be_deleted(brand, owner, endpoint, receiver, drain):
    body = {"event": "payout.paid", "targetUrl": f"{receiver.url}/<b>zap"}
    hook = brand.post("/api/v1/automation/hooks", body).json
    own, managed, _ = owner.open(URL).text.split("</table>")
    assert "Managed by no-code workflows" in managed
    assert (endpoint["id"] in own, hook["id"] in own) == (True, False)
    assert (endpoint["id"] in managed, hook["id"] in managed, "<b>" in managed) == (False, True, False)

    page = owner.open(f"{URL}/{hook['id']}").text
    assert "Managed by a workflow" in page
    assert [words for words in ("Rotate secret", "Edit endpoint") if words in page] == []
    assert page.count('<option value="test"') == 1  # once, in the filter of deliveries; samples of it cannot be sent
    assert _submit(owner, hook["id"], "Send a sample", "sample", type="payout.paid").status_code == 303
    drain()
    assert receiver.events[-1]["type"] == "payout.paid"
    key = _key(owner.open(f"{URL}/{hook['id']}"), "Delete endpoint")
    refused = owner.send(
        f"{URL}/{hook['id']}", {"_key": key + "x", "do": "change", "url": "https://localhost/x", "events": "*"}
    )
    assert refused.status_code == 409
    assert "Change the workflow" in refused.text

    assert owner.send(f"{URL}/{hook['id']}", {"_key": key, "do": "delete"}).status_code == 303
    assert "Managed by no-code workflows" not in owner.open(URL).text
    assert [webhook["id"] for webhook in brand.get("/api/v1/webhooks").json["items"]] == [endpoint["id"]]


def test_endpoint_subscribes_to_chosen_events(brand, owner):
    fields = {"url": "https://localhost/hook", "events": ["payout.paid", "conversion.created"], "description": "Books"}

    owner.send(URL, fields)

    (created,) = brand.get("/api/v1/webhooks").json["items"]
    assert (created["events"], created["description"]) == (["payout.paid", "conversion.created"], "Books")
    assert "payout.paid, conversion.created" in owner.open(URL).text


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"url": "http://hooks.example/in", "events": "*"}, "url"),
        ({"url": "", "events": "*"}, "url"),
        ({"url": "https://127.0.0.1/in"}, "events"),
    ],
)
def test_error_is_shown_at_its_field(brand, owner, fields, field):
    answer = owner.send(URL, {"description": "Books"} | fields)

    assert answer.status_code in (400, 422)
    assert "<title>Error: " in answer.text
    assert 'value="Books"' in answer.text
    assert f'id="{field}-error"' in answer.text
    assert 'role="alert"' in answer.text
    assert brand.get("/api/v1/webhooks").json["items"] == []


def test_delivery_shows_payload_and_attempts_and_is_resent(brand, owner, endpoint, receiver, drain):
    receiver.answers = [receivers.status(503, b"<b>upstream</b> timed out"), receivers.status(500, b"no")]
    address = _send_sample(owner, endpoint)
    waiting = owner.open(address)
    assert "No attempt has finished yet." in waiting.text
    assert "Redeliver" not in waiting.text
    part = html.unescape(re.search(r'hx-get="([^"]*)"', waiting.text)[1])

    drain()
    brand.rows("update delivery set status = 'Failed', settled_at = now(), next_attempt_at = null returning id")
    brand.rows("delete from job returning id")

    failed_page = owner.open(address)
    payload = html.unescape(
        re.search(r'<pre class="sent"[^>]*aria-labelledby="payload"[^>]*>(.*?)</pre>', failed_page.text, re.DOTALL)[1]
    )
    assert json.loads(payload) == receiver.received[0].event
    assert '<h2 id="attempts">Attempts</h2>' in failed_page.text
    assert "&lt;b&gt;upstream&lt;/b&gt; timed out" in failed_page.text
    assert ">503<" in failed_page.text
    assert owner.open(part).status_code == 200
    assert owner.open(html.unescape(re.search(r'hx-get="([^"]*)"', failed_page.text)[1])).status_code == 204

    redirect = owner.send(address, {"_key": _key(failed_page, "Redeliver")})
    drain()

    assert (redirect.status_code, redirect.headers["Location"]) == (303, address)
    assert ">500<" in owner.open(address).text
    assert len(receiver.received) == 2


def test_curl_command_repeats_the_delivery_with_a_signature(brand, owner, endpoint, receiver, drain):
    address = _send_sample(owner, endpoint)
    drain()
    page = owner.open(address)
    curl = html.unescape(re.search(r'<textarea id="curl"[^>]*>\n?(.*?)</textarea>', page.text, re.DOTALL)[1])
    script = curl.replace("whsec_…", endpoint["secret"]).replace("curl -i", "curl -k -i")

    subprocess.run(["bash", "-c", script], check=True, env={"PATH": os.environ["PATH"]}, capture_output=True)

    sent_by_service, sent_by_curl = receiver.received
    assert sent_by_curl.body == sent_by_service.body
    assert sent_by_curl.headers["x-service-delivery-id"] == sent_by_service.headers["x-service-delivery-id"]
    assert _is_signed(sent_by_curl, endpoint["secret"])


def _is_signed(received, secret):
    t, v1 = (part.split("=")[1] for part in received.headers["x-service-signature"].split(","))
    return v1 == hmac.new(secret.encode(), f"{t}.".encode() + received.body, hashlib.sha256).hexdigest()


def test_deliveries_are_filtered_by_status_and_event(brand, owner, endpoint, drain):
    _send_sample(owner, endpoint)
    drain()
    address = f"{URL}/{endpoint['id']}"

    every, delivered, failed = (
        owner.open(address + query).text for query in ("", "?status=Delivered", "?status=Failed")
    )

    assert 'aria-label="Deliveries"' in every
    assert re.search(rf'href="{address}/deliveries/[^"]*">test</a>', every)
    assert re.search(rf'href="{address}/deliveries/[^"]*">test</a>', delivered)
    assert "No deliveries match this filter" in failed
    assert '<option value="Failed" selected>' in failed
    assert "fragment?status=Failed&amp;seen=" in failed


def test_page_and_live_part_link_to_older_deliveries(brand, owner, endpoint):
    for _ in range(52):
        brand.post(f"/api/v1/webhooks/{endpoint['id']}/test")
    address = f"{URL}/{endpoint['id']}"

    page = owner.open(f"{address}?status=Pending")
    part = owner.open(f"{address}/fragment?status=Pending&seen=0")
    (older,) = re.findall(r'href="([^"]*)" rel="next"', page.text)

    assert re.findall(r'href="([^"]*)" rel="next"', part.text) == [older]
    assert re.findall('hx-get="([^"]*)"', part.text) == re.findall('hx-get="([^"]*)"', page.text)
    assert owner.open(html.unescape(older)).text.count(">test</a>") == 2
    assert owner.open(f"{address}?cursor=nonsense").status_code == 400


def test_all_failed_deliveries_are_resent(brand, owner, endpoint, receiver, drain):
    for _ in range(2):
        _send_sample(owner, endpoint)
    drain()
    brand.rows("update delivery set status = 'Failed' returning id")

    answer = _submit(owner, endpoint["id"], "Redeliver all failed", "redeliver")

    assert answer.status_code == 200
    assert "2 deliveries are being resent" in answer.text
    assert brand.rows("select distinct status from delivery") == [("Pending",)]


def test_endpoint_is_changed(brand, owner, endpoint):
    fields = {"url": "https://localhost/other", "events": ["payout.paid"], "description": "Books"}

    redirect = _submit(owner, endpoint["id"], "Save", "change", **fields)

    assert redirect.status_code == 303
    changed = brand.get(f"/api/v1/webhooks/{endpoint['id']}").json
    assert {name: changed[name] for name in fields} == fields


def test_refused_change_keeps_the_typed_values(brand, owner, endpoint):
    answer = _submit(owner, endpoint["id"], "Save", "change", url="nonsense", events="*", description="kept")

    assert answer.status_code == 400
    assert re.search(r'id="url"[^>]*value="nonsense"[^>]*aria-invalid', answer.text)
    assert 'value="kept"' in answer.text
    assert "<details open><summary>Edit endpoint" in answer.text


def test_secret_is_replaced_and_shown_once(brand, owner, endpoint):
    answer = _submit(owner, endpoint["id"], "Rotate secret", "rotate")

    secret = re.search(r'id="secret" value="(whsec_[^"]*)"', answer.text)[1]
    assert secret != endpoint["secret"]
    assert secret not in owner.open(f"{URL}/{endpoint['id']}").text


def test_endpoint_is_deleted(brand, owner, endpoint):
    redirect = _submit(owner, endpoint["id"], "Delete endpoint", "delete")

    assert (redirect.status_code, redirect.headers["Location"]) == (303, URL)
    assert owner.open(f"{URL}/{endpoint['id']}").status_code == 404


def test_failing_endpoint_is_marked(brand, owner, endpoint, receiver, drain):
    receiver.answers = [receivers.status(500)]
    _send_sample(owner, endpoint)
    drain()

    assert ">Failing<" in owner.open(URL).text
    assert ">Failing<" in owner.open(f"{URL}/{endpoint['id']}").text


def test_member_without_permission_sees_no_buttons(brand, visitor, links, endpoint, drain):
    delivery_id = brand.post(f"/api/v1/webhooks/{endpoint['id']}/test").json["deliveryId"]
    drain()
    visitor.open(links("owner", "--org", brand.id, "--role", "Viewer", "--email", "vera@x.test"))

    pages = [
        visitor.open(f"{URL}{path}")
        for path in ("", f"/{endpoint['id']}", f"/{endpoint['id']}/deliveries/{delivery_id}")
    ]

    assert [page.status_code for page in pages] == [200] * 3
    assert not [page for page in pages if re.search(f'method="post" action="{URL}', page.text)]


def test_unknown_action_returns_404(brand, owner, endpoint):
    assert owner.send(f"{URL}/{endpoint['id']}", {"do": "explode"}).status_code == 404
