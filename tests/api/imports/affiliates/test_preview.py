"""Preview of an affiliate import, also from a file. Source: core spec, "Affiliates" (import body)."""

import pytest

from tests.support.api.import_requests import AFFILIATES_IMPORT, build_person_row, import_people

PREVIEW = f"{AFFILIATES_IMPORT}/preview"


def _send(brand, url=PREVIEW, **fields):
    return brand.post(url, {"programId": str(brand.programs[-1])} | fields)


@pytest.fixture
def campaign(brand):
    brand.program()
    return brand


def test_preview_returns_the_outcome_of_each_row_and_writes_nothing(campaign):
    import_people(campaign, build_person_row("known"))
    before = campaign.rows("select count(*) from audit_entry")
    rows = [build_person_row("new"), build_person_row("known"), {}, {"email": "no address"}, build_person_row("new"),
            build_person_row("out", status="banned")]  # fmt: skip

    answer = _send(campaign, affiliates=rows, includeStatuses=["approved"])

    assert answer.status_code == 200
    assert [(row["line"], row["outcome"], row["reason"]) for row in answer.json["rows"]] == [
        (None, "new", None),
        (None, "known", "already_exists"),
        (None, "wrong", "missing_email"),
        (None, "wrong", "invalid_email"),
        (None, "known", "duplicate_in_batch"),
        (None, "leftOut", "status_excluded"),
    ]
    assert (answer.json["rowsTotal"], answer.json["wouldImport"], answer.json["wouldSkip"]) == (6, 1, 5)
    assert answer.json["understood"] is None
    assert campaign.rows("select count(*) from affiliate") == [(1,)]
    assert campaign.rows("select count(*) from import_job") == [(1,)]
    assert campaign.rows("select count(*) from audit_entry") == before


def test_preview_agrees_with_the_import(campaign):
    text = f"email;fullName;slug\nann@x.test;Ann Ek;ann\nno address;;\nbea@x.test;{'x' * 201};\ncy@x.test\n"

    preview = _send(campaign, file=text).json
    imported = _send(campaign, AFFILIATES_IMPORT, file=text).json

    assert [(row["line"], row["reason"]) for row in preview["rows"]] == [
        (2, None), (3, "invalid_email"), (4, "invalid_row"), (5, "wrong_cell_count")
    ]  # fmt: skip
    assert (preview["wouldImport"], preview["wouldSkip"], preview["skipReasons"]) == (
        imported["imported"],
        imported["skipped"],
        imported["reasons"],
    )
    assert campaign.rows("select email, full_name from affiliate") == [("ann@x.test", "Ann Ek")]
    assert campaign.rows("select slug from tracking_link") == [("ann",)]


def test_other_tenants_program_returns_404(campaign, rival):
    answer = rival.post(PREVIEW, {"programId": str(campaign.programs[-1]), "affiliates": [build_person_row("ann")]})

    assert (answer.status_code, answer.json["error"]) == (404, "program_not_found")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "affiliates"),
        ({"affiliates": [], "file": "email\na@x.test\n"}, "affiliates"),
        ({"affiliates": [build_person_row("ann")], "file": "email\na@x.test\n"}, "file"),
        ({"file": "email,phone\na@x.test,1\n"}, "file"),
        ({"file": "email\n"}, "file"),
        ({"affiliates": [7]}, "affiliates"),
    ],
)
def test_malformed_preview_returns_400(campaign, fields, field):
    answer = _send(campaign, **fields)

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])


def test_preview_of_more_than_a_thousand_rows_is_refused(campaign):
    answer = _send(campaign, affiliates=[build_person_row(f"n{number}") for number in range(1001)])

    assert (answer.status_code, answer.json["error"]) == (400, "row_cap_exceeded")
