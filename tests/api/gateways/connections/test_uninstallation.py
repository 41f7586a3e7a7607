"""Revoked access reported by a gateway ends the connection, unless an Owner has replaced the credentials since."""

import pytest

from adapters import clock
from models import db
from pipelines.gateways import process
from tests.support.api.concurrency import run_concurrently
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, run_pointer


def _replace_credentials(shop, path):
    credentials = {"credentials": dict(shop.stage.credentials)}
    return shop.brand.person("Owner").call("PATCH", path, credentials).status_code


def test_revoked_access_ends_the_connection_once(shop, path, drain):
    notifications = shop.stage.uninstall()
    shop.deliver(*notifications)
    drain()
    assert shop.events() == [("account.application.deauthorized", "Processed", "disconnected")]
    connection = shop.brand.get(path).json
    assert connection["status"] == "Disconnected"
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200
    assert shop.deliver(*notifications) == [404]

    ((event_id,),) = shop.events("id")
    assert shop.brand.person("Owner").post(f"{path}/events/{event_id}/replay").status_code == 202
    drain()
    assert shop.events("status, reason") == [("Processed", "known")]
    assert shop.brand.get(path).json == connection


def test_credentials_replaced_after_the_report_stay_active(shop, path, drain):
    shop.deliver(*shop.stage.uninstall())
    assert _replace_credentials(shop, path) == 200
    drain()
    assert shop.events("status, reason") == [("Processed", "known")]
    assert shop.brand.get(path).json["status"] == "Active"
    assert shop.brand.person("Owner").post(f"{path}/check").status_code == 200
    assert shop.sell().id in [row[0] for row in shop.conversions()]


def test_credentials_replaced_during_processing_stay_active(shop, path):
    # given: a worker that has read the connection and the event
    shop.deliver(*shop.stage.uninstall())
    ((event_id,),) = shop.events("id")
    with db.unit_of_work(shop.brand.id):
        prepared = process.read(organization_id=shop.brand.id, event_id=event_id, now=clock.now())
    translated = process.translate(prepared)

    # when
    assert _replace_credentials(shop, path) == 200
    with db.unit_of_work(shop.brand.id):
        process.record(prepared, translated, now=clock.now())

    # then
    assert shop.brand.get(path).json["status"] == "Active"
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications) == [200, 200]


@pytest.mark.parametrize("attempt", range(5))
def test_concurrent_uninstall_disconnect_and_rotation_end_disconnected(shop, path, drain, attempt):
    drain()
    shop.deliver(*shop.stage.uninstall())
    (pointer,) = dispatch_pointers(("gateways",))
    results = run_concurrently(
        lambda: run_pointer(pointer),
        lambda: _replace_credentials(shop, path),
        lambda: shop.brand.person("Owner").call("DELETE", path).status_code,
    )
    assert set(results) <= {None, 200, 204, 404}
    assert shop.brand.rows("select attempt, last_error from job") == []
    assert shop.brand.get(path).json["status"] == "Disconnected"
    assert shop.brand.rows("select connected_gateways from organization where id = %s", shop.brand.id) == [([],)]
