"""A number is refused as a slug on every route; an existing numeric slug keeps working.

Shops put their own numbers into the field in which gateways carry a slug.
Source: core spec, "Affiliate invites" (slug_reserved); tracking spec, "Attribution method taxonomy".
"""

from uuid import uuid4

import pytest

from pipelines.affiliates import enrollment
from tests.support.api.agents import Agent
from tests.support.api.applications import apply
from tests.support.api.embed_tokens import call_embed_api, issue_token
from tests.support.api.import_requests import build_person_row, import_people
from tests.support.api.invite_requests import accept_invite, invite, token_from_invite, unique_email
from tests.support.outside.console import Console
from tests.support.rows.brands import Partner

NUMBER = "54830"


@pytest.fixture
def campaign(brand):
    """Return the brand with a campaign in the network and ann as its affiliate."""
    brand.set(plan="Pro", bankBalanceCents="1000")
    program_id = brand.program(network_visibility="Networked")
    assert Console(brand.app).post(f"network/{program_id}/approve", {}).status_code == 200
    brand.affiliate("ann", email=unique_email("ann"))
    return brand


def _find_ann_id(campaign):
    return campaign.rows("select id from affiliate")[0][0]


def _sign_in_as_ann(campaign):
    return Partner(campaign.app, campaign.rows("select email from affiliate")[0][0])


def _create_affiliate(campaign, slug):
    body = {"programId": str(campaign.programs[0]), "email": unique_email(), "customAlias": slug}
    return campaign.post("/api/v1/affiliates", body)


def _create_link(campaign, slug):
    return campaign.post(f"/api/v1/affiliates/{_find_ann_id(campaign)}/links", {"customAlias": slug})


def _create_own_link(campaign, slug):
    return _sign_in_as_ann(campaign).post(
        "/api/me/links", {"programId": str(campaign.programs[0]), "customAlias": slug}
    )


def _create_embedded_link(campaign, slug):
    token = issue_token(campaign, _find_ann_id(campaign))["token"]
    return call_embed_api(campaign.app, token, "/links", method="POST", body={"customAlias": slug})


def _apply(campaign, slug):
    return apply(campaign, email=unique_email(), customAlias=slug)


def _apply_in_network(campaign, slug):
    stranger = Partner(campaign.app, unique_email())
    return stranger.post(f"/api/me/network/{campaign.programs[0]}/apply", {"customAlias": slug})


def _send_invite(campaign, slug):
    return invite(campaign, slug=slug)


_REQUESTS = (
    _create_affiliate,
    _create_link,
    _create_own_link,
    _create_embedded_link,
    _apply,
    _apply_in_network,
    _send_invite,
)


@pytest.mark.parametrize("send_request", _REQUESTS)
@pytest.mark.parametrize("number", [NUMBER, "007", "9" * 64])
def test_number_as_slug_is_refused(campaign, send_request, number):
    answer = send_request(campaign, number)

    field = "slug" if send_request is _send_invite else "customAlias"
    assert (answer.status_code, answer.json["error"], answer.json["field"]) == (400, "slug_reserved", field)
    assert campaign.rows("select count(*) from tracking_link") == [(1,)]


@pytest.mark.parametrize("send_request", _REQUESTS)
def test_number_with_a_letter_or_a_hyphen_is_a_slug(campaign, send_request):
    assert send_request(campaign, f"5-{uuid4().hex[:12]}").status_code in (200, 201)


def test_operations_with_an_alias_document_slug_reserved(campaign):
    description = campaign.app.test_client().get("/api/openapi.json").json
    schemas = description["components"]["schemas"]
    is_documented = {}
    for operations in description["paths"].values():
        for operation in operations.values():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = schemas.get(content.get("schema", {}).get("$ref", "").rpartition("/")[2], {})
            if "customAlias" in schema.get("properties", {}):
                is_documented[operation["operationId"]] = "slug_reserved" in str(operation["responses"]["400"])

    assert len(is_documented) >= 6
    assert all(is_documented.values()), is_documented


def test_agent_cannot_use_a_number_as_alias(campaign):
    agent = Agent(campaign)

    refused = agent.get_refusal_code(
        "create_affiliate", programId=str(campaign.programs[0]), email=unique_email(), customAlias=NUMBER
    )

    assert refused == "slug_reserved"


def test_number_in_a_batch_of_invites_is_a_conflict(campaign):
    body = {"programId": str(campaign.programs[0]), "recipients": [{"email": unique_email(), "slug": NUMBER}]}

    answer = campaign.post("/api/affiliate-invites/bulk", body)

    assert [(item["requestedSlug"], item["reason"]) for item in answer.json["slugConflicts"]] == [
        (NUMBER, "slug_reserved")
    ]
    assert [item["slug"] for item in answer.json["invites"]] == [None]


def test_old_invite_with_a_number_gets_another_slug(campaign):
    email = unique_email()
    token = token_from_invite(invite(campaign, email=email))
    campaign.rows("update affiliate_invite set slug = %s returning id", NUMBER)

    answer = accept_invite(campaign, token)

    assert (answer.status_code, answer.json["warning"]) == (200, "slug_unavailable")
    assert not answer.json["slug"].isdigit()


def test_imported_affiliate_with_a_numeric_slug_gets_another(campaign):
    assert import_people(campaign, build_person_row("new", slug=NUMBER)).json["imported"] == 1

    ((slug,),) = campaign.rows("select slug from tracking_link where slug <> 'ann'")
    assert not slug.isdigit()


def test_existing_numeric_slug_still_works(campaign):
    campaign.rows("update tracking_link set slug = %s returning id", NUMBER)
    second = campaign.program()
    email = campaign.rows("select email from affiliate")[0][0]

    joined = campaign.post("/api/v1/affiliates", {"programId": str(second), "email": email})

    assert [link["slug"] for link in joined.json["links"]] == [NUMBER]
    assert campaign.sale(affiliateSlug=NUMBER).status_code == 200


def test_random_slug_is_never_a_number(monkeypatch):
    letters = iter("2" * 8 + "a" * 8)
    monkeypatch.setattr(enrollment.secrets, "choice", lambda _: next(letters))

    assert enrollment.random_slug() == "a" * 8
