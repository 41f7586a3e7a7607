"""The operations that may read from a replica, and their answers when the replica is not usable."""

import os

import pytest
from prometheus_client import REGISTRY

from adapters import broker
from api.edge.replica.routing import ReadRouter
from models import db

# Operation names. None of them decides about money: no previews, drafts, holds or payment files.
_MAY_LAG = """
get_connection_stats get_daily_numbers get_fraud_summary get_leaderboard get_performance_metrics
list_affiliate_coupons list_affiliate_events list_affiliate_links list_affiliates list_applications list_assets
list_campaign_coupons list_conversions list_coupon_affiliates list_coupon_codes list_coupons_of_campaigns list_deals
list_embedded_conversions list_embedded_days list_embedded_payouts list_fraud_events list_gateway_events list_imports
list_network_programs list_own_assets list_own_channels list_own_conversions list_own_coupons list_own_days
list_own_deals list_own_payouts list_own_programs list_payout_lines list_payout_runs list_payouts list_program_stats
list_programs list_recent_events list_recruits list_sub_affiliates list_uncredited_conversions list_webhook_deliveries
search_affiliates search_campaigns search_payouts search_records summarize_performance summarize_uncredited_conversions
"""
_MAY_LAG_IN_PIECES = [
    "export_affiliates",
    "export_conversions",
    "export_own_conversions",
    "export_payouts",
    "export_switch_rows",
    "list_audit_log",
]
# GET operations that write: audited reads, sales settled before they are returned, visits.
_WRITING_GETS = """
check_gateway_address count_click_by_query export_affiliates export_conversions export_payouts follow_link
follow_link_of_program get_conversion
get_conversion_attribution get_pixel get_tax_form list_audit_log list_payouts_to_pay open_door open_letter
search_conversions
"""


@pytest.fixture
def primary_as_replica(app, monkeypatch):
    """A DATABASE_READ_URL that points to a primary, as after a failover."""
    url = os.environ["DATABASE_URL"]
    broker.client(os.environ["REDIS_URL"]).set("{finderfee:reads}:known", 1)
    db.db.drop_connection()
    db.connect_to(url, replica_url=url)
    reads = ReadRouter(os.environ["REDIS_URL"], max_lag_s=5)
    monkeypatch.setitem(app.extensions, "reads", reads)
    yield reads
    db.db.drop_connection()
    db.connect_to(url)


def _count_primary_reads(reason: str) -> float:
    return REGISTRY.get_sample_value("finderfee_reads_total", {"server": "primary", "why": reason}) or 0


def test_listed_operations_may_lag_and_only_read(app):
    operations = [
        (rule.endpoint.rpartition(".")[2], app.view_functions[rule.endpoint].operation.may_lag, rule.methods)
        for rule in app.url_map.iter_rules()
    ]

    assert sorted(name for name, lag, _ in operations if lag == "answer") == _MAY_LAG.split()
    assert sorted(name for name, lag, _ in operations if lag == "pieces") == _MAY_LAG_IN_PIECES
    assert {method for _, lag, methods in operations if lag != "nothing" for method in methods} <= {
        "GET",
        "HEAD",
        "OPTIONS",
    }


def test_listed_get_operations_write(app):
    operations = {
        rule.endpoint.rpartition(".")[2]: (app.view_functions[rule.endpoint].operation, rule.methods)
        for rule in app.url_map.iter_rules()
    }

    assert sorted(name for name, (operation, _) in operations.items() if operation.writes) == _WRITING_GETS.split()
    assert all("GET" in methods for operation, methods in operations.values() if operation.writes)


def test_reads_use_the_primary_if_the_replica_is_a_primary(brand, primary_as_replica):
    brand.program()
    count_before = _count_primary_reads("away")

    created = brand.post("/api/v1/affiliates", {"email": "ann@example.com", "programId": str(brand.programs[0])})
    listed = brand.get("/api/v1/affiliates")
    exported = brand.get("/api/v1/conversions/export.csv")

    assert (created.status_code, listed.status_code, exported.status_code) == (201, 200, 200)
    assert [row["email"] for row in listed.json["items"]] == ["ann@example.com"]
    assert exported.text.startswith("id,")
    assert _count_primary_reads("away") == count_before + 2


def test_write_records_the_commit_position_of_its_organization_and_read_does_not(brand, rival, primary_as_replica):
    brand.program()
    brand.post("/api/v1/affiliates", {"email": "ann@example.com", "programId": str(brand.programs[0])})
    rival.get("/api/v1/affiliates")
    with db.any_org_work():
        (position,) = db.db.row("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn")

    assert 0 < primary_as_replica._positions.find_latest([str(brand.id)]) <= position
    assert primary_as_replica._positions.find_latest([str(rival.id)]) == 0


def test_reads_use_the_primary_while_commit_positions_are_unknown(brand, primary_as_replica):
    broker.client(os.environ["REDIS_URL"]).flushdb()
    before = _count_primary_reads("unknown")

    assert brand.get("/api/v1/affiliates").status_code == 200
    assert _count_primary_reads("unknown") == before + 1
