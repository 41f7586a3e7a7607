"""The leaderboard of affiliates, through HTTP."""

from uuid import uuid4

import pytest

from tests.support.rows.program_rows import insert_click, insert_conversion, store_rate, time_ago

URL = "/api/v1/leaderboard"


@pytest.fixture
def sellers(brand):
    """Return three affiliates of the brand's only campaign: Ann sold twice, Ben and Cid once, and Cid for the most."""
    brand.program()
    ids_by_name = {name: brand.affiliate(name) for name in ("cid", "ann", "ben")}
    for name, cents in (("ann", 1_000), ("ann", 1_000), ("ben", 2_000), ("cid", 9_000)):
        insert_conversion(brand, ids_by_name[name], amount_cents=cents, commission_cents=cents // 10)
    return ids_by_name


def _read_board(brand, query=""):
    answer = brand.get(f"{URL}?{query}")
    assert answer.status_code == 200, answer.data
    assert isinstance(answer.json, list)
    return answer.json


def _read_ranks(brand, sellers, query=""):
    names = {str(affiliate_id): name for name, affiliate_id in sellers.items()}
    return [(entry["rank"], names[entry["affiliateId"]], entry["value"]) for entry in _read_board(brand, query)]


def test_equal_values_share_a_rank(brand, sellers):
    assert _read_ranks(brand, sellers) == [(1, "ann", 2), (2, "ben", 1), (2, "cid", 1)]
    assert _read_ranks(brand, sellers, "metric=revenue") == [(1, "cid", 9_000), (2, "ann", 2_000), (2, "ben", 2_000)]
    assert _read_ranks(brand, sellers, "metric=commission&limit=1") == [(1, "cid", 900)]
    assert _read_board(brand, "limit=1")[0] == {
        "rank": 1,
        "affiliateId": str(sellers["ann"]),
        "fullName": brand.rows("select full_name from affiliate where id = %s", sellers["ann"])[0][0],
        "programId": str(brand.programs[-1]),
        "value": 2,
        "currency": None,
        "unconvertibleByCurrency": None,
        "clicks": 0,
        "leads": 0,
        "sales": 2,
        "netRevenueCents": 2_000,
        "commissionCents": 200,
    }
    assert _read_board(brand, "metric=commission")[0]["currency"] == "USD"


def test_refunds_reduce_revenue_and_zero_has_no_rank(brand, sellers):
    zoe = brand.affiliate("zoe")
    insert_conversion(brand, zoe, amount_cents=50_000, refunded_cents=50_000, commission_cents=10, reversed_cents=10)
    insert_click(brand, zoe)

    assert str(zoe) not in [entry["affiliateId"] for entry in _read_board(brand, "metric=revenue")]
    assert [entry["affiliateId"] for entry in _read_board(brand, "metric=clicks")] == [str(zoe)]
    assert _read_board(brand, "metric=leads") == []


def test_revenue_without_a_rate_is_listed_separately(brand, sellers):
    store_rate("TOP", "2", time_ago(days=1))
    insert_conversion(brand, sellers["ben"], currency="TOP", amount_cents=100_000)
    insert_conversion(brand, sellers["ben"], currency="WST", amount_cents=7)

    first = _read_board(brand, "metric=revenue")[0]

    assert (first["value"], first["unconvertibleByCurrency"]) == (2_000 + 50_000, {"WST": 7})


def test_leaderboard_filters_by_days_and_program_and_omits_deleted_affiliates(brand, sellers):
    insert_conversion(brand, sellers["cid"], occurred_at=time_ago(days=3))
    insert_conversion(brand, sellers["cid"], occurred_at=time_ago(days=3))
    assert _read_ranks(brand, sellers)[0] == (1, "cid", 3)
    assert _read_ranks(brand, sellers, "days=2")[0] == (1, "ann", 2)

    brand.rows("update affiliate set deleted_at = now() where id = %s returning 1", sellers["cid"])
    assert [name for _, name, _ in _read_ranks(brand, sellers)] == ["ann", "ben"]
    other = brand.program()
    assert _read_board(brand, f"programId={other}") == []


def test_leaderboard_of_a_range_of_days_ignores_other_days(brand, sellers):
    insert_conversion(brand, sellers["cid"], occurred_at=time_ago(days=40))
    days = {name: time_ago(days=count).date() for name, count in (("from", 41), ("to", 39))}

    assert _read_ranks(brand, sellers, f"from={days['from']}&to={days['to']}") == [(1, "cid", 1)]
    assert _read_ranks(brand, sellers, f"to={days['to']}&days=1") == [(1, "cid", 1)]
    assert _read_ranks(brand, sellers, f"from={days['from']}&days=1")[0] == (1, "ann", 2)


def test_other_tenants_activity_is_not_ranked(brand, rival, sellers):
    assert _read_board(rival) == []
    answer = rival.get(f"{URL}?programId={brand.programs[-1]}")
    assert (answer.status_code, answer.json["error"]) == (404, "not_found")
    assert brand.get(f"{URL}?programId={uuid4()}").status_code == 404


def test_invalid_query_returns_400(brand):
    field_by_query = {
        "metric=money": "metric", "metric=": "metric", "days=0": "days", "days=367": "days", "days=-1": "days",
        "days=1e2": "days", f"days={'9' * 30}": "days", "limit=0": "limit", "limit=101": "limit", "limit=%00": "limit",
        "programId=x": "programId", "from=2026-03-02&to=2026-03-01": "from", "from=x": "from", "to=": "to",
        "from=2024-01-01&to=2026-01-01": "from",
    }  # fmt: skip
    for query, field in field_by_query.items():
        answer = brand.get(f"{URL}?{query}")
        assert (query, answer.status_code, list(answer.json.get("errors", ()))) == (query, 400, [field])
