"""Creator network of affiliates: listing programs and applying. Source: core spec, rule 5 of programs."""

from uuid import UUID, uuid4

import pytest

from tests.support.api.applications import list_events
from tests.support.api.concurrency import run_concurrently
from tests.support.api.payouts import UNKNOWN_ID
from tests.support.outside.console import Console
from tests.support.rows.brands import Brand, Partner

_NETWORK = "/api/me/network"


@pytest.fixture
def shop(app):
    """Return a brand that may list programs, with a rarely used currency."""
    brand = Brand.create(app, name=f"Shop {uuid4().hex}")
    brand.set(bankBalanceCents="1000", currency="WST")
    return brand


@pytest.fixture
def eva(app):
    """Return a person who is not an affiliate of any brand."""
    return Partner(app, f"eva-{uuid4().hex}@example.com")


def create_listed_program(shop, **columns):
    """Create a program that an operator has approved for the network and return its id."""
    program_id = shop.program(network_visibility="Networked", **columns)
    answer = Console(shop.app).post(f"network/{program_id}/approve", {})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return str(program_id)


def _list_ids(partner, **query):
    params = "&".join(f"{name}={value}" for name, value in {"currency": "WST", **query}.items())
    answer = partner.get(f"{_NETWORK}?{params}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    return [item["programId"] for item in answer.json["items"]]


def _apply(partner, program_id, body=None, **headers):
    return partner.post(f"{_NETWORK}/{program_id}/apply", {} if body is None else body, **headers)


def _list_affiliates(shop):
    return shop.rows("select email, status, source, full_name, application_data from affiliate order by created_at")


def _list_events(shop):
    return [(type, data) for type, data in list_events(shop) if type.startswith("affiliate.")]


def test_listed_program_shows_its_terms(shop, eva):
    shop.set(subdomain=f"s{uuid4().hex[:20]}")
    program_id = create_listed_program(
        shop, name="Tea <b>", description="é" * 700, category="Food", recurring_months=12, cookie_window_days=7
    )
    (listing,) = [item for item in eva.get(f"{_NETWORK}?currency=wst").json["items"] if item["programId"] == program_id]
    details = eva.get(f"{_NETWORK}/{program_id}").json

    assert listing["terms"] == "20 % of each payment in a customer's first 12 months."
    assert (listing["name"], listing["category"], listing["currency"]) == ("Tea <b>", "Food", "WST")
    assert (listing["organizationName"], listing["cookieWindowDays"], listing["commissionValue"]) == (
        shop.rows("select name from organization")[0][0],
        7,
        20,
    )
    assert (listing["ownStatus"], listing["logoUrl"], len(listing["description"])) == (None, None, 500)
    assert listing["handle"] == shop.rows("select subdomain from organization")[0][0]
    assert details == listing | {"description": "é" * 700}


def test_listing_depends_on_plan_and_funding_of_the_brand(shop, eva):
    program_id = create_listed_program(shop)
    assert program_id in _list_ids(eva)
    for disabling, restoring in (
        ({"status": "Canceled"}, {"status": "Active"}),
        ({"status": "PastDue"}, {"status": "Active"}),
        ({"plan": "Free"}, {"plan": "Starter"}),
        ({"bankBalanceCents": "0"}, {"fundingMode": "debit"}),
        ({"fundingFrozen": "on"}, {"fundingFrozen": "off"}),
        ({"fundingMode": "balance"}, {"dealFundingSource": "cus_1/pm_1"}),
    ):
        shop.set(**disabling)
        assert program_id not in _list_ids(eva), disabling
        assert eva.get(f"{_NETWORK}/{program_id}").status_code == 404, disabling
        assert _apply(eva, program_id).status_code == 404, disabling
        program = shop.person().get(f"/api/v1/programs/{program_id}").json
        assert (program["networkVisibility"], program["networkReview"]["status"]) == ("Networked", "Approved"), (
            disabling
        )
        shop.set(**restoring)
        assert program_id in _list_ids(eva), restoring
    assert _list_affiliates(shop) == []


def test_every_unlisted_program_returns_the_same_404(shop, eva):
    hidden = {
        "archived": create_listed_program(shop),
        "closed": create_listed_program(shop),
        "suspended": create_listed_program(shop),
        "waiting": str(shop.program(network_visibility="Networked")),
        "private": str(shop.program()),
        "by invite": str(shop.program(network_visibility="InviteOnly")),
        "unknown": UNKNOWN_ID,
    }
    shop.rows("update program set archived_at = now() where id = %s returning id", hidden["archived"])
    shop.rows("update program set is_active = false where id = %s returning id", hidden["closed"])
    shop.rows("update program set suspended_at = now() where id = %s returning id", hidden["suspended"])
    messages = set()
    for state, program_id in hidden.items():
        answers = (
            eva.get(f"{_NETWORK}/{program_id}"),
            _apply(eva, program_id),
            _apply(eva, program_id, {"audience": "x"}),
        )
        assert [answer.status_code for answer in answers] == [404, 404, 404], state
        messages |= {answer.json["message"] for answer in answers}
    assert len(messages) == 1
    assert not {*hidden.values()} & {*_list_ids(eva)}
    assert _list_affiliates(shop) == []
    for malformed_id in ("none", "%00", f"{UNKNOWN_ID}x"):
        assert eva.get(f"{_NETWORK}/{malformed_id}").status_code == 404


def test_list_is_filtered_and_paged_without_gaps(shop, eva):
    tea = create_listed_program(shop, category="Food")
    ads = create_listed_program(shop, category="Food", default_commission_type="Fixed", default_commission_model="Cpl")
    old = create_listed_program(shop, category="Home", default_commission_model="RevShare")
    created = {tea, ads, old}

    def ids(**query):
        return [program_id for program_id in _list_ids(eva, take=200, **query) if program_id in created]

    assert ids() == [old, ads, tea]
    assert ids(category="Food") == [ads, tea]
    assert ids(category="Food", commissionModel="Cps") == [tea]
    assert ids(commissionModel="Cps") == [old, tea]
    assert ids(commissionModel="Cpc") == []
    assert tea not in _list_ids(eva, currency="TOP")
    first = eva.get(f"{_NETWORK}?currency=WST&take=2").json
    rest = eva.get(f"{_NETWORK}?currency=WST&take=200&cursor={first['nextCursor']}").json
    paged = [item["programId"] for page in (first, rest) for item in page["items"]]
    assert len(paged) == len({*paged})
    assert paged == _list_ids(eva, take=200)
    # Cursors are bound to a person.
    cursor = first["nextCursor"]
    other = Partner(eva.app, f"ida-{uuid4().hex}@example.com")
    for query in (
        "category=Nothing",
        "category=food",
        "commissionModel=RevShare",
        "commissionModel=",
        "currency=XXX",
        "currency=EURO",
        "currency=%00",
        "currency=e%C2%A3r",
        "take=0",
        "take=-1",
        "cursor=x",
        "cursor=%00",
        f"cursor={cursor[:-1]}",
    ):
        assert eva.get(f"{_NETWORK}?{query}").status_code == 400, query
    assert other.get(f"{_NETWORK}?cursor={cursor}").status_code == 400


def test_application_emits_events_only_once_approved(shop, eva):
    program_id = create_listed_program(shop)
    form = {
        "fullName": " Eva ",
        "website": "https://eva.example",
        "audience": " ",
        "email": "x@example.com",
        "recruitedBy": "a",
    }
    first, repeated = _apply(eva, program_id, form), _apply(eva, program_id, {"fullName": "Other"})

    assert (first.status_code, first.json) == (200, {"programId": program_id, "ownStatus": "Pending"})
    assert (repeated.status_code, repeated.json) == (200, first.json)
    ((email, status, source, name, answers),) = _list_affiliates(shop)
    assert (status, source, name, answers) == ("Pending", "Network", "Eva", {"website": "https://eva.example"})
    assert email.startswith("eva-")
    assert _list_events(shop) == []
    assert [
        item["ownStatus"] for item in eva.get(f"{_NETWORK}?take=200").json["items"] if item["programId"] == program_id
    ] == ["Pending"]
    assert [item["status"] for item in eva.get("/api/me/programs").json] == ["Pending"]

    ((affiliate_id,),) = shop.rows("select id from affiliate")
    assert shop.post(f"/api/v1/affiliates/{affiliate_id}/approve").status_code == 200
    created, approved = _list_events(shop)
    ((slug,),) = shop.rows("select slug from tracking_link")
    assert created[0] == "affiliate.created"
    assert created[1] == {
        "affiliateId": str(affiliate_id),
        "programId": program_id,
        "email": email,
        "fullName": "Eva",
        "status": "Approved",
        "slug": slug,
        "applicationAnswers": {"website": "https://eva.example"},
    }
    assert (approved[0], approved[1].get("autoApproved")) == ("affiliate.approved", None)
    # Only once: a repeated approval emits no second event.
    for status in ("Paused", "Approved", "Rejected", "Approved"):
        assert shop.call("PATCH", f"/api/v1/affiliates/{affiliate_id}", {"status": status}).status_code == 200
    assert [type for type, _ in _list_events(shop)].count("affiliate.created") == 1


def test_bulk_approval_emits_events_of_applications(shop, app):
    program_id = create_listed_program(shop)
    applicants = [Partner(app, f"p{n}-{uuid4().hex}@example.com") for n in range(2)]
    assert [_apply(partner, program_id).status_code for partner in applicants] == [200, 200]
    direct = str(shop.affiliate("dan", program_id=UUID(program_id), status="Pending", approved_at=None))
    ids = [str(id) for (id,) in shop.rows("select id from affiliate order by id")]

    answer = shop.person("Manager").post("/api/affiliates/bulk/approve", {"ids": ids})

    assert answer.status_code == 200, answer.json
    types = [(type, data["affiliateId"] == direct) for type, data in _list_events(shop)]
    assert sorted(types) == [
        ("affiliate.approved", False),
        ("affiliate.approved", False),
        ("affiliate.approved", True),
        ("affiliate.created", False),
        ("affiliate.created", False),
    ]
    assert {data["slug"] for type, data in _list_events(shop) if type == "affiliate.created"} <= {
        slug for (slug,) in shop.rows("select slug from tracking_link")
    }


def test_auto_approved_application_emits_events_at_once(shop, eva):
    program_id = create_listed_program(shop, auto_approve=True)

    assert _apply(eva, program_id, {"customAlias": f"eva-{uuid4().hex[:12]}"}).json["ownStatus"] == "Approved"
    (created, approved) = _list_events(shop)
    assert (created[0], created[1]["status"], "source" in created[1]) == ("affiliate.created", "Approved", False)
    assert (approved[0], approved[1]["autoApproved"]) == ("affiliate.approved", True)
    assert shop.rows("select count(*) from mail_message where kind = 'affiliate.approved'") == [(1,)]


def test_concurrent_applications_create_one_affiliate(shop, eva):
    program_id = create_listed_program(shop, auto_approve=True)

    answers = run_concurrently(*[lambda: _apply(eva, program_id) for _ in range(4)])

    assert {(answer.status_code, answer.json["ownStatus"]) for answer in answers} == {(200, "Approved")}
    assert len(_list_affiliates(shop)) == 1
    assert [type for type, _ in _list_events(shop)] == ["affiliate.created", "affiliate.approved"]


def test_application_does_not_change_a_banned_paused_or_rejected_affiliate(shop, app):
    program_id = create_listed_program(shop, auto_approve=True)
    other = shop.program()
    for status in ("Banned", "Paused", "Rejected", "Pending"):
        slug = f"{status.lower()}-{uuid4().hex[:12]}"
        person = Partner(app, f"{slug}@example.com")
        shop.affiliate(slug, program_id=other, status=status)
        shop.affiliate(
            f"{slug}-in", program_id=UUID(program_id), status=status, email=f"{slug}@example.com", approved_at=None
        )

        answer = _apply(person, program_id)
        assert (answer.status_code, answer.json["ownStatus"]) == (200, status)
    assert shop.rows("select count(*) from affiliate where status = 'Approved'") == [(0,)]

    # A ban by the same brand in another program blocks the application; a ban by another brand does not.
    name = f"bea-{uuid4().hex[:12]}"
    shop.affiliate(name, program_id=other, status="Banned")
    refused = _apply(Partner(app, f"{name}@example.com"), program_id)
    assert (refused.status_code, refused.json["error"]) == (403, "affiliate_not_active")
    assert refused.json["message"] == "This brand does not accept applications from you."
    rival = Brand.create(app)
    rival.program()
    name = f"ros-{uuid4().hex[:12]}"
    rival.affiliate(name, status="Banned")
    assert _apply(Partner(app, f"{name}@example.com"), program_id).json["ownStatus"] == "Approved"


def test_application_obeys_the_rules_of_the_public_form(shop, eva, app):
    program_id = create_listed_program(shop)
    taken = f"ben-{uuid4().hex[:12]}"
    shop.affiliate(taken, program_id=UUID(program_id))
    for body in (
        {"fullName": "x" * 201},
        {"fullName": 7},
        {"website": "w" * 2049},
        {"audience": "a\x00b"},
        {"whyInterested": ["x"]},
        {"customAlias": "A b"},
        {"customAlias": "admin"},
    ):
        assert _apply(eva, program_id, body).status_code == 400, body
    assert eva.post(f"{_NETWORK}/{program_id}/apply", b"[1").status_code == 400
    refused = _apply(eva, program_id, {"customAlias": taken})
    assert (refused.status_code, refused.json["error"]) == (409, "alias_already_taken")
    assert _apply(Partner(app, f"u-{uuid4().hex}@example.com", is_email_verified=False), program_id).status_code == 403
    assert shop.post(f"{_NETWORK}/{program_id}/apply", {}).status_code in (401, 403)
    assert app.test_client().get(_NETWORK).status_code == 401
    shop.set(affiliateLimit="1")
    at_capacity = _apply(eva, program_id)
    assert (at_capacity.status_code, at_capacity.json["error"]) == (409, "program_at_capacity")
    assert len(_list_affiliates(shop)) == 1
