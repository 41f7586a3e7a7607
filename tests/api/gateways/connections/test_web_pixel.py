"""The web pixel of a store: it exists while the store is connected, also after failures, and is deleted afterwards."""

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


def _build_path(shop):
    return f"{URL}/{shop.connection['id']}"


def _get_pixel(shop):
    return shop.brand.get(_build_path(shop)).json["webPixel"]


def _get_snippet(shop):
    response = shop.brand.get(SNIPPET)
    return response.json.get("error") or response.json["snippet"]


def _disconnect(shop):
    assert shop.brand.person("Owner").call("DELETE", _build_path(shop)).status_code == 204


def test_connecting_creates_the_pixel_named_in_the_snippet(shop):
    assert (_get_pixel(shop)["status"], _get_snippet(shop)) == ("waiting", "pixel_not_provisioned")

    drain()

    pixel = _get_pixel(shop)
    assert (pixel["status"], pixel["error"]) == ("active", None)
    assert f'data-pixel-org="{pixel["publicKey"]}"' in _get_snippet(shop)
    settings = shop.stage.pixels.settings
    assert settings["accountID"] == pixel["publicKey"]
    assert settings["endpoint"] == "http://127.0.0.1:8000"
    assert settings["params"].startswith("via,ref,")
    assert shop.brand.rows("select external_id from web_pixel") == [(shop.stage.pixels.pixel["id"],)]
    assert shop.stage.pixels.acts == ["webPixelCreate"]
    connection = shop.brand.get(URL).json["items"][0]
    assert connection["webPixel"] == pixel


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("has_extension", "integrations/shopify-pixel"),
        ("has_scopes", "write_pixels, read_pixels and read_customer_events"),
    ],
)
def test_missing_app_feature_is_reported_and_a_check_retries(shop, missing, message):
    setattr(shop.stage.pixels, missing, False)
    drain()
    connection = shop.brand.get(_build_path(shop)).json
    assert (connection["status"], connection["webPixel"]["status"]) == ("Active", "failed")
    assert message in connection["lastError"]
    assert _get_snippet(shop) == "pixel_not_provisioned"
    assert shop.sell().id in [row[0] for row in shop.conversions()]  # the connection works without the pixel

    setattr(shop.stage.pixels, missing, True)
    assert shop.brand.person("Owner").post(f"{_build_path(shop)}/check").status_code == 200
    drain()

    connection = shop.brand.get(_build_path(shop)).json
    assert (connection["webPixel"]["status"], connection["lastError"]) == ("active", None)


@pytest.mark.parametrize("fault", ["cut", "fail", "html", "busy"])
def test_lost_response_creates_no_second_pixel(shop, fault):
    # The look-up succeeds; with "cut" the pixel is created, but the response is lost.
    shop.stage.faults.extend(["", fault])
    drain()
    assert _get_pixel(shop)["status"] == "failed"
    assert _get_pixel(shop)["error"]

    run_as_brand(shop.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    assert _get_pixel(shop)["status"] == "active"
    assert shop.stage.pixels.settings["accountID"] == _get_pixel(shop)["publicKey"]
    assert shop.stage.pixels.acts.count("webPixelCreate") == 1


def test_checks_and_new_credentials_leave_a_correct_pixel_unchanged(store):
    pixel_before = (_get_pixel(store), store.stage.pixels.pixel)

    store.brand.person("Owner").post(f"{_build_path(store)}/check")
    store.brand.person("Owner").call("PATCH", _build_path(store), {"credentials": dict(store.stage.credentials)})
    drain()

    assert (_get_pixel(store), store.stage.pixels.pixel) == pixel_before
    assert store.stage.pixels.acts == ["webPixelCreate"]


def test_unavailable_store_keeps_its_pixel(store):
    store.brand.person("Owner").post(f"{_build_path(store)}/check")
    store.stage.faults.extend(["fail"] * 8)
    drain()

    assert (_get_pixel(store)["status"], _get_pixel(store)["error"]) == ("active", None)
    assert store.brand.rows("select count(*) from job where name = 'web_pixel.settle'") == [(1,)]


def test_interleaved_jobs_create_one_pixel(shop):
    runs = [_prepare_run(shop), _prepare_run(shop)]
    pixels = shop.stage.pixels

    results = [web_pixel.apply(run) for run in runs]
    for run, result in zip(runs, results, strict=True):
        with db.unit_of_work(shop.brand.id):
            assert web_pixel.record(run, result, now=clock.now()) is None

    assert pixels.acts == ["webPixelCreate"]
    assert _get_pixel(shop)["status"] == "active"


def test_pixel_created_concurrently_is_found_by_the_retry(shop):
    run, create = _prepare_run(shop), shop.stage.pixels._webPixelCreate
    # Another job was faster.
    shop.stage.pixels._webPixelCreate = lambda variables: create(variables) and create(variables)
    result = web_pixel.apply(run)

    assert (result.external_id, result.is_away) == (None, True)
    assert web_pixel.apply(run).external_id == shop.stage.pixels.pixel["id"]


def _prepare_run(shop):
    connection_id = shop.brand.rows("select id from gateway_connection where status <> 'Disconnected'")[0][0]
    with db.unit_of_work(shop.brand.id):
        return web_pixel.prepare(organization_id=shop.brand.id, connection_id=connection_id, now=clock.now())


def test_deleted_or_changed_pixel_is_restored(store):
    for change in (lambda: None, lambda: {**store.stage.pixels.pixel, "settings": {"accountID": "another"}}):
        store.stage.pixels.pixel = change()
        store.brand.person("Owner").post(f"{_build_path(store)}/check")
        drain()
        assert store.stage.pixels.settings["accountID"] == _get_pixel(store)["publicKey"]


def test_new_attribution_parameters_reach_the_pixel(store):
    response = store.brand.person("Owner").call("PATCH", "/api/v1/settings/attribution-params", {"custom": "friend"})
    drain()

    assert response.status_code == 200
    assert store.stage.pixels.settings["params"].startswith("friend,via,")
    assert store.stage.pixels.acts == ["webPixelCreate", "webPixelUpdate"]


def test_disconnecting_deletes_the_pixel_and_ends_its_key(store):
    _disconnect(store)

    assert _get_snippet(store) == "pixel_not_provisioned"
    assert store.brand.get(_build_path(store)).json["webPixel"] is None
    drain()
    assert store.stage.pixels.pixel is None
    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]


