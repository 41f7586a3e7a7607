"""The export of conversions as CSV, through HTTP. Source: core spec, "Conversions"."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from models import db
from tests.support.rows.brands import Brand
from tests.support.rows.program_rows import insert_conversion

URL = "/api/v1/conversions/export.csv"
HEADINGS = [
    "id", "affiliate_id", "program_id", "amount_cents", "currency", "commission_cents", "status", "type",
    "external_event_id", "created_at", "refunded_at", "attribution_method", "coupon_code", "sub_id",
]  # fmt: skip


@pytest.fixture
def ben(brand):
    """Return the affiliate of the brand's only campaign."""
    brand.program()
    return brand.affiliate("ben")


def _parse_csv(answer):
    assert answer.status_code == 200, answer.data
    return list(csv.reader(io.StringIO(answer.get_data(as_text=True), newline="")))


def test_export_has_fourteen_columns_in_order(brand, ben):
    moment = datetime(2026, 3, 1, 12, 30, 15, 123_999, tzinfo=UTC)
    conversion_id = insert_conversion(
        brand, ben, external_event_id="order-1", created_at=moment, refunded_at=moment, attribution_method="coupon",
        coupon_code="TEN", sub_id="news", reversed_cents=300, refunded_cents=3_000, processor_customer_id="cus_1",
    )  # fmt: skip

    answer = brand.get(URL)

    timestamp = "2026-03-01T12:30:15.123Z"
    assert answer.content_type == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["Content-Disposition"]
    assert _parse_csv(answer) == [
        HEADINGS,
        [
            str(conversion_id), str(ben), str(brand.programs[0]), "10000", "USD", "700", "Pending", "OneTime",
            "order-1", timestamp, timestamp, "coupon", "TEN", "news",
        ],
    ]  # fmt: skip


def test_null_is_an_empty_cell(brand, ben):
    insert_conversion(brand, ben)

    assert _parse_csv(brand.get(URL))[1][10:] == ["", "", "", ""]


def test_billing_platform_ids_are_not_exported(brand, ben):
    insert_conversion(brand, ben, processor_customer_id="cus_secret", processor_subscription_id="sub_secret")

    assert b"secret" not in brand.get(URL).data


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\ta", "\ra"])
def test_formula_cells_are_escaped(brand, ben, text):
    insert_conversion(brand, ben, external_event_id=f"{text}{brand.id}", coupon_code=text, sub_id=text)

    row = _parse_csv(brand.get(URL))[1]

    assert (row[8], row[12], row[13]) == (f"'{text}{brand.id}", f"'{text}", f"'{text}")


@pytest.mark.parametrize("text", ['a,"b"', "a\nb", "ü😀", "a\r\nb"])
def test_cell_holds_any_text(brand, ben, text):
    insert_conversion(brand, ben, external_event_id=text)

    assert _parse_csv(brand.get(URL))[1][8] == text


