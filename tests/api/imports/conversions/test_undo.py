"""Undo of an import. Source: core spec, "Shared import safeguards"; decisions page 11 of this project."""

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


def _count_rows(brand, table):
    return brand.rows(f"select count(*) from {table}")[0][0]


def test_undone_import_is_removed_and_can_be_repeated(campaign):
    rows = [
        build_past_sale(externalId="1"),
        build_past_sale(paid=True),
        build_past_sale(amountCents=1, commissionCents=0),
    ]
    imported = import_sales(campaign, *rows, confirmUnpaidPayout=True)

    answer = _undo(campaign, imported)

    assert answer.status_code == 200
    view = campaign.get(f"/api/v1/imports/{imported.json['jobId']}").json
    assert answer.json | {"warnings": []} == view | {"removed": 3, "kept": 0}
    assert (view["status"], view["imported"]) == ("Undone", 3)
    assert view["undoneAt"] >= view["createdAt"]
    assert campaign.get("/api/v1/conversions").json["items"] == []
    assert _count_rows(campaign, "conversion_event") == 0
    assert import_sales(campaign, *rows).json["imported"] == 3


def test_undo_offsets_ledger_entries_to_zero(campaign):
    imported = import_sales(
        campaign,
        build_past_sale(),
        build_past_sale(currency="EUR"),
        build_past_sale(paid=True),
        confirmUnpaidPayout=True,
    )

    _undo(campaign, imported)

    assert campaign.rows(
        "select kind, currency, amount_cents, cause_id::text = %s from ledger_entry order by 1, 2",
        imported.json["jobId"],
    ) == [
        ("adjust", "EUR", -2_000, True),
        ("adjust", "USD", -2_000, True),
        ("earn", "EUR", 2_000, False),
        ("earn", "USD", 2_000, False),
    ]


def test_undo_adds_no_second_entry_for_a_denied_conversion(campaign):
    imported = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    with db.unit_of_work(campaign.id):
        (conversion_id,) = db.db.row("update conversion set status = 'Denied' returning id")
        denied = conversions.find(organization_id=campaign.id, conversion_id=conversion_id)
        entries.stage(denied, kind="adjust", amount_cents=-2_000, cause_id=uuid4(), created_at=clock.now())

    assert _undo(campaign, imported).status_code == 200
    assert campaign.rows("select count(*), sum(amount_cents)::int from ledger_entry") == [(2, 0)]


def test_undo_subtracts_the_imported_revenue(campaign):
    import_sales(campaign, build_past_sale(externalId="stays", amountCents=700))
    imported = import_sales(campaign, build_past_sale(), build_past_sale(amountCents=5, occurredAt="2024-02-02"))

    _undo(campaign, imported)

    assert campaign.rows("select net_cents::int from affiliate_revenue order by day") == [(700,), (0,)]


def test_undo_subtracts_the_imported_payments(campaign):
    import_sales(campaign, build_past_sale(externalId="older", processorCustomerId="cus_1", occurredAt="2022-05-01"))
    imported = import_sales(
        campaign,
        build_past_sale(processorCustomerId="cus_1", occurredAt="2021-05-01"),
        build_past_sale(processorCustomerId="cus_1", occurredAt="2023-05-01"),
        build_past_sale(processorCustomerId="cus_gone"),
        build_past_sale(processorCustomerId="cus_live", occurredAt="2021-05-01"),
    )
    campaign.sale(customerId="cus_live")
    ((sold_at,),) = campaign.rows("select accepted_at from sale")

    _undo(campaign, imported)

    assert campaign.rows("select customer_key, first_paid_at, payments from program_customer order by 1") == [
        ("id:cus_1", datetime(2022, 5, 1, tzinfo=UTC), 1),
        ("id:cus_live", sold_at, 1),
    ]
    assert _count_rows(campaign, "import_customer") == 1


def test_undo_is_audited(campaign):
    imported = import_sales(campaign, build_past_sale())

    undone = _undo(campaign, imported).json

    ((entity_id, before, after),) = campaign.rows(
        "select entity_id, before, after from audit_entry where action = 'import_job.undone'"
    )
    assert (entity_id, after) == (imported.json["jobId"], undone)
    assert (before["status"], before["undoneAt"]) == ("Completed", None)


@pytest.mark.parametrize("reason", ["refunded", "overridden", "paid"])
def test_later_change_of_a_conversion_blocks_the_undo(campaign, reason):
    imported = import_sales(
        campaign, build_past_sale(externalId="1"), build_past_sale(externalId="2"), confirmUnpaidPayout=True
    )
    ((conversion_id, affiliate_id),) = campaign.rows(
        "select id, affiliate_id from conversion where external_event_id = '1'"
    )
    if reason == "overridden":
        insert_conversion(campaign, affiliate_id, source="override", parent_id=conversion_id, amount_cents=0)
    with db.unit_of_work(campaign.id):
        if reason == "paid":
            db.db.stage("update conversion set status = 'Paid' where id = %s", (conversion_id,))
        elif reason == "refunded":
            refund = refunds.Refund(
                id=uuid4(),
                amount_cents=0,
                cumulative_cents=0,
                is_full=False,
                created_at=clock.now(),
                origin="brand",
            )
            refunds.stage_refund(organization_id=campaign.id, conversion_id=conversion_id, refund=refund)

    answer = _undo(campaign, imported)

    assert (answer.status_code, answer.json["error"], answer.json["reasons"]) == (
        409,
        "import_not_undoable",
        {reason: 1},
    )
    assert campaign.rows("select status from import_job") == [("Completed",)]
    assert campaign.rows("select count(*) from conversion where source = 'import'") == [(2,)]
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry where kind <> 'reverse'") == [(4_000,)]


