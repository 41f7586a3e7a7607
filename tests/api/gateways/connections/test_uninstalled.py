"""A gateway tells that it lets us in no more: the connection ends, unless an Owner has mended that already."""

import pytest

from adapters import clock
from models import db
from pipelines.gateways import process
from tests.support.api.concurrency import run_concurrently
from tests.support.gateways.stage import Purchase
from tests.support.job_queues import dispatch_pointers, run_pointer


def _rotate(shop, path):
    credentials = {"credentials": dict(shop.stage.credentials)}
    return shop.brand.person("Owner").call("PATCH", path, credentials).status_code


def test_an_access_that_was_taken_back_ends_the_connection_once(shop, path, drain):
    told = shop.stage.uninstall()
    shop.deliver(*told)
    drain()
    assert shop.events() == [("account.application.deauthorized", "Processed", "disconnected")]
    ended = shop.brand.get(path).json
    assert ended["status"] == "Disconnected"
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200
    assert shop.deliver(*told) == [404]

    ((event_id,),) = shop.events("id")
    assert shop.brand.person("Owner").post(f"{path}/events/{event_id}/replay").status_code == 202
    drain()
    assert shop.events("status, reason") == [("Processed", "known")]
    assert shop.brand.get(path).json == ended


def test_credentials_that_were_given_since_it_was_told_are_kept(shop, path, drain):
    shop.deliver(*shop.stage.uninstall())
    assert _rotate(shop, path) == 200
    drain()
    assert shop.events("status, reason") == [("Processed", "known")]
    assert shop.brand.get(path).json["status"] == "Active"
    assert shop.brand.person("Owner").post(f"{path}/check").status_code == 200
    assert shop.sell().id in [row[0] for row in shop.conversions()]


def test_credentials_that_are_given_while_it_is_being_read_are_kept(shop, path):
    # given: a worker that has read the connection, and what it was told
    shop.deliver(*shop.stage.uninstall())
    ((event_id,),) = shop.events("id")
    with db.unit_of_work(shop.brand.id):
        prepared = process.read(organization_id=shop.brand.id, event_id=event_id, now=clock.now())
    translated = process.translate(prepared)

    # when
    assert _rotate(shop, path) == 200
    with db.unit_of_work(shop.brand.id):
        process.record(prepared, translated, now=clock.now())

    # then
    assert shop.brand.get(path).json["status"] == "Active"
    assert shop.deliver(*shop.stage.pay(Purchase()).notifications) == [200, 200]


@pytest.mark.parametrize("attempt", range(5))
def test_it_is_told_while_one_owner_disconnects_and_another_gives_credentials(shop, path, drain, attempt):
    drain()
    shop.deliver(*shop.stage.uninstall())
    (pointer,) = dispatch_pointers(("gateways",))
    answers = run_concurrently(
        lambda: run_pointer(pointer),
        lambda: _rotate(shop, path),
        lambda: shop.brand.person("Owner").call("DELETE", path).status_code,
    )
    assert set(answers) <= {None, 200, 204, 404}
    assert shop.brand.rows("select attempt, last_error from job") == []
    assert shop.brand.get(path).json["status"] == "Disconnected"
    assert shop.brand.rows("select connected_gateways from organization where id = %s", shop.brand.id) == [([],)]
