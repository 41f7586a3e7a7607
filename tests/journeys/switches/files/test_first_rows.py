"""The first rows of files show for each row what the check makes of it afterwards.

Source: the switch-over rules, "Reasons (closed list)" and "Screens and command".
"""

import pytest

_URL = "/api/v1/switches"
_FILES = {
    "affiliates": (
        "Id,Mail,Status,Code,Plan\n"
        "1,ada@x.test,Approved,ada,Gold\n"
        "2,not-an-email,Approved,broken,Gold\n"
        "3,,Approved,empty,Gold\n"
        "4,gone@x.test,Approved,gone,Lead\n"
        "5,banned@x.test,Banned,banned,Gold\n"
        "6,twice@x.test,Paused,,Gold\n"
        "7,Twice@x.test,Approved,,Gold\n"
    ),
    "links": "Partner,Token\n1,other\n2,lost\n9,nobody\n,none\n",
    "codes": "Partner,Text\n1,SAVE\n2,LOST\n9,NOBODY\n1,X\n",
    "customers": (
        "Id,Partner,Code,Customer\nk1,1,,cus_1\nk2,2,,cus_2\nk3,9,,cus_3\nk4,1,,\nk5,,OTHER,cus_6\nk6,,zed,cus_7\n"
    ),
    "commissions": (
        "Id,Partner,Mail,Earned,Cur,Date,State\n"
        "s1,1,,5,USD,2024-05-01,paid\n"
        "s2,2,,5,USD,2024-05-01,paid\n"
        "s3,9,,5,USD,2024-05-01,paid\n"
        "s4,,banned@x.test,5,USD,2024-05-01,paid\n"
        "s5,1,,5,XXX,2024-05-01,paid\n"
        "s6,1,,5.005,USD,2024-05-01,paid\n"
        "s7,1,,5,USD,2094-05-01,paid\n"
        "s8,1,,5,USD,2024-05-01,odd\n"
        "s9,7,,5,USD,2024-05-01,paid\n"
    ),
}
_COLUMNS = {
    "affiliates": {"id": "Id", "email": "Mail", "status": "Status", "token": "Code", "campaign": "Plan"},
    "links": {"affiliateId": "Partner", "token": "Token"},
    "codes": {"affiliateId": "Partner", "code": "Text"},
    "customers": {"id": "Id", "affiliateId": "Partner", "token": "Code", "customerId": "Customer"},
    "commissions": {
        "id": "Id",
        "affiliateId": "Partner",
        "affiliateEmail": "Mail",
        "commission": "Earned",
        "currency": "Cur",
        "occurredAt": "Date",
        "state": "State",
    },
}
# Of affiliates and customers whom only other rows name.
_IMPLIED = ("mention:", "of:")


@pytest.fixture
def owner(brand):
    return brand.person("Owner")


@pytest.fixture
def address(owner):
    """Return the address of a switch with these files."""
    address = f"{_URL}/{owner.post(_URL, {'source': 'files', 'credentials': {}}).json['id']}"
    for name, content in _FILES.items():
        answer = owner.call("PUT", f"{address}/files/{name}/1", content.encode(), Content_Type="text/csv")
        assert answer.status_code == 200, answer.text
    _change(owner, address, columns=_COLUMNS)
    return address


def _change(owner, address, **body):
    answer = owner.call("PATCH", address, body)
    assert answer.status_code == 200, answer.text


def _list_problems(owner, address):
    listed = owner.get(f"{address}/files").json
    return {files["collection"]: [row["problem"] for row in files["preview"]] for files in listed}


def _check(owner, address, drain):
    """Check the files, and return the reasons of their rows by collection."""
    assert owner.post(f"{address}/read", {}).status_code == 202
    drain()
    rows = owner.get(f"{address}/rows?take=200").json["items"]
    own = [row for row in rows if not row["sourceId"].startswith(_IMPLIED)]
    return {name: [row["reason"] for row in own if row["collection"] == name] for name in _FILES}


def test_first_rows_have_the_reasons_of_the_check(brand, owner, address, drain):
    campaigns = [{"sourceId": "Gold", "programId": str(brand.program())}]
    _change(owner, address, campaigns=campaigns, options={"includeStatuses": ["Approved", "Rejected"]})

    problems = _list_problems(owner, address)

    assert problems["affiliates"] == [
        None,
        "invalid_email",
        "no_email",
        "campaign_not_mapped",
        "status_excluded",
        None,
        None,
    ]
    assert problems["customers"] == [
        None,
        "affiliate_unknown",
        "affiliate_unknown",
        "customer_without_name",
        None,
        "affiliate_unknown",
    ]
    assert problems["commissions"] == [
        None,
        "affiliate_unknown",
        "affiliate_unknown",
        "affiliate_unknown",
        "unsupported_currency",
        "amount_out_of_range",
        "in_future",
        "unknown_status",
        None,
    ]
    checked = _check(owner, address, drain)
    for name in _FILES:
        assert sorted(map(str, problems[name])) == sorted(map(str, checked[name])), name
    assert _list_problems(owner, address) == problems
    money = {row["currency"]: row["commissionCents"] for row in owner.get(f"{address}/preview").json["money"]}
    assert money["XXX"] == 0
    assert owner.get(f"{address}/rows.csv").status_code == 200


def test_campaigns_count_as_mapped_until_one_is(owner, address):
    problems = _list_problems(owner, address)

    assert "campaign_not_mapped" not in str(problems)
    assert problems["affiliates"] == [None, "invalid_email", "no_email", None, None, None, None]


def test_affiliate_whom_only_a_commission_names_is_no_problem(brand, owner, address):
    content = b"Partner,Mail,Earned,Cur,Date,State\n,new@x.test,5,USD,2024-05-01,paid\n,no mail,5,USD,2024-05-01,paid\n"
    owner.call("PUT", f"{address}/files/commissions/1", content, Content_Type="text/csv")
    fields = {name: heading for name, heading in _COLUMNS["commissions"].items() if name != "id"}
    affiliates = {name: heading for name, heading in _COLUMNS["affiliates"].items() if name != "campaign"}
    _change(owner, address, columns={"commissions": fields, "affiliates": affiliates})

    assert _list_problems(owner, address)["commissions"] == [None, "affiliate_unknown"]
