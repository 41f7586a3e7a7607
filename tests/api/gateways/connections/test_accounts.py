"""The account of a connection: its mode, replacement by another account, and ids shared by two accounts."""

import pytest
from joserfc.jwk import RSAKey

from tests.support.gateways.card.stripe import KEY, TEST_KEY
from tests.support.gateways.gateway_connections import (
    GATEWAYS_WITH_MODE,
    build_connection_body,
    connect_gateway,
    switch_to_test_mode,
)
from tests.support.gateways.stage import Purchase
from tests.support.gateways.storefront import wix

URL = "/api/v1/connections"
_SCOPES = {"accessScopes": [{"handle": "read_orders"}]}
_REFUSED = (422, "gateway_credentials_refused")


def _get_status_and_error(response):
    return response.status_code, response.json["error"]


def _replace_response(stage, path_suffix, body):
    """Replace the gateway's response to API paths with this suffix."""
    original = stage.answer
    stage.answer = lambda call: (200, body) if call.path.endswith(path_suffix) else original(call)


@pytest.mark.parametrize(("mode", "key"), [("live", TEST_KEY), ("test", KEY)])
def test_credentials_of_the_other_mode_return_422_and_create_nothing(brand, stage, mode, key):
    response = brand.person("Owner").post(URL, build_connection_body(stage, mode=mode, credentials={"apiKey": key}))
    assert _get_status_and_error(response) == _REFUSED
    assert brand.get(URL).json["items"] == []
    assert [call.method for call in stage.calls] == ["GET"]


@pytest.mark.parametrize("stage", GATEWAYS_WITH_MODE, indirect=True)
def test_test_credentials_for_a_live_connection_return_422(brand, stage):
    switch_to_test_mode(stage)
    response = brand.person("Owner").post(URL, build_connection_body(stage, mode="live"))
    assert _get_status_and_error(response) == _REFUSED
    assert "test mode" in response.json["message"]
    assert connect_gateway(brand.person("Owner"), stage)["mode"] == "test"


def test_replacing_credentials_by_the_other_modes_returns_422(shop):
    shop.stage.is_authorized = lambda call: True
    path = f"{URL}/{shop.connection['id']}"
    response = shop.brand.person("Owner").call("PATCH", path, {"credentials": {"apiKey": TEST_KEY}})
    assert _get_status_and_error(response) == _REFUSED


@pytest.mark.parametrize(
    ("stage", "other"),
    [
        ("woocommerce", {"storeUrl": "https://other.example.com"}),
        ("chargebee", {"site": "other"}),
        ("stripe", {"apiKey": KEY}),
        ("gumroad", None),
        ("shopify", {"shopDomain": "another.myshopify.com"}),
        ("bigcommerce", {"storeHash": "another"}),
    ],
    indirect=["stage"],
)
def test_credentials_of_another_account_return_422_and_change_nothing(brand, stage, other):
    owner = brand.person("Owner")
    path = f"{URL}/{connect_gateway(owner, stage)['id']}"
    if stage.gateway.name == "stripe":
        stage.objects["/v1/account"] = {"id": "acct_2", "object": "account"}
    if stage.gateway.name == "shopify":
        check = {"shop": {"myshopifyDomain": "another.myshopify.com"}, "currentAppInstallation": _SCOPES}
        stage._reply_to_check = lambda variables: check
    if stage.gateway.name == "gumroad":
        _replace_response(stage, "/user", {"success": True, "user": {"user_id": "SOMEBODY==", "id": "SOMEBODY=="}})
    stage.is_authorized = lambda call: True
    connection_before = brand.get(path).json
    response = owner.call("PATCH", path, {"credentials": other or dict(stage.credentials)})
    assert _get_status_and_error(response) == _REFUSED
    assert brand.get(path).json == connection_before
    assert owner.call("DELETE", path).status_code == 204


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_same_order_number_of_two_shops_is_two_orders(shop, drain):
    owner, numbers = shop.brand.person("Owner"), []
    path = f"{URL}/{shop.connection['id']}"
    for store in ("https://shop.example.com", "https://other.example.com", "https://SHOP.example.com/"):
        assert owner.call("DELETE", path).status_code == 204
        connection = connect_gateway(owner, shop.stage, credentials={**shop.stage.credentials, "storeUrl": store})
        path = f"{URL}/{connection['id']}"
        shop.stage.orders.clear()
        shop.stage._last_number = 0  # the other shop numbers its orders from one as well
        sale = shop.stage.pay(Purchase(cents=10_000))
        shop.stage.refund(sale, 4_000)
        numbers.append(sale.id)
        for _ in range(2):
            assert owner.post(f"{path}/reconcile", {}).status_code == 202
            drain()
    assert len(set(numbers)) == 1
    assert sorted(shop.conversions("external_event_id, refunded_cents")) == [
        (numbers[0], 4_000),
        (f"other.example.com:{numbers[0]}", 4_000),
    ]


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_order_of_a_test_connection_is_a_sale_on_the_live_one(brand, stage, drain):
    brand.program(default_commission_type="Percentage", default_commission_value=20)
    brand.affiliate("jane")
    owner = brand.person("Owner")
    paths = [f"{URL}/{connect_gateway(owner, stage, mode=mode)['id']}" for mode in ("test", "live")]
    sale = stage.pay(Purchase(cents=10_000))
    for path in paths:
        assert owner.post(f"{path}/reconcile", {}).status_code == 202
        drain()
    assert brand.rows("select external_event_id, is_test, commission_cents from conversion order by is_test") == [
        (sale.id, False, 2_000),
        (f"test:{sale.id}", True, 2_000),
    ]


