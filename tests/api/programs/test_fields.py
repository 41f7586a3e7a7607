"""Every field that a program is given comes back as it was given, through HTTP."""

import pytest

URL = "/api/v1/programs"

EVERYTHING = {
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
LEADS = EVERYTHING | {"defaultCommissionModel": "Cpl", "saleCommissionType": "Fixed", "leadBountyCents": None}
# A click reward closes the program to strangers, so it has the opposite of what stands above.
CLICK_REWARD = {
    "name": "Summer",
    "defaultCommissionType": "Percentage",
    "defaultCommissionValue": 20,
    "clickRewardCents": 5,
    "leadBountyCents": 100_000,
    "budgetCents": 0,
    "minPayoutCents": 0,
}


@pytest.mark.parametrize("sent", [EVERYTHING, LEADS, CLICK_REWARD], ids=["clicks", "leads", "sales"])
def test_sent_value_is_returned_and_stored(brand, sent):
    answer = brand.post(URL, sent)

    kept = brand.get(f"{URL}/{answer.json['id']}").json
    (listed,) = brand.get(URL).json["items"]
    assert answer.status_code == 201
    assert {name: answer.json[name] for name in sent} == sent
    written = {name: value for name, value in answer.json.items() if name != "warnings"}
    assert kept == listed == written


def test_null_is_the_default(brand):
    required = ("name", "defaultCommissionType", "defaultCommissionValue")
    plain = {"name": "Spring", "defaultCommissionType": "Percentage", "defaultCommissionValue": 20}

    spoken = brand.post(URL, plain | {name: None for name in EVERYTHING if name not in required}).json
    silent = brand.post(URL, plain).json

    own = ("id", "slug", "createdAt", "updatedAt")
    assert {name: spoken[name] for name in spoken if name not in own} == {
        name: silent[name] for name in silent if name not in own
    }


@pytest.mark.parametrize(
    "url", ["\u0001https://brand.test", "https://brand.test/\u007f", "https://brand.test:70000", "https://brand.test:x"]
)
@pytest.mark.parametrize("field", ["termsUrl", "referralDestinationUrl"])
def test_an_address_that_no_browser_would_keep_is_refused(brand, field, url):
    answer = brand.post(URL, EVERYTHING | {field: url})

    assert (answer.status_code, list(answer.json["errors"])) == (400, [field])
