"""Tapfiliate: pages by the Link header, rows of a program, paid commissions, and what its objects mean."""

import pytest

from adapters.switches.base import SourceResponse, SourceRow, UnreadablePage, UnreadableRow
from commands.demo.played.sample import Sample
from domain.statuses import AffiliateStatus
from domain.switches.records import AffiliateRef
from domain.switches.sources import Collection
from tests.support.switches.walking import Walk

_SMALL = Sample(affiliates=3, customers=4, commissions=6, campaigns=1)


@pytest.fixture
def walk(start):
    return start("tapfiliate")


@pytest.fixture
def small(start):
    """Return an account of one program and few rows."""
    return start("tapfiliate", _SMALL)


def _list(walk: Walk, name: str):
    return next(walked for walked in walk.source.lists(walk.context) if walked.name == name)


@pytest.mark.parametrize("campaigns", [1, 2])
def test_all_lists_bring_the_account(start, campaigns):
    walk = start("tapfiliate", Sample(affiliates=55, customers=110, commissions=160, campaigns=campaigns)).walk()

    for collection, ids in (
        (
            Collection.Affiliates,
            {f"{row['affiliate']['id']}/{row['_program']}" for row in walk.account["affiliations"]},
        ),
        (Collection.Customers, {row["id"] for row in walk.account["customers"]}),
        (
            Collection.Commissions,
            {str(each["id"]) for row in walk.account["conversions"] for each in row["commissions"]},
        ),
        (Collection.Payouts, {row["id"] for row in walk.account["payments"]}),
    ):
        assert {row.source_id for row in walk.rows_of(collection)} == ids
    assert len(walk.rows_of(Collection.Links)) == 55
    assert {record.code for record in walk.understand(Collection.Codes)} == {f"SAVE{n}" for n in range(0, 55, 5)}


@pytest.mark.parametrize("count", [1, 24, 25, 26, 50])
def test_no_row_is_lost_where_pages_end(start, count):
    walk = start("tapfiliate", Sample(affiliates=count, customers=count, commissions=count, campaigns=1)).walk()

    assert len(walk.rows_of(Collection.Affiliates)) == count
    assert len(walk.rows_of(Collection.Customers)) == count
    assert len(walk.rows_of(Collection.Commissions)) == count


def test_of_the_next_address_only_the_query_is_used(walk):
    customers = _list(walk, "customers/program-0")
    link = '<https://elsewhere.example/1.6/other/?page=2&program_id=program-0>; rel="next"'
    response = SourceResponse(200, {"Link": link}, [])

    page = walk.source.read_page(customers, None, response, walk.context)
    request = walk.source.request(customers, page.cursor, walk.context)

    assert request.path == "/customers/"
    assert dict(request.query) == {"page": "2", "program_id": "program-0"}


@pytest.mark.parametrize("header", ["", '<https://a.example/?page=9>; rel="last"', "nonsense"])
def test_without_a_next_address_the_list_ends(walk, header):
    response = SourceResponse(200, {"Link": header}, [])

    assert walk.source.read_page(_list(walk, "customers/program-0"), None, response, walk.context).cursor is None


def test_a_next_page_that_is_this_page_is_read_again(walk):
    customers = _list(walk, "customers/program-0")
    response = SourceResponse(200, {"Link": '<https://a.example/?page=2>; rel="next"'}, [])
    first = walk.source.read_page(customers, None, response, walk.context)

    with pytest.raises(UnreadablePage):
        walk.source.read_page(customers, first.cursor, response, walk.context)


def test_no_request_has_a_limit(walk):
    walk.walk()

    assert walk.server.log
    assert not [request for request in walk.server.log if "limit" in request.query]


def test_rows_of_other_programs_that_the_filter_lets_through_are_dropped(start):
    walk = start("tapfiliate")
    walk.account.facts["leaks"] = True

    walk.walk()

    for record in walk.understand(Collection.Customers) + walk.understand(Collection.Commissions):
        assert record.affiliate.id.endswith(f"/{record.campaign}")
    assert len(walk.rows_of(Collection.Customers)) == 60
    assert len(walk.rows_of(Collection.Commissions)) == 200
    assert walk.mentions() == []


def test_a_program_that_leads_nowhere_is_read_too(start):
    walk = start("tapfiliate")
    walk.context.campaigns.remove("program-1")

    walk.walk()

    assert {record.campaign for record in walk.understand(Collection.Affiliates)} == {"program-0", "program-1"}
    assert {record.campaign for record in walk.understand(Collection.Commissions)} == {"program-0", "program-1"}


def test_programs_are_campaigns_with_currency_and_cookie(walk):
    account = walk.read_account()

    assert [(campaign.source_id, campaign.name) for campaign in account.campaigns] == [
        ("program-0", "Partners"),
        ("program-1", "Agencies"),
    ]
    assert account.campaigns[0].terms.cookie_window_days == 60
    assert account.campaigns[0].terms.commission_currency == "USD"


