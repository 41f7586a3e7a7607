"""Other data with a retention limit (mail, invites, members, imports) and data without one: money."""

from models import db
from models.upkeep import expiry
from pipelines import retention
from tests.support.databases import run_as_brand
from tests.support.gateways.gateway_connections import connect_gateway, play_gateway
from tests.support.rows.fraud_rows import record_blocked_click
from tests.support.rows.program_rows import time_ago
from tests.support.rows.retention_rows import count_brand_rows, end_due
from tests.support.running.hours import start_of_test


def test_mail_invites_and_fraud_events_are_deleted_when_expired(brand, ben):
    record_blocked_click(brand, ben, at=time_ago(days=366))
    record_blocked_click(brand, ben, at=time_ago(days=364))
    for status, days in (("Sent", 91), ("Failed", 91), ("Sent", 89), ("Queued", 91)):
        run_as_brand(
            brand,
            "insert into mail_message (id, organization_id, kind, recipient, subject, status, body_sealed, created_at,"
            " sent_at) values (gen_random_uuid(), %s, 'x', 'a@example.com', 's', %s, %s, %s, %s)",
            brand.id,
            status,
            b"x" if status == "Queued" else None,
            time_ago(days=days),
            start_of_test() if status == "Sent" else None,
        )
    for state, days in (("Expired", 91), ("Revoked", 91), ("Expired", 89), ("Pending", 91)):
        run_as_brand(
            brand,
            "insert into affiliate_invite (id, organization_id, program_id, email, auto_approve, state, token_hash,"
            " expires_at, created_at) values (gen_random_uuid(), %s, %s, %s, false, %s, sha256(%s), %s, %s)",
            brand.id,
            brand.programs[-1],
            f"{state}{days}@example.com",
            state,
            f"{brand.id}{state}{days}".encode(),
            time_ago(days=days),
            time_ago(days=days),
        )
    deleted = end_due("fraud_events", "mail", "invites", "rail_events")

    assert min(deleted[kind] for kind in ("fraud_events", "mail", "invites")) >= 1
    assert count_brand_rows(brand, "fraud_event") == 1
    assert brand.rows("select status from mail_message where kind = 'x' order by 1") == [("Queued",), ("Sent",)]
    assert brand.rows("select state from affiliate_invite order by 1") == [("Expired",), ("Pending",)]


def test_gateway_payloads_are_deleted_and_their_facts_kept(brand):
    with play_gateway() as stage:
        connection = connect_gateway(brand.person(), stage)
    for status, days in (("Processed", 91), ("Failed", 91), ("Processed", 89), ("Received", 91)):
        run_as_brand(
            brand,
            "insert into gateway_event (id, organization_id, connection_id, event_key, type, status, raw, facts,"
            " received_at) values (gen_random_uuid(), %s, %s, %s, 'x', %s, 'sent', '[]', %s)",
            brand.id,
            connection["id"],
            f"{status}{days}",
            status,
            time_ago(days=days),
        )

    assert end_due("gateway_payloads")["gateway_payloads"] == 2

    remaining = brand.rows("select event_key, raw is null, facts is null from gateway_event order by 1")
    assert remaining == [
        ("Failed91", True, False),
        ("Processed89", False, False),
        ("Processed91", True, False),
        ("Received91", False, False),
    ]


def test_door_visit_is_deleted_a_week_after_its_expiry(brand, ben):
    for days in (8, 6, -1):
        run_as_brand(
            brand,
            "insert into door_visit (organization_id, program_id, affiliate_id, slug, email_normalized, is_test,"
            " first_at, last_at, expires_at) values (%s, %s, %s, 'ben', %s, false, %s, %s, %s)",
            brand.id,
            brand.programs[-1],
            ben,
            f"{days}@example.org",
            time_ago(days=60),
            time_ago(days=40),
            time_ago(days=days),
        )

    assert end_due("door_visits")["door_visits"] >= 1
    assert brand.rows("select email_normalized from door_visit order by 1") == [("-1@example.org",), ("6@example.org",)]


