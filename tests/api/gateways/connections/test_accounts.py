"""Whose account a connection is of: the mode of its credentials, another account's, and ids that two accounts share."""

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


def _said(answer):
    return answer.status_code, answer.json["error"]


def _answer(stage, ending, said):
    """Have the gateway say something else at a place of its API."""
    before = stage.answer
    stage.answer = lambda asked: (200, said) if asked.path.endswith(ending) else before(asked)


@pytest.mark.parametrize(("mode", "key"), [("live", TEST_KEY), ("test", KEY)])
def test_credentials_of_the_other_mode_are_refused_and_nothing_is_made(brand, stage, mode, key):
    answer = brand.person("Owner").post(URL, build_connection_body(stage, mode=mode, credentials={"apiKey": key}))
    assert _said(answer) == _REFUSED
    assert brand.get(URL).json["items"] == []
    assert [asked.method for asked in stage.calls] == ["GET"]


@pytest.mark.parametrize("stage", GATEWAYS_WITH_MODE, indirect=True)
def test_every_gateway_that_tells_its_mode_is_believed(brand, stage):
    switch_to_test_mode(stage)
    answer = brand.person("Owner").post(URL, build_connection_body(stage, mode="live"))
    assert _said(answer) == _REFUSED
    assert "test mode" in answer.json["message"]
    assert connect_gateway(brand.person("Owner"), stage)["mode"] == "test"


def test_credentials_are_not_replaced_by_those_of_the_other_mode(shop):
    shop.stage.is_authorized = lambda asked: True
    path = f"{URL}/{shop.connection['id']}"
    refused = shop.brand.person("Owner").call("PATCH", path, {"credentials": {"apiKey": TEST_KEY}})
    assert _said(refused) == _REFUSED


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
def test_credentials_of_another_account_are_refused_and_change_nothing(brand, stage, other):
    owner = brand.person("Owner")
    path = f"{URL}/{connect_gateway(owner, stage)['id']}"
    if stage.gateway.name == "stripe":
        stage.objects["/v1/account"] = {"id": "acct_2", "object": "account"}
    if stage.gateway.name == "shopify":
        check = {"shop": {"myshopifyDomain": "another.myshopify.com"}, "currentAppInstallation": _SCOPES}
        stage._said_check = lambda variables: check
    if stage.gateway.name == "gumroad":
        _answer(stage, "/user", {"success": True, "user": {"user_id": "SOMEBODY==", "id": "SOMEBODY=="}})
    stage.is_authorized = lambda asked: True
    before = brand.get(path).json
    refused = owner.call("PATCH", path, {"credentials": other or dict(stage.credentials)})
    assert _said(refused) == _REFUSED
    assert brand.get(path).json == before
    assert owner.call("DELETE", path).status_code == 204


@pytest.mark.parametrize("stage", ["woocommerce"], indirect=True)
def test_the_same_order_number_of_two_shops_is_two_orders(shop, drain):
    owner, numbers = shop.brand.person("Owner"), []
    path = f"{URL}/{shop.connection['id']}"
    for store in ("https://shop.example.com", "https://other.example.com", "https://SHOP.example.com/"):
        assert owner.call("DELETE", path).status_code == 204
        again = connect_gateway(owner, shop.stage, credentials={**shop.stage.credentials, "storeUrl": store})
        path = f"{URL}/{again['id']}"
        shop.stage.orders.clear()
        shop.stage._counted = 0  # the other shop counts its orders from one as well
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
def test_an_order_that_a_rehearsal_booked_first_is_money_on_the_live_connection(brand, stage, drain):
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


def test_a_rehearsed_payment_on_a_live_connection_is_never_money(shop):
    shop.sell(is_test=True)
    assert shop.conversions("is_test") == [(True,)]
    assert shop.brand.rows("select distinct is_test from ledger_entry") == [(True,)]
    assert shop.brand.rows("select from affiliate_revenue") == []


@pytest.mark.parametrize("stage", ["bigcommerce"], indirect=True)
def test_another_api_account_of_the_same_store_is_a_rotation_with_new_webhooks(shop, drain):
    owner, stage, path = shop.brand.person("Owner"), shop.stage, f"{URL}/{shop.connection['id']}"
    hooks, word = set(stage.hooks), stage.word
    rotated = {"accessToken": "access_new", "clientId": "client_new", "clientSecret": "secret_new"}
    stage.is_authorized = lambda asked: asked.headers.get("X-Auth-Token") in ("access_fake", "access_new")

    answer = owner.call("PATCH", path, {"credentials": rotated})

    assert answer.status_code == 200, answer.text
    assert answer.json["status"] == "Active"
    made = set(stage.hooks) - hooks
    assert (len(made), stage.word != word) == (6, True)
    assert {stage.hooks[number]["destination"] for number in made} == {answer.json["webhookUrl"]}
    stage.is_authorized = lambda asked: asked.headers.get("X-Auth-Token") == "access_new"
    assert owner.post(f"{path}/check").json["status"] == "Active"
    sale = stage.pay(Purchase(cents=10_000))
    assert owner.post(f"{path}/reconcile", {}).status_code == 202
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]
    again = owner.call("PATCH", path, {"credentials": {"accessToken": "access_new"}})
    assert again.status_code == 200
    assert set(stage.hooks) & made == made


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
    """Give a store's connection the credentials of another app and return the answer."""
    shop.stage.is_authorized = lambda asked: True
    if shop.stage.gateway.name == "wix":
        _answer(shop.stage, "/apps/v1/instance", {"instance": {"instanceId": _INSTANCE}, "site": {"siteId": wix.SITE}})
    credentials = _OTHER_APPS[shop.stage.gateway.name]
    path = f"{URL}/{shop.connection['id']}"
    return shop.brand.person("Owner").call("PATCH", path, {"credentials": credentials})


@pytest.mark.parametrize("stage", list(_OTHER_APPS), indirect=True)
def test_another_app_of_the_same_store_is_a_rotation(shop, drain):
    stage, path = shop.stage, f"{URL}/{shop.connection['id']}"

    answer = _rotate_app(shop)

    assert answer.status_code == 200, answer.text
    assert (answer.json["id"], answer.json["status"]) == (shop.connection["id"], "Active")
    assert bool(answer.json["setup"]["steps"]) == (stage.gateway.name == "wix")  # its webhooks are made by hand
    sale = stage.pay(Purchase(cents=10_000))
    assert shop.brand.person("Owner").post(f"{path}/reconcile", {}).status_code == 202
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]


@pytest.mark.parametrize("stage", list(_OTHER_APPS), indirect=True)
def test_uninstalling_the_former_app_does_not_end_the_connection(shop, drain):
    former = shop.stage.uninstall()
    assert _rotate_app(shop).status_code == 200

    assert shop.deliver(*former) == [200]
    drain()

    assert shop.brand.get(f"{URL}/{shop.connection['id']}").json["status"] == "Active"


@pytest.mark.parametrize("stage", ["shopify"], indirect=True)
def test_another_app_has_its_own_webhooks_and_the_former_ones_are_deleted(shop):
    former = set(shop.stage.hooks)
    for hook in shop.stage.hooks.values():  # an app neither sees nor meets those of another
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
    shop.stage.is_authorized = lambda asked: True
    assert owner.call("PATCH", path, {"credentials": {"accessToken": "shpat_former"}}).status_code == 200

    assert _rotate_app(shop).status_code == 200
    shop.stage.calls.clear()
    assert owner.post(f"{path}/check").status_code == 200

    tokens = {asked.headers.get("X-Shopify-Access-Token") for asked in shop.stage.calls}
    assert "shpat_former" not in tokens
