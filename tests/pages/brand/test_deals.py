"""Deals on the dashboard, from the draft to the payment."""

import re

import pytest

from models import db
from tests.support.job_queues import drain
from tests.support.rows.deal_scene import REASON, DealScene

_HERE = "/dashboard/deals"


@pytest.fixture
def work(app):
    """A brand that makes deals, and its creator."""
    return DealScene.create(app)


@pytest.fixture
def people(visitor, flask, work):
    """Return a function that signs a member of that brand in and returns the browser."""

    def sign_in(role="Owner"):
        visitor.open(flask.json("sign-in", "owner", "--org", work.brand.id, "--role", role)["url"])
        return visitor

    return sign_in


def _form(work, **typed):
    ((email,),) = work.brand.rows("select email from affiliate where id = %s", work.affiliate_id)
    form = {"_key": "k", "programId": str(work.program_id), "email": email, "title": "Video", "currency": "eur"}
    parts = {"title1": "Script", "amount1": "100.50", "due1": "2099-01-31", "title2": "Cut", "amount2": "50"}
    return form | parts | typed


def test_deal_is_drafted_offered_and_withdrawn(work, people):
    visitor = people("Manager")
    assert "No deals yet" in visitor.open(_HERE).text
    answer = visitor.send(f"{_HERE}/new", _form(work))
    assert answer.status_code == 303, answer.text
    page = answer.headers["Location"].partition("?")[0]

    html = visitor.open(page).text
    assert "<h1>Video</h1>" in html
    assert re.findall(r"<h3>([^<]+)</h3>", html) == ["1. Script", "2. Cut"]
    assert "100.50 EUR" in html
    for act, status in (("offer", "Offered"), ("cancel", "Cancelled")):
        assert visitor.send(f"{page}/act", {"_key": act, "act": act}).status_code == 303
        assert f">{status}</span>" in visitor.open(page).text
    assert ">Video</a>" in visitor.open(f"{_HERE}?status=Cancelled").text
    assert "No deals match" in visitor.open(f"{_HERE}?status=Draft").text


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"email": "zoe@example.com"}, "email"),
        ({"currency": "XXQ"}, "currency"),
        ({"title": " "}, "title"),
        ({"amount1": "much"}, "title1"),
        ({"amount1": "1.234"}, "title1"),
        ({"amount1": "0"}, "title1"),
        ({"title1": "", "amount1": "", "due1": "", "title2": "", "amount2": ""}, "title1"),
    ],
)
def test_invalid_value_shows_an_error_at_its_field(work, people, typed, field):
    answer = people().send(f"{_HERE}/new", _form(work, **typed))

    assert answer.status_code in (400, 422)
    assert re.search(rf'id="{field}"[^>]*aria-invalid="true"', answer.text), answer.text
    assert work.brand.rows("select count(*) from deal") == [(0,)]


def test_owner_with_an_old_login_funds_after_a_fresh_login(work, people):
    deal_id = work.create_accepted(50_000)
    visitor, page = people(), f"{_HERE}/{deal_id}"
    with db.any_org_work():
        db.db.run(
            "update web_session set signed_in_at = now() - interval '61 minutes' where organization_id = %s",
            (work.brand.id,),
        )
    form = {"act": "fund", "_page": page}
    assert f'<input type="hidden" name="_page" value="{page}">' in visitor.open(page).text
    redirect = visitor.send(f"{page}/act", form | {"_key": "f"})

    assert (redirect.status_code, redirect.headers["Location"].partition("?")[0]) == (303, "/sign-in")
    assert work.brand.rows("select count(*) from deal_request") == [(0,)]
    assert people().open(page).status_code == 200
    assert visitor.client.get_cookie("finderfee-kept") is None
    assert visitor.send(f"{page}/act", form | {"_key": "g"}).headers["Location"] == f"{page}?done=fund"
    assert work.brand.rows("select count(*) from deal_request") == [(1,)]


def test_owner_funds_and_releases_a_deal(work, people):
    deal_id = work.create_accepted(50_000)
    visitor, page = people(), f"{_HERE}/{deal_id}"
    assert visitor.send(f"{page}/act", {"_key": "f", "act": "fund"}).status_code == 303
    drain("payouts")
    assert ">Funded</span>" in visitor.open(page).text

    assert work.submit(deal_id).status_code == 200
    assert "1 submission" in visitor.open(_HERE).text
    assert visitor.send(f"{page}/milestones/1/approve", {"_key": "a"}).status_code == 303
    drain("payouts")
    html = visitor.open(page).text
    assert ">Completed</span>" in html
    assert re.search(r'<dt class="small dim">Paid</dt><dd>500.00 USD</dd>', html)


def test_submission_is_sent_back_and_disputed(work, people):
    deal_id = work.create_funded(50_000)
    work.submit(deal_id)
    visitor, page = people("Manager"), f"{_HERE}/{deal_id}/milestones/1"
    empty = visitor.send(f"{page}/changes", {"_key": "e", "note": " "})
    assert empty.status_code == 400
    assert re.search(r'id="part1-note"[^>]*aria-invalid="true"', empty.text)
    assert visitor.send(f"{page}/changes", {"_key": "c", "note": "Louder"}).status_code == 303
    assert "Louder" in visitor.open(f"{_HERE}/{deal_id}").text

    refused = visitor.send(f"{page}/dispute", {"_key": "d", "reason": "", "proposedResolution": "Half"})
    assert (refused.status_code, "Half" in refused.text) == (400, True)
    assert visitor.send(f"{page}/dispute", {"_key": "g", **REASON}).status_code == 303
    assert work.list_statuses(deal_id) == ["Disputed"]


def test_action_in_the_wrong_state_shows_a_refusal(work, people):
    deal_id = work.draft(50_000)
    visitor = people()
    answer = visitor.send(f"{_HERE}/{deal_id}/act", {"_key": "f", "act": "fund"})

    assert (answer.status_code, 'role="alert"' in answer.text) == (409, True)
    assert visitor.send(f"{_HERE}/{deal_id}/act", {"_key": "x", "act": "dance"}).status_code == 404
    assert visitor.send(f"{_HERE}/{deal_id}/milestones/9/approve", {"_key": "m"}).status_code == 404


def test_manager_cannot_fund_and_viewer_cannot_change_a_deal(work, people):
    deal_id = work.create_accepted(50_000)
    manager = people("Manager")
    assert "Fund" not in re.findall(r"<button[^>]*>(\w+)", manager.open(f"{_HERE}/{deal_id}").text)
    assert manager.send(f"{_HERE}/{deal_id}/act", {"_key": "f", "act": "fund"}).status_code == 403

    viewer = people("Viewer")
    for path in (_HERE, f"{_HERE}/{deal_id}", f"{_HERE}/new"):
        html = viewer.open(path).text
        assert re.findall(r'<form method="post" action="([^"]+)"', html) == ["/theme", "/sign-out"], path


def test_another_brands_deal_returns_404(work, visitor, links):
    deal_id = work.draft(50_000)
    visitor.open(links("owner"))

    assert visitor.open(f"{_HERE}/{deal_id}").status_code == 404
    assert visitor.send(f"{_HERE}/{deal_id}/act", {"_key": "k", "act": "offer"}).status_code == 404


@pytest.mark.parametrize("query", ["status=x", "programId=x", "cursor=x"])
def test_invalid_filter_shows_an_error(people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)
