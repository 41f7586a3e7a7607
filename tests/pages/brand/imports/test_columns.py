"""The columns of another service's file on the import page."""

import re

import pytest

from tests.support.pages.import_forms import NEW, match_fields, preview_fields, upload_file

_TAPFILIATE = (
    "external_id,amount,created_at,affiliate_email,program,currency,customer_id,commission_status,commission_amount\n"
    "T-1,$49.00,2024-01-31 10:00:00,ben@example.com,spring,USD,cus_1,approved,9.80\n"
    "T-2,20.00,2024-02-01,ben@example.com,spring,USD,cus_2,paid,4.00 USD\n"
    "T-3,20.00,2024-02-02,ben@example.com,spring,USD,cus_3,disapproved,4.00\n"
)


def test_known_export_is_recognized_and_imported_by_its_columns(campaign, owner):
    matching = upload_file(owner, campaign, _TAPFILIATE, source="tapfiliate")

    assert matching.status_code == 200
    assert "This looks like an export from Tapfiliate." in matching.text
    fields = match_fields(matching)
    assert (fields["col-affiliateEmail"], fields["col-commission"]) == ("affiliate_email", "commission_amount")
    assert dict(zip(fields["theirs"], fields["ours"], strict=True)) == {
        "approved": "unpaid",
        "paid": "paid",
        "disapproved": "leave_out",
    }
    assert campaign.rows("select count(*) from import_job") == [(0,)]

    preview = owner.send(NEW, fields)
    assert [text in preview.text for text in ("2 new", "0 wrong", "1 not imported")] == [True] * 3, preview.text
    redirect = owner.send(NEW, preview_fields(preview))

    assert redirect.status_code == 303
    assert campaign.rows(
        "select external_event_id, amount_cents, commission_cents, status, processor_customer_id,"
        " occurred_at::date::text from conversion order by external_event_id"
    ) == [("T-1", 4900, 980, "Pending", "cus_1", "2024-01-31"), ("T-2", 2000, 400, "Paid", "cus_2", "2024-02-01")]


def test_unknown_columns_are_matched_by_hand(campaign, owner):
    text = "who;when;sum;share;what\nben;2024-01-31;49,00;9,80;settled\n"

    matching = upload_file(owner, campaign, text)
    fields = match_fields(matching)
    by_hand = fields | {
        "kind": "Conversions",
        "col-affiliateSlug": "who",
        "col-occurredAt": "when",
        "col-amount": "sum",
        "col-commission": "share",
        "col-paid": "what",
    }
    without_currency = owner.send(NEW, by_hand)
    without_word = owner.send(NEW, by_hand | {"currency": "eur"})
    preview = owner.send(NEW, by_hand | {"currency": "eur", "theirs": "settled", "ours": "paid"})

    assert (without_currency.status_code, "type the currency of all amounts" in without_currency.text) == (422, True)
    assert (without_word.status_code, "Choose what each status in the file means." in without_word.text) == (422, True)
    assert 'value="settled"' in without_word.text
    assert "1 new" in preview.text
    owner.send(NEW, preview_fields(preview))
    assert campaign.rows("select amount_cents, commission_cents, currency, status from conversion") == [
        (4900, 980, "EUR", "Paid")
    ]


def test_reasons_of_sales_name_no_fields_of_the_api(campaign, owner):
    text = (
        "affiliateEmail,amountCents,commissionCents,currency,occurredAt,paid,externalId\n"
        "ben@example.com,x,1,USD,2024-01-31,false,A-1\nben@example.com,1,x,USD,2024-01-31,false,A-2\n"
        "ben@example.com,1,1,USD,31.01.2024,false,A-3\nben@example.com,1,1,USD,,false,A-4\n"
        "ben@example.com,1,1,USD,2999-01-01,false,A-5\n,1,1,USD,2024-01-31,false,A-6\n"
        "ben@example.com,1,1,USD,2024-01-31,false,\nben@example.com,1,1,USD,2024-01-31,false,\n"
    )

    preview = upload_file(owner, campaign, text)
    skipped = owner.send(NEW, preview_fields(preview))
    import_page = owner.open(owner.send(NEW, preview_fields(skipped)).headers["Location"])

    assert "6 wrong" in preview.text
    assert "Its date of the sale cannot be read. Write it as YYYY-MM-DD" in preview.text
    for page in (preview, import_page):
        reasons = "".join(re.findall("<li><b>.*?</li>", page.text))
        assert reasons.count("date of the sale") == 3, reasons
        assert re.findall(r"\b[a-z]+[A-Z]\w+", reasons) == []


def test_warnings_of_affiliates_name_no_fields_of_the_api(campaign, owner):
    preview = upload_file(owner, campaign, "email,fullName,walletEmail\nzoe@x.test,Zoe,no address\n")
    import_page = owner.open(owner.send(NEW, preview_fields(preview)).headers["Location"])

    for page in (preview, import_page):
        assert "Its PayPal or wallet email is not an email address." in page.text


def test_column_that_is_in_the_file_twice_cannot_be_chosen(campaign, owner):
    matching = upload_file(owner, campaign, "Mail,Mail,Name\nada@example.com,eve@example.com,Ada\n")

    by_hand = match_fields(matching) | {"kind": "Affiliates", "col-email": "Mail", "col-fullName": "Name"}
    refused = owner.send(NEW, by_hand)
    without_it = owner.send(NEW, by_hand | {"col-email": "Name"})

    assert (refused.status_code, "The file has several columns" in refused.text) == (400, True)
    assert "1 wrong" in without_it.text  # a name is no email address


def test_names_in_two_columns_become_one(campaign, owner):
    text = "first_name,last_name,email,paypal_email,wise_email,token\nAda,Ek,ada@example.com,pay@example.com,,ada-e\n"

    matching = upload_file(owner, campaign, text)
    preview = owner.send(NEW, match_fields(matching))
    owner.send(NEW, preview_fields(preview))

    assert "export from Rewardful" in matching.text
    assert campaign.rows(
        "select full_name, wallet_email, slug from affiliate a join tracking_link l on l.affiliate_id = a.id"
        " where email = 'ada@example.com'"
    ) == [("Ada Ek", "pay@example.com", "ada-e")]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "x"},
        {"kind": "Conversions", "matched": "1", "col-commission": "nothing\0", "col-affiliateEmail": "<b>"},
        {"kind": "Affiliates", "matched": "1", "col-email": "y" * 5000},
        {"kind": "Affiliates", "matched": "1", "theirs": ["a", "b"], "ours": ["paid"]},
    ],
)
def test_hostile_mapping_is_asked_for_again(campaign, owner, fields):
    uploaded = upload_file(owner, campaign, "a,b\n1,2\n")

    answer = owner.send(
        NEW, {"program": str(campaign.programs[-1]), "packed": match_fields(uploaded)["packed"]} | fields
    )

    assert answer.status_code in (200, 422)
    assert "Match your columns" in answer.text
    assert campaign.rows("select count(*) from import_job") == [(0,)]


@pytest.mark.parametrize("kind", ["affiliates", "conversions"])
def test_template_is_a_file_that_imports(campaign, owner, kind):
    campaign.rows("update affiliate set email = 'ada@example.com' returning id") if kind == "conversions" else None
    template = owner.open(f"/dashboard/imports/template/{kind}.csv")

    preview = upload_file(owner, campaign, template.data)

    assert template.headers["Content-Disposition"] == f'attachment; filename="{kind}.csv"'
    assert "1 new" in preview.text
    assert owner.open("/dashboard/imports/template/x.csv").status_code == 404
