"""The inbox: what is let in, what cannot be read, what waits, what is played again; what was missed is listed."""

from uuid import UUID

from adapters import clock
from models import db
from pipelines import schedule
from pipelines.gateways import reconcile
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.gateways.stage import Purchase
from workers import scheduler


def test_a_bad_proof_is_401_and_an_unknown_address_404_both_empty(shop):
    sale = shop.stage.pay(Purchase())
    assert shop.deliver(shop.stage.forge_signature(sale.notifications[0])) == [401]
    client = shop.brand.app.test_client()
    answer = client.post(
        "/api/gateways/stripe/nobody", data=sale.notifications[0].body, headers=dict(sale.notifications[0].headers)
    )
    assert (answer.status_code, answer.data) == (404, b"")
    assert shop.events() == []


def test_what_cannot_be_read_fails_once_and_is_a_dead_letter_with_its_bytes(shop, drain):
    shop.deliver(shop.stage.create_malformed_event())
    drain()
    assert shop.events("type, status, reason, raw is not null") == [("invoice.paid", "Failed", "unreadable", True)]
    assert shop.brand.rows("select name, last_error from job where failed_at is not null") == [
        ("gateway.event", "stripe invoice.paid: an amount is not an integer")
    ]


def test_the_inbox_is_listed_narrowed_counted_and_replayed(shop, drain):
    nobodys = shop.stage.pay(Purchase(slug=None, customer="9", email="zoe@example.com"))
    shop.deliver(*shop.stage.pay(Purchase()).notifications, shop.stage.create_malformed_event(), *nobodys.notifications)
    drain()
    path = f"/api/v1/connections/{shop.connection['id']}"
    listed = shop.brand.get(f"{path}/events?status=Failed").json["items"]
    assert [(each["type"], each["status"], each["error"]) for each in listed] == [
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
    again = shop.brand.person("Owner").post(f"{path}/events/{listed[0]['id']}/replay")
    assert (again.status_code, again.json["status"]) == (202, "Received")
    drain()
    assert shop.brand.get(f"{path}/events?status=Failed").json["items"][0]["id"] == listed[0]["id"]


def test_what_was_missed_is_taken_in_once_and_what_is_known_does_nothing(shop, drain):
    known = shop.stage.pay(Purchase(cents=10_890))
    shop.deliver(*known.notifications)
    drain()
    missed = shop.stage.pay(Purchase(cents=5_000, customer="2", email="bob@example.com"))
    shop.stage.refund(missed, 2_000)
    path = f"/api/v1/connections/{shop.connection['id']}/reconcile"
    for _ in range(2):
        asked = shop.brand.person("Owner").post(path, {"since": "2020-01-01T00:00:00Z"})
        assert (asked.status_code, list(asked.json)) == (202, ["jobId"])
        drain()

    assert {row[:2] for row in shop.conversions("external_event_id, refunded_cents")} == {
        (known.id, 0),
        (missed.id, 2_000),
    }


def _fire(name):
    with db.any_org_work():
        db.db.run("delete from tick where name = %s returning 1", (name,))
    (entry,) = [entry for entry in schedule.SCHEDULE if entry.job.name == name]
    scheduler.fire(entry)


def test_every_quarter_of_an_hour_only_what_has_no_event_is_listed_and_at_night_everything(shop, drain):
    with play_gateway("braintree") as braintree:
        polled = connect_gateway(shop.brand.person("Owner"), braintree)
        for tick, listed in (
            ("gateways.poll", {polled["id"]}),
            ("gateways.reconcile", {polled["id"], shop.connection["id"]}),
        ):
            _fire(tick)
            drain("upkeep")
            runs = shop.brand.rows("select args ->> 'connection_id' from job where name = 'gateway.reconcile'")
            assert {connection_id for (connection_id,) in runs} == listed
            assert len(runs) == len(listed)  # what waits already is not asked for again


def _run(shop):
    with db.unit_of_work(shop.brand.id):
        run = reconcile.prepare(
            organization_id=shop.brand.id, connection_id=UUID(shop.connection["id"]), since=None, now=clock.now()
        )
    assert run is not None
    return run


def _take(shop, run):
    """List everything, and keep it."""
    found = reconcile.ReconcileResult()
    for page in reconcile.list_pages(run, found):
        with db.unit_of_work(shop.brand.id):
            reconcile.store_page(run, page, found, now=clock.now())
    return found


def test_a_run_that_ends_after_a_later_one_does_not_take_back_how_far_everything_is_known(shop):
    frozen, later = _run(shop), _run(shop)
    for run in (later, frozen):
        with db.unit_of_work(shop.brand.id):
            reconcile.finish(run, reconcile.ReconcileResult(), now=clock.now())
    assert shop.brand.rows("select reconciled_to from gateway_connection") == [(later.started_at,)]


def test_nothing_is_taken_in_for_a_connection_that_ends_while_it_is_listed(shop, drain):
    run = _run(shop)
    shop.stage.pay(Purchase())
    assert shop.brand.person("Owner").call("DELETE", f"/api/v1/connections/{shop.connection['id']}").status_code == 204
    found = _take(shop, run)
    assert (found.listed, found.new, shop.events(), drain("gateways")) == (2, 0, [], 0)


def test_what_waits_in_vain_for_seven_days_is_a_dead_letter_and_its_payment_still_wakes_it(shop, drain):
    sale = shop.stage.pay(Purchase(cents=10_000))
    shop.hear(*shop.stage.refund(sale, 4_000))
    assert shop.events() == [("charge.refunded", "Parked", "payment_unknown")]
    shop.change("update gateway_event set received_at = now() - interval '7 days'")
    shop.change("update job set run_at = now()")
    drain()
    assert shop.events("status, reason, error, raw is not null") == [
        ("Failed", "payment_unknown", "the payment that it names did not arrive within 7 days", True)
    ]
    assert _dead(shop) == [
        ("gateway.event", "stripe charge.refunded: the payment that it names did not arrive within 7 days")
    ]

    shop.hear(*sale.notifications)
    assert shop.conversions("refunded_cents") == [(4_000,)]


def test_a_dead_letter_that_is_played_again_after_a_mend_is_booked(shop, drain, flask):
    sale = shop.sell(cents=10_000)
    shop.hear(*shop.stage.refund(sale, 4_000))
    failed = shop.stage.restore(sale, 4_000)
    charges = {path: shop.stage.objects.pop(path) for path in list(shop.stage.objects) if "/charges/" in path}
    shop.hear(*failed)
    assert shop.events()[-1] == ("refund.failed", "Failed", "unreadable")
    ((job_id,),) = shop.brand.rows("select id from job where failed_at is not null")

    shop.stage.objects |= charges
    flask("jobs", "replay", str(job_id))
    drain()
    assert shop.events()[-1] == ("refund.failed", "Processed", None)
    assert shop.conversions("refunded_cents, reversed_cents") == [(0, 0)]
    assert _dead(shop) == []


def _dead(shop):
    return shop.brand.rows("select name, last_error from job where failed_at is not null")
