"""Equal rows of an import, and the name of the service they come from."""

import pytest

from tests.support.api.import_requests import URL, build_past_sale, import_sales

PREVIEW = f"{URL}/preview"


def _count_conversions(brand):
    return brand.rows("select count(*), count(distinct external_event_id) from conversion")


def test_equal_rows_are_all_imported_once(campaign):
    rows = [build_past_sale(), build_past_sale(amountCents=5), build_past_sale(), build_past_sale()]

    preview = import_sales(campaign, *rows, url=PREVIEW).json
    imported = import_sales(campaign, *rows).json

    assert (preview["wouldImport"], imported["imported"], _count_conversions(campaign)) == (4, 4, [(4, 4)])
    warned = [(2, "equal_row", "0"), (3, "equal_row", "0")]
    warnings = [
        (row["index"], warning["code"], warning["value"]) for row in preview["rows"] for warning in row["warnings"]
    ]
    assert (
        warnings
        == [(warning["index"], warning["code"], warning["value"]) for warning in imported["warnings"]]
        == warned
    )

    again = import_sales(campaign, *rows).json
    assert (again["imported"], again["reasons"]) == (0, {"already_imported": 4})
    fewer = import_sales(campaign, *rows[:2]).json
    assert fewer["imported"] == 0
    more = import_sales(campaign, *rows, build_past_sale()).json
    assert (more["imported"], _count_conversions(campaign)) == (1, [(5, 5)])


def test_row_imported_by_an_earlier_release_matches_the_first_equal_row(campaign):
    import_sales(campaign, build_past_sale())

    imported = import_sales(campaign, build_past_sale(), build_past_sale()).json

    assert (imported["imported"], imported["reasons"]) == (1, {"already_imported": 1})


def test_excluded_paid_rows_do_not_renumber_the_others(campaign):
    rows = [build_past_sale(paid=True), build_past_sale(paid=False)]

    first = import_sales(campaign, *rows, excludePaid=True).json
    second = import_sales(campaign, *rows).json
    third = import_sales(campaign, *rows).json

    assert [imported["imported"] for imported in (first, second, third)] == [1, 1, 0]


def test_rows_with_the_same_external_id_are_one_conversion(campaign):
    imported = import_sales(campaign, build_past_sale(externalId="1"), build_past_sale(externalId="1")).json

    assert (imported["imported"], imported["reasons"], imported["warnings"]) == (1, {"duplicate_in_batch": 1}, [])


def test_warning_of_an_equal_file_row_names_its_lines(campaign):
    row = "ben,10000,2000,USD,2024-01-31 14:00:00 UTC,,"
    header = "affiliateSlug,amountCents,commissionCents,currency,occurredAt,,"
    body = {"programId": str(campaign.programs[-1]), "file": f"{header}\n{row}\n\n{row}\n"}

    preview = campaign.post(PREVIEW, body).json
    imported = campaign.post(URL, body).json

    assert preview["rows"][1]["warnings"][0]["message"].startswith("It is equal to row 2.")
    assert [(warning["index"], warning["line"], warning["value"]) for warning in imported["warnings"]] == [(1, 4, "2")]


@pytest.mark.parametrize("source", ["rewardful", "first-promoter", "7", "a" * 40])
def test_source_is_part_of_the_attribution_method(campaign, source):
    imported = import_sales(campaign, build_past_sale(), source=source).json

    assert imported["source"] == campaign.get(f"/api/v1/imports/{imported['jobId']}").json["source"] == source
    (conversion,) = campaign.get("/api/v1/conversions").json["items"]
    assert conversion["attributionMethod"] == f"historical_import:{source}"
    steps = campaign.get(f"/api/v1/conversions/{conversion['id']}/attribution").json["steps"]
    assert steps[0]["detail"] == f"Imported from {source}; the import named the affiliate."


@pytest.mark.parametrize("source", ["", "Rewardful", "a b", "a_b", "a" * 41, "a\n", None, 7])
@pytest.mark.parametrize("url", [URL, PREVIEW])
def test_malformed_source_is_refused(campaign, url, source):
    assert import_sales(campaign, build_past_sale(), url=url, source=source).status_code == 400
    assert _count_conversions(campaign) == [(0, 0)]
