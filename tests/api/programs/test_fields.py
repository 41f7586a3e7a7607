"""Every field of a program is returned as it was sent, through HTTP."""

import pytest

URL = "/api/v1/programs"

CLICKS = {
    "name": "Spring",
    "slug": "spring-sale",
    "description": "Ten days.\nTwo lines, ☕ and <b>.",
    "termsUrl": "https://brand.test/terms?v=2",
    "defaultCommissionType": "Fixed",
    "defaultCommissionValue": 1.5,
    "defaultCommissionModel": "Cpc",
    "saleCommissionType": "Percentage",
    "saleCommissionValue": 7.25,
    "cookieWindowDays": 45,
    "recurringMonths": 12,
    "recurringDelayInvoices": 2,
    "attributionModel": "FirstTouch",
    "autoApprove": True,
    "networkVisibility": "InviteOnly",
    "isPubliclyDiscoverable": False,
    "budgetCents": 250_000,
    "referralDestinationUrl": "https://brand.test/welcome",
    "minPayoutCents": 5_000,
    "hostedCheckoutDoorEnabled": True,
    "hostedCheckoutDoorMode": "email",
    "hostedCheckoutThankYouUrl": "https://brand.test/thanks",
    "leadBountyCents": 250,
    "isPrimary": True,
}
LEADS = CLICKS | {"defaultCommissionModel": "Cpl", "saleCommissionType": "Fixed", "leadBountyCents": None}
# A click reward makes the program invite-only, so the fields for open programs are left out.
CLICK_REWARD = {
    "name": "Summer",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": 20,
    "clickRewardCents": 5,
    "leadBountyCents": 100_000,
    "budgetCents": 0,
    "minPayoutCents": 0,
}


@pytest.mark.parametrize("body", [CLICKS, LEADS, CLICK_REWARD], ids=["clicks", "leads", "sales"])
def test_sent_value_is_returned_and_stored(brand, body):
    answer = brand.post(URL, body)

    stored = brand.get(f"{URL}/{answer.json['id']}").json
    (listed,) = brand.get(URL).json["items"]
    assert answer.status_code == 201
    assert {name: answer.json[name] for name in body} == body
    created = {name: value for name, value in answer.json.items() if name != "warnings"}
    assert stored == listed == created


def test_null_is_the_default(brand):
    required = ("name", "defaultCommissionType", "defaultCommissionValue")
    plain = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}

    with_nulls = brand.post(URL, plain | {name: None for name in CLICKS if name not in required}).json
    with_omissions = brand.post(URL, plain).json

    generated = ("id", "slug", "createdAt", "updatedAt")
    assert {name: with_nulls[name] for name in with_nulls if name not in generated} == {
        name: with_omissions[name] for name in with_omissions if name not in generated
    }


@pytest.mark.parametrize(
    "url", ["\u0001https://brand.test", "https://brand.test/\u007f", "https://brand.test:70000", "https://brand.test:x"]
)
@pytest.mark.parametrize("field", ["termsUrl", "referralDestinationUrl"])
def test_malformed_url_is_refused(brand, field, url):
    answer = brand.post(URL, CLICKS | {field: url})

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])
