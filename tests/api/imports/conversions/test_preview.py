"""Preview of a conversion import. Source: core spec, "Conversions" (conversion import preview)."""

from tests.support.api.import_requests import URL, build_past_sale, import_sales

PREVIEW = f"{URL}/preview"


def _post_preview(brand, *rows, **fields):
    return import_sales(brand, *rows, url=PREVIEW, **fields)


def test_preview_returns_totals_and_outcomes_and_writes_nothing(campaign):
    import_sales(campaign, build_past_sale(externalId="known"))
    before = campaign.rows("select count(*) from audit_entry")

    answer = _post_preview(
        campaign,
        build_past_sale(externalId="1"),
        build_past_sale(externalId="2", currency="EUR", commissionCents=7),
        build_past_sale(externalId="3", commissionCents=1),
        build_past_sale(externalId="4", paid=True),
        build_past_sale(externalId="4"),
        build_past_sale(externalId="known"),
        build_past_sale(affiliateSlug="nobody"),
        build_past_sale(currency="XXX"),
        None,
    )

    assert answer.status_code == 200
    assert answer.json | {"rows": []} == {
        "rowsTotal": 9,
        "wouldImport": 4,
        "wouldSkip": 3,
        "wouldError": 2,
        "skipReasons": {"affiliate_not_found": 1, "already_imported": 1, "duplicate_in_batch": 1},
        "paidBalance": [{"currency": "USD", "commissionCents": 2_000, "count": 1}],
        "unpaidBalance": [
            {"currency": "EUR", "commissionCents": 7, "count": 1},
            {"currency": "USD", "commissionCents": 2_001, "count": 2},
        ],
        "understood": None,
        "rows": [],
    }
    assert [(row["outcome"], row["reason"]) for row in answer.json["rows"]] == [
        ("new", None),
        ("new", None),
        ("new", None),
        ("new", None),
        ("known", "duplicate_in_batch"),
        ("known", "already_imported"),
        ("wrong", "affiliate_not_found"),
        ("wrong", "unsupported_currency"),
        ("wrong", "invalid_row"),
    ]
    assert [row["index"] for row in answer.json["rows"]] == list(range(9))
    assert {row["line"] for row in answer.json["rows"]} == {None}
    assert campaign.rows("select count(*) from conversion") == [(1,)]
    assert campaign.rows("select count(*) from import_job") == [(1,)]
    assert campaign.rows("select count(*) from audit_entry") == before


def test_excluded_paid_rows_are_counted(campaign):
    answer = _post_preview(campaign, build_past_sale(paid=True), build_past_sale(amountCents=1), excludePaid=True)

    assert (answer.json["skipReasons"], answer.json["wouldImport"]) == ({"excluded_paid": 1}, 1)
    assert answer.json["paidBalance"] == []


def test_preview_agrees_with_the_import(campaign):
    rows = [
        build_past_sale(),
        build_past_sale(paid=True, amountCents=1),
        build_past_sale(),
        build_past_sale(affiliateSlug="nobody"),
    ]

    preview = _post_preview(campaign, *rows).json
    imported = import_sales(campaign, *rows, confirmUnpaidPayout=True).json

    assert (preview["wouldImport"], preview["wouldSkip"], preview["skipReasons"]) == (
        imported["imported"],
        imported["skipped"],
        imported["reasons"],
    )
    assert preview["unpaidBalance"] == imported["unpaidConfirmed"]


def test_preview_of_invalid_rows_only_returns_200(campaign):
    answer = _post_preview(campaign, {}, 7, "row", [])

    assert (answer.status_code, answer.json["wouldError"], answer.json["wouldImport"]) == (200, 4, 0)


def test_preview_of_more_than_a_thousand_rows_is_refused(campaign):
    rows = [build_past_sale(amountCents=number) for number in range(1001)]

    refused, accepted = _post_preview(campaign, *rows), _post_preview(campaign, *rows[:1000])

    assert (refused.status_code, refused.json["error"]) == (400, "row_cap_exceeded")
    assert (accepted.status_code, accepted.json["wouldImport"]) == (200, 1000)
