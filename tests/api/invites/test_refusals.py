"""Refusals of invites that reveal nothing: programs of other tenants, and links that were used."""

from uuid import uuid4

from tests.support.api.invite_requests import URL, accept_invite, invite, token_from_invite, unique_email, view_invite
from tests.support.rows.brands import Brand


def _invite_many(brand, program_id):
    return brand.post(f"{URL}/bulk", {"programId": program_id, "recipients": [{"email": unique_email()}]})


def test_unknown_and_other_tenants_program_get_the_same_refusal(campaign):
    rival = Brand.create(campaign.app, name="Rival")
    rival.program()

    answers = [
        send(campaign, program_id)
        for send in (lambda brand, id: invite(brand, programId=id), _invite_many)
        for program_id in (str(uuid4()), str(rival.programs[-1]))
    ]

    assert {(answer.status_code, answer.json["error"], answer.json["field"]) for answer in answers} == {
        (400, "validation_failed", "programId")
    }
    assert len({answer.json["message"] for answer in answers}) == 1
    assert campaign.rows("select count(*) from affiliate_invite") == [(0,)]


def test_preview_of_an_accepted_invite_returns_404_as_for_an_unknown_token(campaign):
    token = token_from_invite(invite(campaign))
    assert view_invite(campaign, token).status_code == 200
    accepted = accept_invite(campaign, token)

    used, unknown = view_invite(campaign, token), view_invite(campaign, "unknown")

    assert (used.status_code, used.json) == (404, unknown.json | {"message": used.json["message"]})
    assert used.json["message"] == unknown.json["message"]
    assert accept_invite(campaign, token).json == accepted.json
    assert campaign.app.test_client().get(f"/invites/{token}").status_code == 200