@pytest.mark.parametrize(
    ("approved", "expected"),
    [
        (True, AffiliateStatus.Approved),
        (False, AffiliateStatus.Rejected),
        (None, AffiliateStatus.Pending),
        ("maybe", None),
    ],
)
def test_approval_is_the_status(small, approved, expected):
    small.account["affiliations"].update(0, approved=approved)

    small.walk()

    assert small.record(Collection.Affiliates, "partner-0/program-0").status == expected


def test_an_affiliation_without_approval_has_an_unknown_status(walk):
    row = SourceRow(Collection.Affiliates, "ann/p", {"id": "ann/p", "affiliate": {"id": "ann"}, "program": "p"})

    assert walk.source.understand(row, walk.context).status is None


def test_an_applicant_is_pending(small):
    small.account["prospects"].append({"id": 5, "email": "new@example.com", "firstname": "Noa", "lastname": None})

    small.walk()

    record = small.record(Collection.Affiliates, "prospect-5")
    assert (record.status, record.email, record.full_name) == (AffiliateStatus.Pending, "new@example.com", "Noa")
    assert record.campaign == "program-0"


def test_the_list_of_all_affiliates_adds_email_group_and_recruiter(small):
    for index in range(2):
        person = {**small.account["affiliations"][index]["affiliate"], "email": ""}
        small.account["affiliations"].update(index, affiliate=person)

    small.walk()

    first, second = (small.record(Collection.Affiliates, f"partner-{index}/program-0") for index in range(2))
    assert (first.email, first.group.name, first.has_recruiter) == ("partner0@example.com", "Standard", False)
    assert (second.email, second.group.name, second.has_recruiter) == ("Partner1@Example.com", "Agencies", True)
    assert small.figures["group_affiliates", "Standard", ""] == 2


def test_an_affiliate_without_group_and_names_is_read(small):
    small.account["affiliates"].update(0, affiliate_group_id=None, email="", firstname=None, lastname=None)
    small.account["affiliations"].update(0, affiliate={"id": "partner-0"}, coupon=None, referral_link=None)

    small.walk()

    record = small.record(Collection.Affiliates, "partner-0/program-0")
    assert (record.email, record.full_name, record.group) == (None, "", None)
    assert (Collection.Links, "partner-0/program-0") not in small.rows


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("https://shop.example.com/?ref=Ann.B", ("ref", "Ann.B")),
        ({"link": "https://shop.example.com/a?utm=x&ref=%C3%BCn"}, ("ref", "ün")),
        ({"link": "https://shop.example.com/?tap_a=1-aa&tap_s=2-bb"}, ("tap_s", "2-bb")),
        ({"link": "https://shop.example.com/?tap_a=1-aa"}, ("tap_a", "1-aa")),
    ],
)
def test_the_code_of_a_link_is_in_its_address(small, link, expected):
    small.account["affiliations"].update(0, referral_link=link)

    small.walk()

    record = small.record(Collection.Links, "partner-0/program-0")
    assert (record.parameter, record.token) == expected
    assert record.affiliate == AffiliateRef(id="partner-0/program-0")


def test_a_link_without_a_code_is_unreadable(small):
    small.account["affiliations"].update(0, referral_link={"link": "https://shop.example.com/"})

    small.walk()

    with pytest.raises(UnreadableRow):
        small.record(Collection.Links, "partner-0/program-0")


def test_a_customer_is_named_by_the_brands_id(walk):
    walk.walk()

    record = walk.record(Collection.Customers, "cu_000000")
    assert (record.billing_id, record.claimed_id, record.email) == (None, "cus_00000000000000", None)
    assert record.affiliate == AffiliateRef(id="partner-0/program-0")
    assert record.first_paid_at is None


def test_a_customer_may_have_no_affiliate_and_no_program(small):
    small.account["customers"].update(0, affiliate=None, program=None, customer_id=None)

    small.walk()

    record = small.record(Collection.Customers, "cu_000000")
    assert (record.affiliate, record.claimed_id, record.campaign) == (None, None, "program-0")


def test_an_affiliate_whom_only_conversions_name_is_a_mention(small):
    small.account["affiliations"].delete(0)

    small.walk()

    record = small.source.understand(small.mentions()[0], small.context)
    assert (record.source_id, record.email) == ("partner-0/program-0", "partner0@example.com")
    assert (record.status, record.is_mention, record.full_name) == (AffiliateStatus.Rejected, True, "Anna Berg")


def test_a_missing_key_is_answered_with_a_page_and_a_wrong_one_with_json(walk):
    request = walk.source.account_request(walk.context.credentials)

    assert walk.fetch(request, {"apiKey": ""}).headers["Content-Type"] == "text/html"
    assert walk.fetch(request, {"apiKey": "wrong"}).json()["code"] == 401
