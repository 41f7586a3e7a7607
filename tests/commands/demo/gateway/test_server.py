"""The gateway that is played, asked over HTTP: by stripe's own client, and by whoever asks what cannot be done."""

import json
from http.client import HTTPConnection

import pytest
import stripe

import settings
from adapters.embedded.data_folder import wait_until
from commands.demo import loopback
from commands.demo.gateway import object_store

_PATIENCE_S = 120


def _ask(method, path, body=None, **headers):
    config = settings.current()
    connection = HTTPConnection(*loopback.gateway_address(config), timeout=_PATIENCE_S)
    key = object_store.read_key(config.servers.data_dir)
    connection.request(method, path, body, {"Authorization": f"Bearer {key}", **headers})
    answer = connection.getresponse()
    said = answer.status, json.loads(answer.read())
    connection.close()
    return said


def _subscribed(client, **fields):
    customer = client.v1.customers.create({"email": "ann@example.com"})
    price = {"unit_amount": 4_900, "currency": "eur"}
    items = [{"price_data": price}]
    return client.v1.subscriptions.create({"customer": customer.id, "items": items, **fields})


def test_stripes_own_client_sells_renews_and_refunds_and_finds_the_signatures_genuine(client, playing):
    made = client.v1.webhook_endpoints.create(
        {"url": "https://shop.test/hook?a=b", "enabled_events": ["invoice.paid", "charge.refunded"]}
    )
    subscription = _subscribed(client, metadata={"affiliate_slug": "nora"})
    client.v1.subscriptions.update(subscription.id, {"billing_cycle_anchor": "now"})
    (latest,) = client.v1.charges.list({"limit": 1}).data
    client.v1.refunds.create({"charge": latest.id, "amount": 900})

    assert wait_until(lambda: len(playing.sent) == 3, timeout_s=_PATIENCE_S)
    events = [stripe.Webhook.construct_event(body, signed, made.secret) for _, signed, body in playing.sent]
    assert [event.type for event in events] == ["invoice.paid", "invoice.paid", "charge.refunded"]
    assert {path for path, _, _ in playing.sent} == {"/hook"}
    first, second, back = (event.data.object for event in events)
    assert first.parent.subscription_details.metadata.affiliate_slug == "nora"
    assert (first.billing_reason, second.billing_reason) == ("subscription_create", "subscription_cycle")
    assert first.status_transitions.paid_at < second.status_transitions.paid_at
    assert (first.amount_paid, first.currency, first.customer_email) == (4_900, "eur", "ann@example.com")
    assert (back.id, back.amount_refunded, back.refunded) == (latest.id, 900, False)
    listed = [event.id for event in client.v1.events.list({"types": ["charge.refunded"]}).data]
    assert listed == [events[2].id]


def test_a_list_is_read_page_by_page_newest_first(client):
    made = [_subscribed(client).id for _ in range(5)]

    listed = list(client.v1.subscriptions.list({"limit": 2}).auto_paging_iter())

    assert [one.id for one in listed] == made[::-1]


def test_an_event_is_sent_again_until_it_is_taken(client, playing):
    client.v1.webhook_endpoints.create({"url": "https://shop.test/hook", "enabled_events": ["invoice.paid"]})
    playing.statuses = [503, 503]
    _subscribed(client)
    assert wait_until(lambda: len(playing.sent) == 3, timeout_s=_PATIENCE_S)

    _subscribed(client)
    assert wait_until(lambda: len(playing.sent) == 4, timeout_s=_PATIENCE_S)
    ids = [json.loads(body)["id"] for _, _, body in playing.sent]
    assert len(set(ids[:3])) == 1 != len(set(ids))


def test_an_endpoint_that_was_deleted_is_told_nothing(client, playing):
    gone = client.v1.webhook_endpoints.create({"url": "https://shop.test/gone", "enabled_events": ["*"]})
    client.v1.webhook_endpoints.create({"url": "https://shop.test/hook", "enabled_events": ["invoice.paid"]})
    client.v1.webhook_endpoints.delete(gone.id)
    _subscribed(client)

    assert wait_until(lambda: len(playing.sent) == 1, timeout_s=_PATIENCE_S)
    assert playing.sent[0][0] == "/hook"


@pytest.mark.usefixtures("playing")
@pytest.mark.parametrize(
    "key", ["", "Bearer ", "Bearer sk_live_of_somebody", "Basic x", "Bearer ключ".encode().decode("latin-1")]
)
def test_another_key_is_not_let_in_and_told_how_to_reach_stripe(key):
    status, said = _ask("GET", "/v1/account", Authorization=key)

    assert status == 401
    assert "API_ADDRESSES=stripe=https://api.stripe.com" in said["error"]["message"]


@pytest.mark.usefixtures("playing")
def test_what_is_not_there_is_404():
    for method, path in (
        ("GET", "/"),
        ("GET", "/v1/charges/ch_none"),
        ("GET", "/v1/payouts"),
        ("POST", "/v1/charges"),
        ("POST", "/v1/subscriptions/sub_none"),
        ("POST", "/v1/account"),
        ("DELETE", "/v1/account"),
        ("DELETE", "/v1/webhook_endpoints/we_none"),
    ):
        assert _ask(method, path)[0] == 404, path


@pytest.mark.usefixtures("playing")
def test_what_cannot_be_done_is_400_and_nothing_is_kept():
    customer = _ask("POST", "/v1/customers", "email=ann@example.com")[1]["id"]
    price = "items[0][price_data][unit_amount]={}&items[0][price_data][currency]={}"
    metadata = f"customer={customer}&{price.format(100, 'usd')}&metadata[a]={'b' * 501}"
    for path, body in (
        ("/v1/webhook_endpoints", ""),
        ("/v1/customers", f"email={'a' * 501}"),
        ("/v1/subscriptions", price.format(100, "usd")),
        ("/v1/subscriptions", f"customer=cus_none&{price.format(100, 'usd')}"),
        *(
            ("/v1/subscriptions", f"customer={customer}&{price.format(*wrong)}")
            for wrong in (
                (0, "usd"),
                (-1, "usd"),
                ("1.5", "usd"),
                ("١", "usd"),
                (10**30, "usd"),
                (100, "us"),
                (100, ""),
            )
        ),
        ("/v1/subscriptions", metadata),
        ("/v1/refunds", ""),
        ("/v1/refunds", "charge=ch_none"),
    ):
        status, said = _ask("POST", path, body.encode())
        assert (status, said["error"]["type"]) == (400, "invalid_request_error"), body
    for query in ("limit=0", "limit=101", "limit=x", "created[gte]=x", "starting_after=nobody"):
        assert _ask("GET", f"/v1/events?{query}")[0] == 400, query

    assert _ask("GET", "/v1/subscriptions")[1]["data"] == []
    assert len(_ask("GET", "/v1/customers")[1]["data"]) == 1


@pytest.mark.usefixtures("playing")
def test_a_body_that_cannot_be_read_is_400():
    for body, headers in (
        (b"email=\xff", {}),
        (b"a=" + b"b" * (64 << 10), {}),
        (b"", {"Content-Length": "ten"}),
    ):
        assert _ask("POST", "/v1/customers", body, **headers)[0] == 400
