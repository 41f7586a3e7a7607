"""Whose account a connection is of: the mode of its credentials, another account's, and ids that two accounts share."""

import pytest

from tests.support.gateways.card.stripe import KEY, TEST_KEY
from tests.support.gateways.playing import TELLING_THEIR_MODE, be_for_trying_out, connected, wanted
from tests.support.gateways.stage import Purchase

URL = "/api/v1/connections"
_REFUSED = (422, "gateway_credentials_refused")


def _said(answer):
    return answer.status_code, answer.json["error"]


def _answer(stage, ending, said):
    """Have the gateway say something else at a place of its API."""
    before = stage.answer
    stage.answer = lambda asked: (200, said) if asked.path.endswith(ending) else before(asked)


@pytest.mark.parametrize(("mode", "key"), [("live", TEST_KEY), ("test", KEY)])
def test_credentials_of_the_other_mode_are_refused_and_nothing_is_made(brand, stage, mode, key):
    answer = brand.person("Owner").post(URL, wanted(stage, mode=mode, credentials={"apiKey": key}))
    assert _said(answer) == _REFUSED
    assert brand.get(URL).json["items"] == []
    assert [asked.method for asked in stage.asked] == ["GET"]


@pytest.mark.parametrize("stage", TELLING_THEIR_MODE, indirect=True)
def test_every_gateway_that_tells_its_mode_is_believed(brand, stage):
    be_for_trying_out(stage)
    answer = brand.person("Owner").post(URL, wanted(stage, mode="live"))
    assert _said(answer) == _REFUSED
    assert "test mode" in answer.json["message"]
    assert connected(brand.person("Owner"), stage)["mode"] == "test"


def test_credentials_are_not_replaced_by_those_of_the_other_mode(shop):
    shop.stage.is_let_in = lambda asked: True
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
        ("shopify", {"clientId": "another"}),
        ("bigcommerce", {"storeHash": "another"}),
    ],
    indirect=["stage"],
)
def test_credentials_of_another_account_or_app_are_refused_and_change_nothing(brand, stage, other):
    owner = brand.person("Owner")
    path = f"{URL}/{connected(owner, stage)['id']}"
    if stage.gateway.name == "stripe":
        stage.objects["/v1/account"] = {"id": "acct_2", "object": "account"}
    if stage.gateway.name == "gumroad":
        _answer(stage, "/user", {"success": True, "user": {"user_id": "SOMEBODY==", "id": "SOMEBODY=="}})
    stage.is_let_in = lambda asked: True
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
        again = connected(owner, shop.stage, credentials={**shop.stage.credentials, "storeUrl": store})
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
    paths = [f"{URL}/{connected(owner, stage, mode=mode)['id']}" for mode in ("test", "live")]
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
@pytest.mark.parametrize("is_old_row", [False, True])
def test_another_api_account_of_the_same_store_is_a_rotation_with_new_webhooks(shop, is_old_row, drain):
    owner, stage, path = shop.brand.person("Owner"), shop.stage, f"{URL}/{shop.connection['id']}"
    if is_old_row:  # as an earlier release stored it
        identity = [stage.credentials["storeHash"], stage.credentials["clientId"]]
        shop.brand.rows("update gateway_connection set identity = %s returning 1", identity)
    hooks, word = set(stage.hooks), stage.word
    rotated = {"accessToken": "access_new", "clientId": "client_new", "clientSecret": "secret_new"}
    stage.is_let_in = lambda asked: asked.headers.get("X-Auth-Token") in ("access_fake", "access_new")

    answer = owner.call("PATCH", path, {"credentials": rotated})

    assert answer.status_code == 200, answer.text
    assert answer.json["status"] == "Active"
    made = set(stage.hooks) - hooks
    assert (len(made), stage.word != word) == (4, True)
    assert {stage.hooks[number]["destination"] for number in made} == {answer.json["webhookUrl"]}
    stage.is_let_in = lambda asked: asked.headers.get("X-Auth-Token") == "access_new"
    assert owner.post(f"{path}/check").json["status"] == "Active"
    sale = stage.pay(Purchase(cents=10_000))
    assert owner.post(f"{path}/reconcile", {}).status_code == 202
    drain()
    assert shop.conversions("external_event_id") == [(sale.id,)]
    again = owner.call("PATCH", path, {"credentials": {"accessToken": "access_new"}})
    assert again.status_code == 200
    assert set(stage.hooks) & made == made