def test_export_read_in_batches_is_complete_and_newest_first(brand, ben, monkeypatch):
    moment = datetime.now(UTC)
    numbered_ids = [
        (n // 3, insert_conversion(brand, ben, created_at=moment + timedelta(seconds=n // 3))) for n in range(8)
    ]
    monkeypatch.setattr("api.edge.replica.csv_files._PIECE_ROWS", 3)

    assert [row[0] for row in _parse_csv(brand.get(URL))[1:]] == [
        str(each) for _, each in sorted(numbered_ids, reverse=True)
    ]


def test_export_is_limited_to_the_maximum_rows(brand, ben, monkeypatch):
    ids = [insert_conversion(brand, ben, created_at=datetime.now(UTC)) for _ in range(5)]
    monkeypatch.setattr("api.edge.replica.csv_files._PIECE_ROWS", 2)
    monkeypatch.setattr("api.edge.replica.csv_files._MAX_ROWS", 3)

    assert [row[0] for row in _parse_csv(brand.get(URL))[1:]] == [str(each) for each in ids[:1:-1]]


def test_export_ends_after_fifty_thousand_rows(brand, ben):
    with db.unit_of_work(brand.id):
        db.db.stage("set local statement_timeout = 0")  # no request waits for this insert, and the machine may be busy
        db.db.run(
            "insert into conversion (id, organization_id, program_id, affiliate_id, source, external_event_id,"
            " amount_cents, currency, commission_cents, status, type, rate_source, occurred_at, hold_until, created_at)"
            " select gen_random_uuid(), %s, %s, %s, 's2s', n::text, 1, 'USD', 0, 'Pending', 'OneTime', 'program',"
            " now(), 'infinity', now() from generate_series(1, 50001) n returning 1",
            (brand.id, brand.programs[0], ben),
        )

    assert brand.get(URL).data.count(b"\r\n") == 50_001


def test_export_applies_the_list_filters(brand, ben):
    cleo = brand.affiliate("cleo")
    first = insert_conversion(brand, ben, status="Approved", sub_id="news")
    second = insert_conversion(brand, cleo, type="LeadReward", status="Invalidated")
    other = brand.program()
    third = insert_conversion(brand, brand.affiliate("dora"), sub_id="mail")

    def exported_ids(query):
        return {row[0] for row in _parse_csv(brand.get(f"{URL}?{query}"))[1:]}

    assert exported_ids(f"affiliateId={cleo}") == {str(second)}
    assert exported_ids(f"programId={other}") == {str(third)}
    assert exported_ids("status=Approved") == {str(first)}
    assert exported_ids("kind=lead") == {str(second)}
    assert exported_ids("subId=news") == {str(first)}
    assert exported_ids("subId=untagged") == {str(second)}
    assert exported_ids(f"kind=sale&affiliateId={ben}&status=Approved&subId=news") == {str(first)}


def test_since_is_inclusive_and_until_exclusive(brand, ben):
    days = [datetime(2026, 3, day, tzinfo=UTC) for day in (1, 2, 3)]
    ids = [str(insert_conversion(brand, ben, created_at=day)) for day in days]

    rows = _parse_csv(brand.get(f"{URL}?since=2026-03-01&until=2026-03-03T00:00:00Z"))[1:]

    assert [row[0] for row in rows] == ids[1::-1]


@pytest.mark.parametrize(
    "query", ["status=paid", "kind=bonus", "since=x", "until=yesterday", "affiliateId=1", "subId=%00"]
)
def test_invalid_filter_is_refused(brand, query):
    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    assert list(answer.json["errors"]) == [query.split("=")[0]]


def test_export_is_audited_with_its_filters(brand):
    brand.get(f"{URL}?status=Paid&until=2026-03-03&other=1")
    brand.get(f"{URL}?status=nonsense")

    entries = brand.rows("select action, entity_type, entity_id, after from audit_entry")

    assert entries == [
        (
            "conversions.exported",
            "conversions",
            str(brand.id),
            {"filters": {"status": "Paid", "until": "2026-03-03"}},
        )
    ]


def test_export_has_no_rows_of_other_tenants(brand, rival, ben):
    rival.program()
    insert_conversion(rival, rival.affiliate("ben"))

    assert _parse_csv(brand.get(URL)) == [HEADINGS]
    assert _parse_csv(brand.get(f"{URL}?programId={rival.programs[0]}")) == [HEADINGS]


def test_read_key_can_export_but_free_plan_cannot(app, brand):
    free = Brand.create(app, plan="Free")

    assert brand.other_key(scope="read").get(URL).status_code == 200
    assert brand.person("Viewer").get(URL).status_code == 200
    answer = free.get(URL)
    assert answer.status_code == 402
    assert set(answer.json) == {"error", "message", "required", "current", "trialing", "doc_url"}
    assert free.person("Viewer").get(URL).status_code == 200
