"""Terms of a program that contradict each other, and terms without effect for its organization."""

import pytest

URL = "/api/v1/programs"
_PROGRAM = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}


def _create(brand, **fields):
    return brand.post(URL, _PROGRAM | fields)


def _change(brand, program_id, **fields):
    return brand.call("PATCH", f"{URL}/{program_id}", fields)


def test_delay_of_a_program_without_renewals_is_refused(brand):
    refused = _create(brand, recurringMonths=0, recurringDelayInvoices=1)

    assert (refused.status_code, refused.json["error"], refused.json["field"]) == (
        400,
        "delay_without_renewals",
        "recurringDelayInvoices",
    )
    assert brand.rows("select count(*) from program") == [(0,)]
    for months, delay in ((0, 0), (None, 1), (1, 1)):
        assert _create(brand, recurringMonths=months, recurringDelayInvoices=delay).status_code == 201


@pytest.mark.parametrize(
    ("initial", "changes"),
    [
        ({"recurringMonths": 0}, {"recurringDelayInvoices": 1}),
        ({"recurringDelayInvoices": 1}, {"recurringMonths": 0}),
        ({}, {"recurringMonths": 0, "recurringDelayInvoices": 1}),
    ],
)
def test_change_to_a_delay_without_renewals_is_refused(brand, initial, changes):
    program = _create(brand, **initial).json

    refused = _change(brand, program["id"], **changes)

    assert (refused.status_code, refused.json["error"]) == (400, "delay_without_renewals")
    program_after = brand.get(f"{URL}/{program['id']}").json
    assert (program_after["recurringMonths"], program_after["recurringDelayInvoices"]) == (
        program["recurringMonths"],
        program["recurringDelayInvoices"],
    )


def test_existing_program_with_a_delay_without_renewals_can_change_other_fields(brand):
    program_id = brand.program(recurring_months=0, recurring_delay_invoices=2)

    assert _change(brand, program_id, name="Summer").status_code == 200
    assert _change(brand, program_id, recurringDelayInvoices=3).status_code == 400
    assert _change(brand, program_id, recurringDelayInvoices=0).status_code == 200


_PER_LEAD = {"defaultCommissionModel": "Cpl", "defaultCommissionType": "Fixed", "defaultCommissionValue": 2}


@pytest.mark.parametrize(
    ("fields", "field"), [({"leadBountyCents": 500}, "leadBountyCents"), (_PER_LEAD, "defaultCommissionModel")]
)
def test_pay_for_leads_warns_while_paid_leads_are_off(brand, fields, field):
    created = _create(brand, **fields)
    changed = _change(brand, _create(brand).json["id"], **fields)
    brand.set(leadPreview="on")
    with_leads_on = _create(brand, **fields)

    assert (created.status_code, changed.status_code, with_leads_on.status_code) == (201, 200, 201)
    for answer in (created, changed):
        ((code, field_name),) = [(warning["code"], warning["field"]) for warning in answer.json["warnings"]]
        assert (code, field_name) == ("paid_leads_off", field)
    assert "warnings" not in with_leads_on.json


def test_terms_without_pay_for_leads_have_no_warning(brand):
    created = _create(brand, clickRewardCents=100)
    bounty = _create(brand, leadBountyCents=500).json

    assert "warnings" not in created.json
    for fields in ({"name": "Summer"}, {"leadBountyCents": 0}):
        assert "warnings" not in _change(brand, bounty["id"], **fields).json
    assert "warnings" not in brand.get(f"{URL}/{bounty['id']}").json
