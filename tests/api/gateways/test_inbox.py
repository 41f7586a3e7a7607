"""The gateways' inbox: signatures, unreadable and waiting events, replays, and reconciliation of missed events."""

from uuid import UUID

from adapters import clock
from models import db
from pipelines import schedule
from pipelines.gateways import reconcile
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from workers import scheduler


def test_bad_signature_returns_401_and_unknown_address_404(shop):
    sale = shop.stage.pay(Purchase())
    assert shop.deliver(shop.stage.forge_signature(sale.notifications[0])) == [401]
    client = shop.brand.app.test_client()
    response = client.post(
        "/api/gateways/stripe/unknown", data=sale.notifications[0].body, headers=dict(sale.notifications[0].headers)
    )
    assert (response.status_code, response.data) == (404, b"")
    assert shop.events() == []


def test_unreadable_event_fails_once_and_keeps_its_bytes(shop, drain):
    shop.deliver(shop.stage.create_malformed_event())
    drain()
    assert shop.events("type, status, reason, raw is not null") == [("invoice.paid", "Failed", "unreadable", True)]
    assert shop.brand.rows("select name, last_error from job where failed_at is not null") == [
        ("gateway.event", "stripe invoice.paid: an amount is not an integer")
    ]


def test_inbox_is_listed_filtered_counted_and_replayed(shop, drain):
    unreferred = shop.stage.pay(Purchase(slug=None, customer="9", email="zoe@example.com"))
    shop.deliver(
        *shop.stage.pay(Purchase()).notifications, shop.stage.create_malformed_event(), *unreferred.notifications
    )
    drain()
    path = f"/api/v1/connections/{shop.connection['id']}"
    failed = shop.brand.get(f"{path}/events?status=Failed").json["items"]
    assert [(event["type"], event["status"], event["error"]) for event in failed] == [
        ("invoice.paid", "Failed", "an amount is not an integer")
    ]
    assert len(shop.brand.get(f"{path}/events?take=2").json["items"]) == 2
    assert shop.brand.get(f"{path}/stats").json == {
        "received": 5,
        "credited": 1,
        "unreferred": 1,
        "refunds": 0,
        "failed": 1,
        "parked": 0,
    }
    replay = shop.brand.person("Owner").post(f"{path}/events/{failed[0]['id']}/replay")
    assert (replay.status_code, replay.json["status"]) == (202, "Received")
    drain()
    assert shop.brand.get(f"{path}/events?status=Failed").json["items"][0]["id"] == failed[0]["id"]


def test_reconcile_books_missed_payment_once_and_ignores_known_one(shop, drain):
    booked_sale = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*booked_sale.notifications)
    drain()
    missed = shop.stage.pay(Purchase(cents=5_000, customer="2", email="bob@example.com"))
    shop.stage.refund(missed, 2_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        response = shop.brand.person("Owner").post(path, {"since": "2020-01-01T00:00:00Z"})
        assert (response.status_code, list(response.json)) == (202, ["jobId"])
        drain()

    assert {row[:2] for row in shop.conversions("external_event_id, refunded_cents")} == {
        (booked_sale.id, 0),
        (missed.id, 2_000),
    }


def _fire_schedule(job_name):
    with db.any_org_work():
        db.db.run("delete from tick where name = %s returning 1", (job_name,))
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job.name == job_name]
    scheduler.fire(entry)


def test_poll_lists_gateways_without_events_and_nightly_reconcile_all(shop, drain):
    with play_gateway("braintree") as braintree:
        polled_connection = connect_gateway(shop.brand.person("Owner"), braintree)
        for tick, expected in (
            ("gateways.poll", {polled_connection["id"]}),
            ("gateways.reconcile", {polled_connection["id"], shop.connection["id"]}),
        ):
            _fire_schedule(tick)
            drain("upkeep")
            runs = shop.brand.rows("select args ->> 'connection_id' from job where name = 'gateway.reconcile'")
            assert {connection_id for (connection_id,) in runs} == expected
            assert len(runs) == len(expected)  # a waiting run is not enqueued again


def _prepare_run(shop):
    with db.unit_of_work(shop.brand.id):
        run = reconcile.prepare(
            organization_id=shop.brand.id, connection_id=UUID(shop.connection["id"]), since=None, now=clock.now()
        )
    assert run is not None
    return run


def _store_all(shop, run):
    """List all pages of a run and store them; return the result."""
    result = reconcile.ReconcileResult()
    for page in reconcile.list_pages(run, result):
        with db.unit_of_work(shop.brand.id):
            reconcile.store_page(run, page, result, now=clock.now())
    return result


def test_older_run_that_ends_last_keeps_the_newer_reconciled_to(shop):
    older, newer = _prepare_run(shop), _prepare_run(shop)
    for run in (newer, older):
        with db.unit_of_work(shop.brand.id):
            reconcile.finish(run, reconcile.ReconcileResult(), now=clock.now())
    assert shop.brand.rows("select reconciled_to from gateway_connection") == [(newer.started_at,)]


def test_connection_removed_during_listing_stores_no_event(shop, drain):
    run = _prepare_run(shop)
    shop.stage.pay(Purchase())
    assert shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}").status_code == 204
    result = _store_all(shop, run)
    assert (result.listed, result.new, shop.events(), drain("gateways")) == (2, 0, [], 0)


def test_parked_refund_fails_after_7_days_and_books_when_its_payment_arrives(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.receive(*shop.stage.refund(sale, 4_000))
    assert shop.events() == [("charge.refunded", "Parked", "payment_unknown")]
    shop.change("update gateway_event set received_at = now() - interval '7 days'")
    shop.change("update job set run_at = now()")
    drain()
    assert shop.events("status, reason, error, raw is not null") == [
        ("Failed", "payment_unknown", "the payment that it names did not arrive within 7 days", True)
    ]
    assert _list_failed_jobs(shop) == [
        ("gateway.event", "stripe charge.refunded: the payment that it names did not arrive within 7 days")
    ]

    shop.receive(*sale.notifications)
    assert shop.conversions("refunded_cents") == [(4_000,)]


def test_failed_event_is_booked_when_replayed_after_a_fix(shop, drain, flask):
    sale = shop.sell(cents=10_000)
    shop.receive(*shop.stage.refund(sale, 4_000))
    restoration = shop.stage.restore(sale, 4_000)
    charges = {path: shop.stage.objects.pop(path) for path in list(shop.stage.objects) if "/charges/" in path}
    shop.receive(*restoration)
    assert shop.events()[-1] == ("refund.failed", "Failed", "unreadable")
    ((job_id,),) = shop.brand.rows("select id from job where failed_at is not null")

    shop.stage.objects |= charges
    flask("jobs", "replay", str(job_id))
    drain()
    assert shop.events()[-1] == ("refund.failed", "Processed", None)
    assert shop.conversions("refunded_cents, reversed_cents") == [(0, 0)]
    assert _list_failed_jobs(shop) == []


def _list_failed_jobs(shop):
    return shop.brand.rows("select name, last_error from job where failed_at is not null")