def test_deletion_at_unavailable_store_is_retried_for_a_week(store):
    store.stage.faults.append("fail")
    _disconnect(store)
    store.stage.faults.extend(["fail"] * 8)
    drain()
    assert store.brand.rows("select state, credentials_sealed is not null from web_pixel") == [("ending", True)]

    run_as_brand(store.brand, "update web_pixel set ended_at = ended_at - interval '8 days'")
    run_as_brand(store.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]


def test_revoked_access_ends_the_pixel_without_a_retry(store):
    store.deliver(*store.stage.uninstall())
    store.stage.token = "another"
    store.stage.is_authorized = lambda call: False
    drain()

    assert store.brand.rows("select state, credentials_sealed from web_pixel") == [("ended", None)]
    assert store.brand.rows("select count(*) from job where name = 'web_pixel.settle'") == [(0,)]


def test_reconnecting_gets_a_new_key_once_the_former_pixel_is_deleted(store):
    former_key = _get_pixel(store)["publicKey"]
    _disconnect(store)
    new_connection = connect_gateway(store.brand.person("Owner"), store.stage)
    with pytest.raises(TryAgain):
        _prepare_run(store)
    drain()
    run_as_brand(store.brand, "update job set run_at = now() where name = 'web_pixel.settle'")
    drain()

    pixel = store.brand.get(f"{URL}/{new_connection['id']}").json["webPixel"]
    assert (pixel["status"], store.stage.pixels.settings["accountID"]) == ("active", pixel["publicKey"])
    assert pixel["publicKey"] != former_key


def test_disconnection_during_pixel_creation_leaves_no_pixel(shop):
    run = _prepare_run(shop)
    _disconnect(shop)
    drain()  # the deletion finds no pixel yet
    result = web_pixel.apply(run)
    with db.unit_of_work(shop.brand.id):
        assert web_pixel.record(run, result, now=clock.now()) is None
    drain()

    assert shop.stage.pixels.pixel is None
    assert _get_snippet(shop) == "pixel_not_provisioned"


def test_operators_pixel_key_stays_in_the_snippet(brand, stage):
    brand.program()
    brand.set(pixelPublicKey="px_Acme-17")
    connection = connect_gateway(brand.person("Owner"), stage)
    drain()
    assert 'data-pixel-org="px_Acme-17"' in brand.get(SNIPPET).json["snippet"]
    brand.person("Owner").call("DELETE", f"{URL}/{connection['id']}")
    drain()

    assert 'data-pixel-org="px_Acme-17"' in brand.get(SNIPPET).json["snippet"]


def test_test_connection_has_no_pixel(brand, stage):
    connection = brand.person("Owner").post(URL, build_connection_body(stage, mode="test")).json
    drain()

    assert (connection["webPixel"], stage.pixels.pixel) == (None, None)


def test_repeated_job_creates_no_second_pixel(store):
    run = _prepare_run(store)
    assert web_pixel.apply(run).external_id == store.stage.pixels.pixel["id"]
    assert store.stage.pixels.acts == ["webPixelCreate"]