def test_pixel_checkout_is_deleted_after_a_month(brand):
    for days in (31, 29):
        run_as_brand(
            brand,
            "insert into pixel_checkout (organization_id, token_hash, slug, told_at)"
            " values (%s, sha256(%s), 'ben', %s)",
            brand.id,
            str(days).encode(),
            time_ago(days=days),
        )

    assert end_due("pixel_checkouts")["pixel_checkouts"] >= 1
    assert brand.rows("select told_at > now() - interval '30 days' from pixel_checkout") == [(True,)]


def test_contradicting_rail_event_is_kept_until_reviewed(brand):
    with db.any_org_work():
        for outcome, days in (("Parked", 366), ("Parked", 364)):
            db.db.stage(
                'insert into rail_event (rail, event_id, answer, "references", outcome, received_at)'
                " values ('wallet', %s, 'Paid', '{}', %s, %s)",
                (f"{brand.id}{days}", outcome, time_ago(days=days)),
            )

    end_due("rail_events")

    with db.any_org_work():
        remaining = db.db.run("select event_id from rail_event where event_id like %s", (f"{brand.id}%",))
        assert remaining == [(f"{brand.id}364",)]
    assert "Contradicts" in expiry.KINDS["rail_events"].kind_condition


def test_inactive_members_are_deleted_except_the_last_owner(brand):
    for role in ("Owner", "Viewer", "Admin"):
        assert brand.person(role, email=f"{role}@example.org").get("/api/v1/programs").status_code == 200
    brand.person("Owner", email="second@example.org").get("/api/v1/programs")
    run_as_brand(brand, "update member set seen_at = %s", time_ago(days=400))
    run_as_brand(brand, "update member set seen_at = %s where email = 'second@example.org'", time_ago(days=399))
    assert brand.person("Admin", email="Admin@example.org").get("/api/v1/programs").status_code == 200, "still comes"

    end_due("members")

    remaining = brand.rows("select role, email from member where subject is not null order by role")
    assert remaining == [("Admin", "admin@example.org"), ("Owner", "second@example.org")]
    assert brand.get("/api/v1/programs").status_code == 200, "and who has a key stays"


def test_member_visit_is_recorded_daily(brand):
    viewer = brand.person("Viewer")
    viewer.get("/api/v1/programs")
    run_as_brand(brand, "update member set seen_at = %s where role = 'Viewer'", time_ago(days=2))

    viewer.get("/api/v1/programs")

    assert brand.rows("select seen_at > now() - interval '1 hour' from member where role = 'Viewer'") == [(True,)]


def test_empty_or_undone_imports_are_deleted(brand, ben):
    for status, imported in (("Undone", 1), ("Completed", 0), ("Completed", 1)):
        run_as_brand(
            brand,
            "insert into import_job (id, organization_id, kind, status, total, imported, skipped, errored, reasons,"
            " created_at, undone_at) values (gen_random_uuid(), %s, 'Affiliates', %s, 1, %s, %s, 0, '{}', %s, %s)",
            brand.id,
            status,
            imported,
            1 - imported,
            time_ago(days=400),
            start_of_test() if status == "Undone" else None,
        )
    run_as_brand(brand, "update affiliate set import_job_id = (select id from import_job where status = 'Undone')")

    end_due("imports")

    assert brand.rows("select status, imported from import_job") == [("Completed", 1)]
    assert brand.rows("select import_job_id from affiliate") == [(None,)]


def test_money_tables_have_no_retention():
    money = ("conversion", "sale", "ledger_entry", "refund", "reversal", "payout", "payout_line", "payout_attempt")

    for kind in expiry.KINDS.values():
        for table in money:
            assert f"from {table} " not in kind.rows + (kind.end or ""), (kind.name, table)


def test_repeated_sale_is_recognized_forever(brand, ben, drain):
    brand.sale(externalEventId="order-1")
    drain()
    for table, column in (("sale", "accepted_at"), ("conversion", "occurred_at"), ("event", "created_at")):
        run_as_brand(brand, f"update {table} set {column} = %s", time_ago(days=4000))

    end_due(*retention.list_kinds())
    response = brand.sale(externalEventId="order-1")

    assert response.json["deduped"] is True
    assert count_brand_rows(brand, "event") == 0
