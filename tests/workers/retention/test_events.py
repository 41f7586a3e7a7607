"""Events are deleted with their deliveries, and untouched dead letters are deleted."""

from domain import jobs
from models import db
from models.jobs import losses
from models.ledger import rules
from tests.support.databases import run_as_brand
from tests.support.rows.program_rows import insert_conversion, time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due, insert_dead_letter, insert_event


def _delivery(brand, endpoint, event_id, status="Delivered", *, days=100, settled_days=None):
    (delivery_id,) = brand.rows(
        "insert into delivery (id, organization_id, event_id, endpoint_id, event_type, status, created_at, settled_at)"
        " values (gen_random_uuid(), %s, %s, %s, 'conversion.created', %s, %s, %s) returning id",
        brand.id,
        event_id,
        endpoint,
        status,
        time_ago(days=days),
        None if status == "Pending" else time_ago(days=settled_days or days),
    )[0]
    return delivery_id


def test_settled_deliveries_are_deleted_with_their_events(brand, ben, endpoint):
    for status in ("Delivered", "Failed"):
        _delivery(brand, endpoint, insert_event(brand), status)
    old_id = _delivery(brand, endpoint, insert_event(brand), "Failed")
    brand.rows(
        "insert into delivery_attempt (organization_id, event_id, delivery_id, number, began_at, ended_at)"
        " select organization_id, event_id, id, 1, created_at, created_at from delivery returning number"
    )

    end_due("deliveries", "events")

    assert (
        count_brand_rows(brand, "delivery"),
        count_brand_rows(brand, "event"),
        count_brand_rows(brand, "delivery_attempt"),
    ) == (0, 0, 0)
    assert brand.post(f"/api/v1/webhooks/{endpoint}/deliveries/{old_id}/redeliver").status_code == 404


def test_pending_or_recently_resent_deliveries_are_kept(brand, ben, endpoint):
    _delivery(brand, endpoint, insert_event(brand), "Pending")
    _delivery(brand, endpoint, insert_event(brand), "Delivered", settled_days=1)
    _delivery(brand, endpoint, insert_event(brand, days=10), "Delivered", days=10)

    end_due("deliveries", "events")

    assert (count_brand_rows(brand, "delivery"), count_brand_rows(brand, "event")) == (3, 3)


def test_event_without_deliveries_is_deleted(brand, ben):
    insert_event(brand)
    insert_event(brand, days=10)

    end_due("events")

    assert count_brand_rows(brand, "event") == 1


def test_ledger_check_passes_after_the_event_is_deleted(brand, ben):
    conversion_id = insert_conversion(brand, ben, status="Invalidated", payout_locked=False)
    insert_event(brand, body=f'{{"data": {{"conversionId": "{conversion_id}", "status": "Invalidated"}}}}')
    rule = "the ledger earned what the conversion says"

    with db.any_org_work():
        before_deletion = {name for name, _ in rules.find_exceptions(brand.id, limit=5)}
    end_due("events")
    with db.any_org_work():
        after_deletion = {name for name, _ in rules.find_exceptions(brand.id, limit=5)}

    assert count_brand_rows(brand, "event") == 0
    assert rule not in before_deletion
    assert after_deletion == before_deletion


def test_delivery_of_a_deleted_dead_letter_is_failed(brand, drain, receiver):
    brand.program()
    brand.affiliate("ben")
    brand.post("/api/v1/webhooks", {"url": receiver.url, "events": ["conversion.created"]})
    for _ in range(2):
        brand.sale()
    drain("sales")
    run_as_brand(brand, "update job set failed_at = %s where id = (select min(id) from job)", time_ago(days=100))

    end_due("dead_letters")

    delivery_rows = brand.rows("select status, failure_reason is null, settled_at is null from delivery order by 1")
    assert delivery_rows == [("Failed", False, False), ("Pending", True, True)]
    end_due("deliveries")
    assert count_brand_rows(brand, "delivery") == 2  # it was settled only now


def test_old_dead_letters_are_deleted_unless_money_or_promises_depend_on_them(brand):
    for job in jobs.ALL:
        insert_dead_letter(brand, job.queue, days=100, name=job.name)
        insert_dead_letter(brand, job.queue, days=10, name=job.name)
    insert_dead_letter(brand, "tracking", days=100, name="of.the_next_release")

    end_due("dead_letters")

    names = {name for (name,) in brand.rows("select name from job where failed_at < %s", time_ago(days=50))}
    assert names == {job.name for job in jobs.ALL if losses.loss_of(job.name).is_kept} | {"of.the_next_release"}
    assert {"sale.settle", "gateway.event", "gateway.reconcile", "lead.capture", "lead.record", "click.late"} <= names
    assert count_brand_rows(brand, "job", "failed_at > now() - interval '50 days'") == len(jobs.ALL)
    assert {"payout.transfer", "payout.prepare", "deal.ask", "platform.lookup", "clicks.rescore"} <= names