def test_test_payment_on_a_live_connection_earns_no_money(shop):
    shop.sell(is_test=True)
    assert shop.conversions("is_test") == [(True,)]
    assert shop.brand.rows("select distinct is_test from ledger_entry") == [(True,)]
    assert shop.brand.rows("select from affiliate_revenue") == []


@pytest.mark.parametrize("stage", ["bigcommerce"], indirect=True)
def test_another_api_account_of_the_store_rotates_with_new_webhooks(shop, drain):
    owner, stage, path = shop.brand.person("Owner"), shop.stage, f"{URL}/{shop.connection['id']}"
    hooks, hook_token = set(stage.hooks), stage.word
    credentials = {"accessToken": "access_new", "clientId": "client_new", "clientSecret": "secret_new"}
    stage.is_authorized = lambda call: call.headers.get("X-Auth-Token") in ("access_fake", "access_new")

    response = owner.call("PATCH", path, {"credentials": credentials})

    assert response.status_code == 200, response.text
    assert response.json["status"] == "Active"
    new_hooks = set(stage.hooks) - hooks
    assert (len(new_hooks), stage.word != hook_token) == (6, True)
    assert {stage.hooks[number]["destination"] for number in new_hooks} == {response.json["webhookUrl"]}
    stage.is_authorized = lambda call: call.headers.get("X-Auth-Token") == "access_new"
    assert owner.post(f"{path}/check").json["status"] == "Active"
    sale = stage.pay(Purchase(cents=10_000))
    assert owner.post(f"{path}/reconcile", {}).status_code == 202
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]
    second_response = owner.call("PATCH", path, {"credentials": {"accessToken": "access_new"}})
    assert second_response.status_code == 200
    assert set(stage.hooks) & new_hooks == new_hooks


_INSTANCE = "99999999-2222-4333-8444-555555555555"
#: Another app of the same store, per gateway.
_OTHER_APPS = {
    "shopify": {"clientId": "client_new", "clientSecret": "shpss_new"},
    "wix": {
        "appId": "app_new",
        "appSecret": "secret_new",
        "instanceId": _INSTANCE,
        "publicKey": RSAKey.generate_key(2048).as_pem(private=False).decode(),
    },
    "bigcommerce": {"accessToken": "new", "clientId": "client_new", "clientSecret": "secret_new"},
}


def _rotate_app(shop):
    """Replace a connection's credentials by those of another app of its store; return the response."""
    shop.stage.is_authorized = lambda call: True
    if shop.stage.gateway.name == "wix":
        _replace_response(
            shop.stage, "/apps/v1/instance", {"instance": {"instanceId": _INSTANCE}, "site": {"siteId": wix.SITE}}
        )
    credentials = _OTHER_APPS[shop.stage.gateway.name]
    path = f"{URL}/{shop.connection['id']}"
    return shop.brand.person("Owner").call("PATCH", path, {"credentials": credentials})


@pytest.mark.parametrize("stage", list(_OTHER_APPS), indirect=True)
def test_another_app_of_the_same_store_rotates_the_credentials(shop, drain):
    stage, path = shop.stage, f"{URL}/{shop.connection['id']}"

    response = _rotate_app(shop)

    assert response.status_code == 200, response.text
    assert (response.json["id"], response.json["status"]) == (shop.connection["id"], "Active")
    assert bool(response.json["setup"]["steps"]) == (stage.gateway.name == "wix")  # its webhooks are created by hand
    sale = stage.pay(Purchase(cents=10_000))
    assert shop.brand.person("Owner").post(f"{path}/reconcile", {}).status_code == 202
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]


@pytest.mark.parametrize("stage", list(_OTHER_APPS), indirect=True)
def test_uninstalling_the_former_app_keeps_the_connection_active(shop, drain):
    notifications = shop.stage.uninstall()
    assert _rotate_app(shop).status_code == 200

    assert shop.deliver(*notifications) == [200]
    drain()

    assert shop.brand.get(f"{URL}/{shop.connection['id']}").json["status"] == "Active"


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_another_app_gets_new_webhooks_and_former_ones_are_deleted(shop):
    former = set(shop.stage.hooks)
    for hook in shop.stage.hooks.values():  # an app cannot see another app's webhooks
        hook["uri"] += "#former"

    assert _rotate_app(shop).status_code == 200

    assert set(shop.stage.hooks) & former == set()
    assert len(shop.stage.hooks) == len(former)


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_corrected_name_of_the_same_app_keeps_its_webhooks(shop):
    hooks = dict(shop.stage.hooks)

    assert _rotate_app(shop).status_code == 200

    assert shop.stage.hooks == hooks != {}


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_permanent_token_of_the_former_app_is_not_used_for_another(shop):
    path, owner = f"{URL}/{shop.connection['id']}", shop.brand.person("Owner")
    shop.stage.is_authorized = lambda call: True
    assert owner.call("PATCH", path, {"credentials": {"accessToken": "shpat_former"}}).status_code == 200

    assert _rotate_app(shop).status_code == 200
    shop.stage.calls.clear()
    assert owner.post(f"{path}/check").status_code == 200

    tokens = {call.headers.get("X-Shopify-Access-Token") for call in shop.stage.calls}
    assert "shpat_former" not in tokens
