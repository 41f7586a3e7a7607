"""Taking an import back. Source: core spec, "Shared import safeguards"; decisions page 11 of this project."""

from datetime import UTC, datetime
from uuid import uuid4

import peewee
import pytest

from adapters import clock
from models import db
from models.conversions import conversions, refunds
from models.ledger import entries
from tests.support.api.concurrency import hold_in_thread, run_concurrently, start_call
from tests.support.api.import_requests import build_past_sale, hold_import_lock, import_sales
from tests.support.rows.program_rows import insert_click, insert_conversion

URL = "/api/imports"


def _undo(brand, answer, role="Admin", **headers):
    return brand.person(role).post(f"{URL}/{answer.json['jobId']}/undo", **headers)


def _import_people(brand, *names):
    people = [{"email": f"{name}@example.com", "slug": name} for name in names]
    return brand.post("/api/v1/affiliates/import", {"programId": str(brand.programs[-1]), "affiliates": people})


def _count(brand, table):
    return brand.rows(f"select count(*) from {table}")[0][0]


def test_an_undone_import_is_gone_and_can_come_again(campaign):
    rows = [
        build_past_sale(externalId="1"),
        build_past_sale(paid=True),
        build_past_sale(amountCents=1, commissionCents=0),
    ]
    made = import_sales(campaign, *rows, confirmUnpaidPayout=True)

    answer = _undo(campaign, made)

    assert answer.status_code == 200
    shown = campaign.get(f"/api/v1/imports/{made.json['jobId']}").json
    assert answer.json | {"warnings": []} == shown | {"removed": 3, "kept": 0}
    assert (shown["status"], shown["imported"]) == ("Undone", 3)
    assert shown["undoneAt"] >= shown["createdAt"]
    assert campaign.get("/api/v1/conversions").json["items"] == []
    assert _count(campaign, "conversion_event") == 0
    assert import_sales(campaign, *rows).json["imported"] == 3


def test_the_ledger_keeps_what_was_booked_and_comes_to_nothing(campaign):
    made = import_sales(
        campaign,
        build_past_sale(),
        build_past_sale(currency="EUR"),
        build_past_sale(paid=True),
        confirmUnpaidPayout=True,
    )

    _undo(campaign, made)

    assert campaign.rows(
        "select kind, currency, amount_cents, cause_id::text = %s from ledger_entry order by 1, 2", made.json["jobId"]
    ) == [
        ("adjust", "EUR", -2_000, True),
        ("adjust", "USD", -2_000, True),
        ("earn", "EUR", 2_000, False),
        ("earn", "USD", 2_000, False),
    ]


def test_what_was_denied_since_is_taken_back_without_a_second_entry(campaign):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    with db.unit_of_work(campaign.id):
        (conversion_id,) = db.db.row("update conversion set status = 'Denied' returning id")
        found = conversions.find(organization_id=campaign.id, conversion_id=conversion_id)
        entries.stage(found, kind="adjust", amount_cents=-2_000, cause_id=uuid4(), created_at=clock.now())

    assert _undo(campaign, made).status_code == 200
    assert campaign.rows("select count(*), sum(amount_cents)::int from ledger_entry") == [(2, 0)]


def test_revenue_is_what_the_other_sales_brought(campaign):
    import_sales(campaign, build_past_sale(externalId="stays", amountCents=700))
    made = import_sales(campaign, build_past_sale(), build_past_sale(amountCents=5, occurredAt="2024-02-02"))

    _undo(campaign, made)

    assert campaign.rows("select net_cents::int from affiliate_revenue order by day") == [(700,), (0,)]


def test_payments_of_the_import_are_counted_no_more(campaign):
    import_sales(campaign, build_past_sale(externalId="older", processorCustomerId="cus_1", occurredAt="2022-05-01"))
    made = import_sales(
        campaign,
        build_past_sale(processorCustomerId="cus_1", occurredAt="2021-05-01"),
        build_past_sale(processorCustomerId="cus_1", occurredAt="2023-05-01"),
        build_past_sale(processorCustomerId="cus_gone"),
        build_past_sale(processorCustomerId="cus_live", occurredAt="2021-05-01"),
    )
    campaign.sale(customerId="cus_live")
    ((sold_at,),) = campaign.rows("select accepted_at from sale")

    _undo(campaign, made)

    assert campaign.rows("select customer_key, first_paid_at, payments from program_customer order by 1") == [
        ("id:cus_1", datetime(2022, 5, 1, tzinfo=UTC), 1),
        ("id:cus_live", sold_at, 1),
    ]
    assert _count(campaign, "import_customer") == 1


def test_an_undo_is_audited(campaign):
    made = import_sales(campaign, build_past_sale())

    shown = _undo(campaign, made).json

    ((entity_id, before, after),) = campaign.rows(
        "select entity_id, before, after from audit_entry where action = 'import_job.undone'"
    )
    assert (entity_id, after) == (made.json["jobId"], shown)
    assert (before["status"], before["undoneAt"]) == ("Completed", None)