def test_import_is_undone_once(campaign):
    imported = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")
    path = f"{URL}/{imported.json['jobId']}/undo"

    answers = run_concurrently(*[lambda: admin.post(path)] * 2)
    again = admin.post(path)

    assert sorted(answer.status_code for answer in answers) == [200, 409]
    assert (again.status_code, again.json["error"]) == (409, "import_already_undone")
    assert campaign.rows("select sum(amount_cents)::int from ledger_entry") == [(0,)]


def test_undo_during_an_import_returns_409(campaign):
    imported = import_sales(campaign, build_past_sale())
    admin = campaign.person("Admin")

    with hold_in_thread(hold_import_lock(campaign)):
        answer = admin.post(f"{URL}/{imported.json['jobId']}/undo")

    assert (answer.status_code, answer.json["error"]) == (409, "migration_already_in_progress")


def test_undo_sees_a_concurrent_refund(campaign):
    imported = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")

    with db.unit_of_work(campaign.id):
        (conversion_id,) = db.db.row("select id from conversion for update")
        undo = start_call(lambda: admin.post(f"{URL}/{imported.json['jobId']}/undo"))
        db.db.run("update conversion set refunded_cents = 1 where id = %s", (conversion_id,))

    assert (undo().status_code, undo().json["reasons"]) == (409, {"refunded": 1})


def test_failed_undo_changes_nothing(campaign, monkeypatch):
    imported = import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    admin = campaign.person("Admin")

    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("api.edge.audit.record", fail)
    with pytest.raises(KeyboardInterrupt):
        admin.post(f"{URL}/{imported.json['jobId']}/undo")

    assert campaign.rows("select status, undone_at from import_job") == [("Completed", None)]
    assert (_count_rows(campaign, "conversion"), _count_rows(campaign, "ledger_entry")) == (1, 1)


def test_only_an_admin_of_the_organization_may_undo(campaign, rival):
    imported = import_sales(campaign, build_past_sale())
    path = f"{URL}/{imported.json['jobId']}/undo"

    assert campaign.post(path).status_code == 403
    assert campaign.person("Manager").post(path).status_code == 403
    by_rival = rival.person("Admin").post(path)
    assert (by_rival.status_code, by_rival.json["error"]) == (404, "not_found")
    for unknown_id in (uuid4(), "x"):
        assert campaign.person("Admin").post(f"{URL}/{unknown_id}/undo").status_code == 404
    campaign.set(plan="Free")
    assert campaign.person("Admin").post(path).status_code == 200


def test_repeated_idempotency_key_returns_the_first_response(campaign):
    imported = import_sales(campaign, build_past_sale())

    first, again = (_undo(campaign, imported, Idempotency_Key="once") for _ in range(2))

    assert (again.status_code, again.json) == (200, first.json)


def test_undo_deletes_unused_affiliates_and_keeps_used_ones(campaign):
    imported = _import_people(campaign, "ann", "dan", "eve", "fay", "gus")
    ids = dict(campaign.rows("select split_part(email, '@', 1), id from affiliate"))
    insert_click(campaign, ids["dan"])
    insert_conversion(campaign, ids["eve"])
    campaign.affiliate("recruit", recruited_by_affiliate_id=ids["fay"])

    answer = _undo(campaign, imported)

    assert (answer.status_code, answer.json["removed"], answer.json["kept"]) == (200, 2, 3)
    remaining = campaign.rows("select split_part(email, '@', 1) from affiliate where deleted_at is null order by 1")
    assert remaining == [("ben",), ("dan",), ("eve",), ("fay",), ("recruit",)]
    slugs = {slug for (slug,) in campaign.rows("select slug from tracking_link where deleted_at is null")}
    assert slugs == {"ben", "dan", "eve", "fay", "recruit"}
    assert _import_people(campaign, "ann", "dan").json["reasons"] == {"already_exists": 1}


def test_empty_import_can_be_undone(campaign):
    unknown_affiliate = import_sales(campaign, build_past_sale(affiliateSlug="nobody"))
    existing_affiliate = _import_people(campaign, "ben")

    for imported in (unknown_affiliate, existing_affiliate):
        answer = _undo(campaign, imported)
        assert (answer.status_code, answer.json["removed"], answer.json["kept"]) == (200, 0, 0)


@pytest.mark.parametrize(
    "statement", ["delete from conversion", "insert into ledger_entry (%s) select %s from ledger_entry"]
)
def test_database_refuses_ledger_entries_without_conversions(campaign, statement):
    import_sales(campaign, build_past_sale(), confirmUnpaidPayout=True)
    columns = "organization_id, program_id, affiliate_id, kind, amount_cents, currency, is_test, created_at"
    others = "id, cause_id, conversion_id"
    generated_ids = ", ".join(["gen_random_uuid()"] * 3)
    if "insert" in statement:
        statement = statement % (f"{columns}, {others}", f"{columns}, {generated_ids}")

    with pytest.raises(peewee.IntegrityError):
        campaign.rows(f"{statement} returning id")
