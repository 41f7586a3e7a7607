"""The simulated gateway over HTTP: requests of Stripe's own client, and invalid requests."""

import json
from http.client import HTTPConnection

import pytest
import stripe

import settings
from adapters.embedded.data_folder import wait_until
from commands.demo import loopback
from commands.demo.gateway import object_store

_PATIENCE_S = 120


def _request(method, path, body=None, **headers):
    config = settings.current()
    connection = HTTPConnection(*loopback.gateway_address(config), timeout=_PATIENCE_S)
    key = object_store.read_key(config.servers.data_dir)
    connection.request(method, path, body, {"Authorization": f"Bearer {key}", **headers})
    response = connection.getresponse()
    status_and_body = response.status, json.loads(response.read())
    connection.close()
    return status_and_body


def _create_subscription(client, **fields):
    customer = client.v1.customers.create({"email": "ann@example.com"})
    price = {"unit_amount": 4_900, "currency": "eur"}
    items = [{"price_data": price}]
    return client.v1.subscriptions.create({"customer": customer.id, "items": items, **fields})


def test_stripes_client_sells_renews_refunds_and_verifies_signatures(client, subscriber):
    endpoint = client.v1.webhook_endpoints.create(
        {"url": "https://shop.test/hook?a=b", "enabled_events": ["invoice.paid", "charge.refunded"]}
    )
    subscription = _create_subscription(client, metadata={"affiliate_slug": "nora"})
    client.v1.subscriptions.update(subscription.id, {"billing_cycle_anchor": "now"})
    (latest,) = client.v1.charges.list({"limit": 1}).data
    client.v1.refunds.create({"charge": latest.id, "amount": 900})

    assert wait_until(lambda: len(subscriber.requests) == 3, timeout_s=_PATIENCE_S)
    events = [
        stripe.Webhook.construct_event(body, signature, endpoint.secret) for _, signature, body in subscriber.requests
    ]
    assert [event.type for event in events] == ["invoice.paid", "invoice.paid", "charge.refunded"]
    assert {path for path, _, _ in subscriber.requests} == {"/hook"}
    first_invoice, second_invoice, refunded_charge = (event.data.object for event in events)
    assert first_invoice.parent.subscription_details.metadata.affiliate_slug == "nora"
    assert (first_invoice.billing_reason, second_invoice.billing_reason) == (
        "subscription_create",
        "subscription_cycle",
    )
    assert first_invoice.status_transitions.paid_at < second_invoice.status_transitions.paid_at
    assert (first_invoice.amount_paid, first_invoice.currency, first_invoice.customer_email) == (
        4_900,
        "eur",
        "ann@example.com",
    )
    assert (refunded_charge.id, refunded_charge.amount_refunded, refunded_charge.refunded) == (latest.id, 900, False)
    listed = [event.id for event in client.v1.events.list({"types": ["charge.refunded"]}).data]
    assert listed == [events[2].id]


def test_list_is_paged_newest_first(client):
    subscription_ids = [_create_subscription(client).id for _ in range(5)]

    listed = list(client.v1.subscriptions.list({"limit": 2}).auto_paging_iter())

    assert [subscription.id for subscription in listed] == subscription_ids[::-1]


def test_event_is_resent_until_accepted(client, subscriber):
    client.v1.webhook_endpoints.create({"url": "https://shop.test/hook", "enabled_events": ["invoice.paid"]})
    subscriber.statuses = [503, 503]
    _create_subscription(client)
    assert wait_until(lambda: len(subscriber.requests) == 3, timeout_s=_PATIENCE_S)

    _create_subscription(client)
    assert wait_until(lambda: len(subscriber.requests) == 4, timeout_s=_PATIENCE_S)
    ids = [json.loads(body)["id"] for _, _, body in subscriber.requests]
    assert len(set(ids[:3])) == 1 != len(set(ids))


def test_deleted_endpoint_receives_nothing(client, subscriber):
    deleted = client.v1.webhook_endpoints.create({"url": "https://shop.test/gone", "enabled_events": ["*"]})
    client.v1.webhook_endpoints.create({"url": "https://shop.test/hook", "enabled_events": ["invoice.paid"]})
    client.v1.webhook_endpoints.delete(deleted.id)
    _create_subscription(client)

    assert wait_until(lambda: len(subscriber.requests) == 1, timeout_s=_PATIENCE_S)
    assert subscriber.requests[0][0] == "/hook"


@pytest.mark.usefixtures("subscriber")
@pytest.mark.parametrize(
    "key", ["", "Bearer ", "Bearer sk_live_of_somebody", "Basic x", "Bearer ключ".encode().decode("latin-1")]
)
def test_wrong_key_returns_401_with_the_way_to_the_real_stripe(key):
    status, body = _request("GET", "/v1/account", Authorization=key)

    assert status == 401
    assert "API_ADDRESSES=stripe=https://api.stripe.com" in body["error"]["message"]


@pytest.mark.usefixtures("subscriber")
def test_unknown_path_or_object_returns_404():
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
        assert _request(method, path)[0] == 404, path


@pytest.mark.usefixtures("subscriber")
def test_invalid_request_returns_400_and_stores_nothing():
    customer = _request("POST", "/v1/customers", "email=ann@example.com")[1]["id"]
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
        status, response = _request("POST", path, body.encode())
        assert (status, response["error"]["type"]) == (400, "invalid_request_error"), body
    for query in ("limit=0", "limit=101", "limit=x", "created[gte]=x", "starting_after=nobody"):
        assert _request("GET", f"/v1/events?{query}")[0] == 400, query

    assert _request("GET", "/v1/subscriptions")[1]["data"] == []
    assert len(_request("GET", "/v1/customers")[1]["data"]) == 1


@pytest.mark.usefixtures("subscriber")
def test_unreadable_body_returns_400():
    for body, headers in (
        (b"email=\xff", {}),
        (b"a=" + b"b" * (64 << 10), {}),
        (b"", {"Content-Length": "ten"}),
    ):
        assert _request("POST", "/v1/customers", body, **headers)[0] == 400