@pytest.mark.parametrize("why", ["refunded", "overridden", "paid"])
def test_a_conversion_that_something_was_built_on_keeps_the_whole_import(campaign, why):
    made = import_sales(
        campaign, build_past_sale(externalId="1"), build_past_sale(externalId="2"), confirmUnpaidPayout=True
    )
    ((conversion_id, affiliate_id),) = campaign.rows(
        "select id, affiliate_id from conversion where external_event_id = '1'"
    )
    if why == "overridden":
        insert_conversion(campaign, affiliate_id, source="override", parent_id=conversion_id, amount_cents=0)
    with db.unit_of_work(campaign.id):
        if why == "paid":
            db.db.stage("update conversion set status = 'Paid' where id = %s", (conversion_id,))
        elif why == "refunded":
            taken = refunds.Refund(
                id=uuid4(), amount_cents=0, cumulative_cents=0, is_full=False, created_at=clock.now()
            )
            refunds.stage_refund(organization_id=campaign.id, conversion_id=conversion_id, refund=taken)

    answer = _undo(campaign, made)

    assert (answer.status_code, answer.json["error"], answer.json["reasons"]) == (409, "import_not_undoable", {why: 1})
    assert campaign.rows("select status from import_job") == [("Completed",)]
    assert campaign.rows("select count(*) from conversion where source = 'import'") == [(2,)]
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry where kind <> 'reverse'") == [(4_000,)]


def test_an_import_is_undone_once(campaign):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")
    path = f"{URL}/{made.json['jobId']}/undo"

    answers = run_concurrently(*[lambda: admin.post(path)] * 2)
    again = admin.post(path)

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert (again.status_code, again.json["error"]) == (409, "import_already_undone")
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry") == [(0,)]


def test_an_undo_waits_for_no_import(campaign):
    made = import_sales(campaign, build_past_sale())
    admin = campaign.person("Admin")

    with hold_in_thread(hold_import_lock(campaign)):
        answer = admin.post(f"{URL}/{made.json['jobId']}/undo")

    assert (answer.status_code, answer.json["error"]) == (409, "migration_already_in_progress")


def test_a_refund_that_is_being_taken_is_seen(campaign):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")

    with db.unit_of_work(campaign.id):
        (conversion_id,) = db.db.row("select id from conversion for update")
        undo = start_call(lambda: admin.post(f"{URL}/{made.json['jobId']}/undo"))
        db.db.run("update conversion set refunded_cents = 1 where id = %s", (conversion_id,))

    assert (undo().status_code, undo().json["reasons"]) == (409, {"refunded": 1})


def test_an_undo_that_fails_at_its_last_statement_changes_nothing(campaign, monkeypatch):
    made = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("api.edge.audit.record", fail)
    with pytest.raises(KeyboardInterrupt):
        admin.post(f"{URL}/{made.json['jobId']}/undo")

    assert campaign.rows("select status, undone_at from import_job") == [("Completed", None)]
    assert (_count(campaign, "conversion"), _count(campaign, "ledger_entry")) == (1, 1)


def test_who_may_undo(campaign, rival):
    made = import_sales(campaign, build_past_sale())
    path = f"{URL}/{made.json['jobId']}/undo"

    assert campaign.post(path).status_code == 403
    assert campaign.person("Manager").post(path).status_code == 403
    theirs = rival.person("Admin").post(path)
    assert (theirs.status_code, theirs.json["error"]) == (404, "not_found")
    for nobodys in (uuid4(), "x"):
        assert campaign.person("Admin").post(f"{URL}/{nobodys}/undo").status_code == 404
    campaign.set(plan="Free")
    assert campaign.person("Admin").post(path).status_code == 200


def test_an_undo_with_a_key_is_answered_again(campaign):
    made = import_sales(campaign, build_past_sale())

    first, again = (_undo(campaign, made, Idempotency_Key="once") for _ in range(2))

    assert (again.status_code, again.json) == (200, first.json)


def test_affiliates_who_were_never_used_are_deleted_and_the_others_stay(campaign):
    made = _import_people(campaign, "ann", "dan", "eve", "fay", "gus")
    ids = dict(campaign.rows("select split_part(email, '@', 1), id from affiliate"))
    insert_click(campaign, ids["dan"])
    insert_conversion(campaign, ids["eve"])
    campaign.affiliate("recruit", recruited_by_affiliate_id=ids["fay"])

    answer = _undo(campaign, made)

    assert (answer.status_code, answer.json["removed"], answer.json["kept"]) == (200, 2, 3)
    left = campaign.rows("select split_part(email, '@', 1) from affiliate where deleted_at is null order by 1")
    assert left == [("ben",), ("dan",), ("eve",), ("fay",), ("recruit",)]
    slugs = {slug for (slug,) in campaign.rows("select slug from tracking_link where deleted_at is null")}
    assert slugs == {"ben", "dan", "eve", "fay", "recruit"}
    assert _import_people(campaign, "ann", "dan").json["reasons"] == {"already_exists": 1}


def test_an_import_that_brought_nothing_can_be_undone(campaign):
    nobody = import_sales(campaign, build_past_sale(affiliateSlug="nobody"))
    known = _import_people(campaign, "ben")

    for made in (nobody, known):
        answer = _undo(campaign, made)
        assert (answer.status_code, answer.json["removed"], answer.json["kept"]) == (200, 0, 0)


@pytest.mark.parametrize(
    "statement", ["delete from conversion", "insert into ledger_entry (%s) select %s from ledger_entry"]
)
def test_the_database_keeps_the_ledger_and_conversions_together(campaign, statement):
    import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    columns = "organization_id, program_id, affiliate_id, kind, amount_cents, currency, is_test, created_at"
    others = "id, cause_id, conversion_id"
    made = ", ".join(["gen_random_uuid()"] * 3)
    if "insert" in statement:
        statement = statement % (f"{columns}, {others}", f"{columns}, {made}")

    with pytest.raises(peewee.IntegrityError):
        campaign.rows(f"{statement} returning id")
