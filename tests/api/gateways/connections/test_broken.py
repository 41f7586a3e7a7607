"""Gateways that refuse our credentials, or are away: connections break and mend, and no event is lost."""

from models import db
from pipelines import schedule
from tests.support.gateways.stage import Purchase
from workers import scheduler

HOUR = "interval '61 minutes'"


def _refuse(shop):
    shop.stage.is_authorized = lambda asked: False


def _take(shop):
    del shop.stage.is_authorized


def _an_hour_later(shop, drain):
    """Let an hour pass since the gateway first refused, and the hourly look be taken."""
    shop.change(f"update gateway_connection set refused_at = refused_at - {HOUR}")
    _look(drain)


def _look(drain):
    with db.any_org_work():
        db.db.run("delete from tick where name = 'gateways.check' returning 1")
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job.name == "gateways.check"]
    scheduler.fire(entry)
    drain("upkeep", "gateways")


def _letters(shop):
    return shop.brand.rows("select recipient, subject from mail_message where kind = 'gateway.broken'")


def test_two_refusals_an_hour_apart_break_a_connection_and_its_owners_are_told_once(shop, path, drain):
    owner = shop.brand.person("Owner")
    _refuse(shop)
    doubted = owner.post(f"{path}/check").json
    assert (doubted["status"], doubted["lastError"]) == ("Active", "unauthorized")
    _look(drain)
    assert (shop.brand.get(path).json["status"], _letters(shop)) == ("Active", [])

    for _ in range(2):
        _an_hour_later(shop, drain)
    assert shop.brand.get(path).json["status"] == "Broken"
    assert _letters(shop) == [("owner@example.com", "Stripe refuses the connection of Brand")]


def test_a_broken_connection_takes_events_and_keeps_signed_sales_out(shop, path, drain):
    _refuse(shop)
    shop.brand.person("Owner").post(f"{path}/check")
    _an_hour_later(shop, drain)
    _take(shop)
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*sale.notifications)) == {200}
    drain()
    assert [row[0] for row in shop.conversions()] == [sale.id]
    assert shop.brand.sale(affiliateSlug="jane").status_code == 409


def test_credentials_that_are_taken_mend_it_and_the_next_outage_is_told_anew(shop, path, drain):
    owner = shop.brand.person("Owner")
    for told in (1, 2):
        _refuse(shop)
        owner.post(f"{path}/check")
        _an_hour_later(shop, drain)
        assert len(_letters(shop)) == told
        _take(shop)
        mended = owner.call("PATCH", path, {"credentials": dict(shop.stage.credentials)}).json
        assert (mended["status"], mended["lastError"]) == ("Active", None)


def test_a_gateway_that_takes_us_again_mends_it_by_itself(shop, path, drain):
    _refuse(shop)
    shop.brand.person("Owner").post(f"{path}/check")
    _an_hour_later(shop, drain)
    _take(shop)
    _look(drain)
    assert shop.brand.get(path).json["status"] == "Active"


def test_an_event_that_meets_a_refusal_puts_the_connection_in_doubt_and_goes_on_once_it_is_mended(shop, path, drain):
    _refuse(shop)
    sale = shop.stage.pay(Purchase(slug=None))
    assert shop.deliver(sale.notifications[0]) == [200]
    drain()
    assert shop.events("status, error") == [("Received", "unauthorized")]
    assert shop.brand.get(path).json["lastError"] == "unauthorized"

    _take(shop)
    _look(drain)
    assert shop.brand.get(path).json["lastError"] is None
    assert shop.events() == [("invoice.paid", "Processed", "nobody_referred")]


def test_an_event_waits_for_a_gateway_that_is_away_for_a_day_with_growing_pauses(shop, drain):
    sale = shop.stage.pay(Purchase(slug=None, code="JANE10"))
    assert shop.deliver(sale.notifications[0]) == [200]
    shop.stage.faults.extend(["fail"] * 400)
    pauses = []
    for _ in range(30):
        drain("gateways")
        ((pause,),) = shop.brand.rows(
            "select extract(epoch from run_at - now())::int from job where name = 'gateway.event' and failed_at is null"
        )
        pauses.append(round(pause / 60))  # in minutes: some of it is over when it is looked at
        shop.change("update gateway_event set received_at = received_at - %s * interval '1 second'", pause)
        shop.change("update job set run_at = now() where name = 'gateway.event'")
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1], sum(pauses) > 24 * 60) == (1, 120, True)
    assert shop.events("status") == [("Received",)]

    shop.stage.faults.clear()
    drain()
    assert [status for (status,) in shop.events("status")] == ["Processed"]


def test_a_check_that_ends_after_the_connection_did_leaves_it_ended(shop, path, drain):
    from adapters import clock
    from models.gateways import connections
    from pipelines.gateways import check

    with db.unit_of_work(shop.brand.id):
        (found,) = connections.page(organization_id=shop.brand.id, after=None, limit=1)
    shop.brand.person("Owner").call("DELETE", path)
    with db.unit_of_work(shop.brand.id):
        assert check.record(found, None, now=clock.now()).status == "Disconnected"
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200
