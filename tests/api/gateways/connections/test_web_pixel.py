"""The web pixel of a store: there while it is connected, whatever happens on the way, and gone afterwards."""

import pytest

from adapters import clock
from models import db
from pipelines.gateways import web_pixel
from pipelines.work import TryAgain
from tests.support.databases import run_as_brand
from tests.support.gateways.gateway_connections import build_connection_body, connect_gateway
from tests.support.job_queues import drain

URL = "/api/v1/connections"
SNIPPET = "/api/v1/r/install-snippet?withPixel=true"

pytestmark = pytest.mark.parametrize("stage", ["shopify"], indirect=True)


@pytest.fixture
def store(shop):
    drain()
    return shop


def _path(shop):
    return f"{URL}/{shop.connection['id']}"


def _pixel(shop):
    return shop.brand.get(_path(shop)).json["webPixel"]


def _snippet(shop):
    answer = shop.brand.get(SNIPPET)
    return answer.json.get("error") or answer.json["snippet"]


def _disconnect(shop):
    assert shop.brand.person("Owner").call("DELETE", _path(shop)).status_code == 204


def test_connecting_makes_the_pixel_and_the_snippet_names_it(shop):
    assert (_pixel(shop)["status"], _snippet(shop)) == ("waiting", "pixel_not_provisioned")

    drain()

    shown = _pixel(shop)
    assert (shown["status"], shown["error"]) == ("active", None)
    assert f'data-pixel-org="{shown["publicKey"]}"' in _snippet(shop)
    settings = shop.stage.pixels.settings
    assert settings["accountID"] == shown["publicKey"]
    assert settings["endpoint"] == "http://127.0.0.1:8000"
    assert settings["params"].startswith("via,ref,")
    assert shop.brand.rows("select external_id from web_pixel") == [(shop.stage.pixels.pixel["id"],)]
    assert shop.stage.pixels.acts == ["webPixelCreate"]
    listed = shop.brand.get(URL).json["items"][0]
    assert listed["webPixel"] == shown


@pytest.mark.parametrize(
    ("lack", "says"),
    [
        ("has_extension", "integrations/shopify-pixel"),
        ("has_scopes", "write_pixels, read_pixels and read_customer_events"),
    ],
)
def test_what_the_app_lacks_is_said_and_a_check_tries_again(shop, lack, says):
    setattr(shop.stage.pixels, lack, False)
    drain()
    shown = shop.brand.get(_path(shop)).json
    assert (shown["status"], shown["webPixel"]["status"]) == ("Active", "failed")
    assert says in shown["lastError"]
    assert _snippet(shop) == "pixel_not_provisioned"
    assert shop.sell().id in [row[0] for row in shop.conversions()]  # the connection works without it

    setattr(shop.stage.pixels, lack, True)
    assert shop.brand.person("Owner").post(f"{_path(shop)}/check").status_code == 200
    drain()

    shown = shop.brand.get(_path(shop)).json
    assert (shown["webPixel"]["status"], shown["lastError"]) == ("active", None)


