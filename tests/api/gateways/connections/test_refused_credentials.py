"""Gateways that refuse the credentials or are unavailable: connections break and recover, and no event is lost."""

from models import db
from pipelines import schedule
from tests.support.gateways.stage import Purchase
from workers import scheduler

HOUR = "interval '61 minutes'"


def _refuse_credentials(shop):
    shop.stage.is_authorized = lambda call: False


def _accept_credentials(shop):
    del shop.stage.is_authorized


def _check_an_hour_later(shop, drain):
    """Move the first refusal back by an hour, and run the hourly check."""
    shop.change(f"update gateway_connection set refused_at = refused_at - {HOUR}")
    _run_hourly_check(drain)


def _run_hourly_check(drain):
    with db.any_org_work():
        db.db.run("delete from tick where name = 'gateways.check' returning 1")
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job.name == "gateways.check"]
    scheduler.fire(entry)
    drain("upkeep", "gateways", "mail")


def _list_emails(shop):
    return shop.brand.rows("select recipient, subject from mail_message where kind = 'notification.connection_broken'")


def test_refusals_an_hour_apart_break_a_connection_and_email_owners_once(shop, path, drain):
    owner = shop.brand.person("Owner")
    _refuse_credentials(shop)
    connection = owner.post(f"{path}/check").json
    assert (connection["status"], connection["lastError"]) == ("Active", "unauthorized")
    _run_hourly_check(drain)
    assert (shop.brand.get(path).json["status"], _list_emails(shop)) == ("Active", [])

    for _ in range(2):
        _check_an_hour_later(shop, drain)
    assert shop.brand.get(path).json["status"] == "Broken"
    assert _list_emails(shop) == [("owner@example.com", "Connection broken: Stripe refuses your credentials")]


def test_broken_test_connection_emails_no_one(shop, path, drain):
    shop.change("update gateway_connection set mode = 'test'")
    _refuse_credentials(shop)
    shop.brand.person("Owner").post(f"{path}/check")
    _check_an_hour_later(shop, drain)

    assert shop.brand.get(path).json["status"] == "Broken"
    assert _list_emails(shop) == []
    assert shop.brand.person("Owner").get("/api/v1/notifications").json["items"] == []


def test_broken_connection_accepts_events_and_blocks_signed_sales(shop, path, drain):
    _refuse_credentials(shop)
    shop.brand.person("Owner").post(f"{path}/check")
    _check_an_hour_later(shop, drain)
    _accept_credentials(shop)
    sale = shop.stage.pay(Purchase())
    assert set(shop.deliver(*sale.notifications)) == {200}
    drain()
    assert [row[0] for row in shop.conversions()] == [sale.id]
    assert shop.brand.sale(affiliateSlug="jane").status_code == 409


def test_accepted_credentials_reactivate_and_the_next_refusal_emails_again(shop, path, drain):
    owner = shop.brand.person("Owner")
    for email_count in (1, 2):
        _refuse_credentials(shop)
        owner.post(f"{path}/check")
        _check_an_hour_later(shop, drain)
        assert len(_list_emails(shop)) == email_count
        _accept_credentials(shop)
        connection = owner.call("PATCH", path, {"credentials": dict(shop.stage.credentials)}).json
        assert (connection["status"], connection["lastError"]) == ("Active", None)


def test_hourly_check_reactivates_a_connection_once_its_credentials_are_accepted(shop, path, drain):
    _refuse_credentials(shop)
    shop.brand.person("Owner").post(f"{path}/check")
    _check_an_hour_later(shop, drain)
    _accept_credentials(shop)
    _run_hourly_check(drain)
    assert shop.brand.get(path).json["status"] == "Active"


def test_event_during_a_refusal_marks_the_connection_and_is_processed_later(shop, path, drain):
    _refuse_credentials(shop)
    sale = shop.stage.pay(Purchase(slug=None))
    assert shop.deliver(sale.notifications[0]) == [200]
    drain()
    assert shop.events("status, error") == [("Received", "unauthorized")]
    assert shop.brand.get(path).json["lastError"] == "unauthorized"

    _accept_credentials(shop)
    _run_hourly_check(drain)
    assert shop.brand.get(path).json["lastError"] is None
    assert shop.events() == [("invoice.paid", "Processed", "nobody_referred")]


def test_event_of_unavailable_gateway_is_retried_with_growing_pauses(shop, drain):
    sale = shop.stage.pay(Purchase(slug=None, code="JANE10"))
    assert shop.deliver(sale.notifications[0]) == [200]
    shop.stage.faults.extend(["fail"] * 400)
    pauses = []
    for _ in range(30):
        drain("gateways")
        ((pause,),) = shop.brand.rows(
            "select extract(epoch from run_at - now())::int from job where name = 'gateway.event' and failed_at is null"
        )
        pauses.append(round(pause / 60))  # in minutes: a few seconds have passed already
        shop.change("update gateway_event set received_at = received_at - %s * interval '1 second'", pause)
        shop.change("update job set run_at = now() where name = 'gateway.event'")
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1], sum(pauses) > 24 * 60) == (1, 120, True)
    assert shop.events("status") == [("Received",)]

    shop.stage.faults.clear()
    drain()
    assert [status for (status,) in shop.events("status")] == ["Processed"]


def test_check_that_ends_after_disconnection_leaves_it_disconnected(shop, path, drain):
    from adapters import clock
    from models.gateways import connections
    from pipelines.gateways import check

    with db.unit_of_work(shop.brand.id):
        (connection,) = connections.page(organization_id=shop.brand.id, after=None, limit=1)
    shop.brand.person("Owner").call("DELETE", path)
    with db.unit_of_work(shop.brand.id):
        assert check.record(connection, None, now=clock.now()).status == "Disconnected"
    assert shop.brand.sale(affiliateSlug="jane").status_code == 200