@pytest.mark.parametrize("fault", ["cut", "fail", "html", "busy"])
def test_a_lost_answer_makes_no_second_pixel(shop, fault):
    shop.stage.faults.extend(["", fault])  # it is looked up, and then made: with "cut" it is, and nobody hears of it
    drain()
    assert _pixel(shop)["status"] == "failed"
    assert _pixel(shop)["error"]

    run_as_brand(shop.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    assert _pixel(shop)["status"] == "active"
    assert shop.stage.pixels.settings["accountID"] == _pixel(shop)["publicKey"]
    assert shop.stage.pixels.acts.count("webPixelCreate") == 1


def test_checks_and_new_credentials_change_nothing_that_is_as_it_should_be(store):
    before = (_pixel(store), store.stage.pixels.pixel)

    store.brand.person("Owner").post(f"{_path(store)}/check")
    store.brand.person("Owner").call("PATCH", _path(store), {"credentials": dict(store.stage.credentials)})
    drain()

    assert (_pixel(store), store.stage.pixels.pixel) == before
    assert store.stage.pixels.acts == ["webPixelCreate"]


def test_a_store_that_is_away_for_a_while_keeps_its_pixel_as_it_was(store):
    store.brand.person("Owner").post(f"{_path(store)}/check")
    store.stage.faults.extend(["fail"] * 8)
    drain()

    assert (_pixel(store)["status"], _pixel(store)["error"]) == ("active", None)
    assert store.brand.rows("select count(*) from job where name = 'web_pixel.settle'") == [(1,)]


def test_two_jobs_at_once_make_one_pixel(shop):
    begun = [_begun(shop), _begun(shop)]
    stage = shop.stage.pixels

    answers = [web_pixel.apply(one) for one in begun]
    for one, answer in zip(begun, answers, strict=True):
        with db.unit_of_work(shop.brand.id):
            assert web_pixel.record(one, answer, now=clock.now()) is None

    assert stage.acts == ["webPixelCreate"]
    assert _pixel(shop)["status"] == "active"


def test_a_pixel_that_comes_between_look_and_act_is_found_the_next_time(shop):
    begun, make = _begun(shop), shop.stage.pixels._webPixelCreate
    shop.stage.pixels._webPixelCreate = lambda variables: make(variables) and make(variables)  # somebody was faster
    said = web_pixel.apply(begun)

    assert (said.external_id, said.is_away) == (None, True)
    assert web_pixel.apply(begun).external_id == shop.stage.pixels.pixel["id"]


def _begun(shop):
    connection = shop.brand.rows("select id from gateway_connection where status <> 'Disconnected'")[0][0]
    with db.unit_of_work(shop.brand.id):
        return web_pixel.prepare(organization_id=shop.brand.id, connection_id=connection, now=clock.now())


def test_a_pixel_that_somebody_deleted_or_changed_is_mended(store):
    for change in (lambda: None, lambda: {**store.stage.pixels.pixel, "settings": {"accountID": "another"}}):
        store.stage.pixels.pixel = change()
        store.brand.person("Owner").post(f"{_path(store)}/check")
        drain()
        assert store.stage.pixels.settings["accountID"] == _pixel(store)["publicKey"]


def test_new_parameters_reach_the_pixel(store):
    answer = store.brand.person("Owner").call("PATCH", "/api/v1/settings/attribution-params", {"custom": "friend"})
    drain()

    assert answer.status_code == 200
    assert store.stage.pixels.settings["params"].startswith("friend,via,")
    assert store.stage.pixels.acts == ["webPixelCreate", "webPixelUpdate"]


def test_disconnecting_deletes_the_pixel_and_ends_its_key(store):
    _disconnect(store)

    assert _snippet(store) == "pixel_not_provisioned"
    assert store.brand.get(_path(store)).json["webPixel"] is None
    drain()
    assert store.stage.pixels.pixel is None
    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]


def test_a_store_that_is_away_is_asked_again_and_after_a_week_let_go(store):
    store.stage.faults.append("fail")
    _disconnect(store)
    store.stage.faults.extend(["fail"] * 8)
    drain()
    assert store.brand.rows("select state, credentials_sealed is not null from web_pixel") == [("ending", True)]

    run_as_brand(store.brand, "update web_pixel set ended_at = ended_at - interval '8 days'")
    run_as_brand(store.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]


def test_a_store_that_lets_us_in_no_more_is_let_go(store):
    store.deliver(*store.stage.uninstall())
    store.stage.token = "another"
    store.stage.is_authorized = lambda asked: False
    drain()

    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]
    assert store.brand.rows("select count(*) from job where name = 'web_pixel.settle'") == [(0,)]


def test_connecting_anew_has_a_key_of_its_own_and_waits_until_the_former_is_gone(store):
    former = _pixel(store)["publicKey"]
    _disconnect(store)
    again = connect_gateway(store.brand.person("Owner"), store.stage)
    with pytest.raises(TryAgain):
        _begun(store)
    drain()
    run_as_brand(store.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    shown = store.brand.get(f"{URL}/{again['id']}").json["webPixel"]
    assert (shown["status"], store.stage.pixels.settings["accountID"]) == ("active", shown["publicKey"])
    assert shown["publicKey"] != former


def test_a_connection_that_ends_while_its_pixel_is_made_leaves_none_behind(shop):
    begun = _begun(shop)
    _disconnect(shop)
    drain()  # who deletes it finds nothing yet
    said = web_pixel.apply(begun)
    with db.unit_of_work(shop.brand.id):
        assert web_pixel.record(begun, said, now=clock.now()) is None
    drain()

    assert shop.stage.pixels.pixel is None
    assert _snippet(shop) == "pixel_not_provisioned"


def test_the_operators_own_key_stays_in_the_snippet(brand, stage):
    brand.program()
    brand.set(pixelPublicKey="px_Acme-17")
    made = connect_gateway(brand.person("Owner"), stage)
    drain()
    assert 'data-pixel-org="px_Acme-17"' in brand.get(SNIPPET).json["snippet"]
    brand.person("Owner").call("DELETE", f"{URL}/{made['id']}")
    drain()

    assert 'data-pixel-org="px_Acme-17"' in brand.get(SNIPPET).json["snippet"]


def test_a_store_that_is_tried_out_has_none(brand, stage):
    made = brand.person("Owner").post(URL, build_connection_body(stage, mode="test")).json
    drain()

    assert (made["webPixel"], stage.pixels.pixel) == (None, None)


def test_a_job_that_comes_again_asks_only_what_is_there(store):
    begun = _begun(store)
    assert web_pixel.apply(begun).external_id == store.stage.pixels.pixel["id"]
    assert store.stage.pixels.acts == ["webPixelCreate"]
