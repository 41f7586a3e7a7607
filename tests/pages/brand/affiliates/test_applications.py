"""Applications on the dashboard. Source: the pages' interface, "Applications"."""

import re

import pytest

_HERE = "/dashboard/affiliates/applications"


@pytest.fixture
def campaign(brand):
    """The brand with one campaign, to which Ada, Ben and Cleo have applied."""
    brand.program(name="Spring")
    for slug, name in (("cleo", "Cleo"), ("ben", "Ben Osei"), ("ada", "Ada Ek")):
        answers = {"website": "https://ada.example", "whyInterested": "I <b>like</b> it"} if slug == "ada" else None
        brand.affiliate(slug, full_name=name, status="Pending", approved_at=None, application_data=answers)
    return brand


def _id(brand, name):
    ((affiliate_id,),) = brand.rows("select id from affiliate where full_name = %s", name)
    return str(affiliate_id)


def _names(html):
    return re.findall(r'<th scope="row" role="rowheader"><a [^>]*>([^<]+)</a>', html)


def _status(brand, name):
    return brand.rows("select status, rejection_reason from affiliate where full_name = %s", name)[0]


def _buttons(html):
    without_hidden_text = re.sub(r"<span class=\"unseen\">|</span>", "", html)
    return re.findall(r"<button class=\"button slim[^>]*>((?:Approve|Reject) [^<]+)<", without_hidden_text)


def test_applications_are_listed_newest_first_with_their_answers(campaign, people):
    html = people().open(_HERE).text

    assert '<table aria-label="Applications" role="table">' in html
    assert _names(html) == ["Ada Ek", "Ben Osei", "Cleo"]
    assert _buttons(html) == [f"{verb} {name}" for name in _names(html) for verb in ("Approve", "Reject")]
    assert "I &lt;b&gt;like&lt;/b&gt; it" in html
    assert "Spring" in html


def test_approved_applicant_leaves_the_list_and_is_an_affiliate(campaign, people):
    visitor, ada, ben = people("Manager"), _id(campaign, "Ada Ek"), _id(campaign, "Ben Osei")
    answer = visitor.send(f"{_HERE}/{ada}/approve", {"_key": "k1", "at": ben})
    html = visitor.open(answer.headers["Location"]).text

    assert answer.status_code == 303
    assert _status(campaign, "Ada Ek") == ("Approved", None)
    assert _names(html) == ["Ben Osei", "Cleo"]
    assert "Ada Ek was approved." in html
    assert re.search(rf'<a href="/dashboard/affiliates/{ben}" autofocus>', html)


def test_rejected_applicant_leaves_the_list_with_the_reason(campaign, people):
    visitor, ben = people(), _id(campaign, "Ben Osei")
    answer = visitor.send(f"{_HERE}/{ben}/reject", {"_key": "k1", "reason": "No site of his own"})
    html = visitor.open(answer.headers["Location"]).text

    assert _status(campaign, "Ben Osei") == ("Rejected", "No site of his own")
    assert "Ben Osei was rejected." in html
    assert _names(html) == ["Ada Ek", "Cleo"]


def test_rejection_at_the_dashboard_emails_the_applicant_once(campaign, people):
    visitor, ben = people(), _id(campaign, "Ben Osei")
    for _ in range(2):
        assert visitor.send(f"{_HERE}/{ben}/reject", {"_key": "same", "reason": ""}).status_code == 303

    recipients = campaign.rows("select recipient from mail_message where kind = 'affiliate.rejected'")
    assert recipients == [("ben@example.com",)]


def test_double_click_decides_once(campaign, people):
    visitor, ada = people(), _id(campaign, "Ada Ek")
    for _ in range(2):
        assert visitor.send(f"{_HERE}/{ada}/approve", {"_key": "same"}).status_code == 303

    assert campaign.rows("select count(*) from audit_entry where action = 'affiliate.approved'") == [(1,)]


def test_several_applicants_are_approved_at_once(campaign, people):
    visitor = people()
    ids = [_id(campaign, name) for name in ("Ada Ek", "Cleo")]
    answer = visitor.send(f"{_HERE}/approve", {"_key": "k1", "ids": ids})
    html = visitor.open(answer.headers["Location"]).text

    assert "2 affiliates were approved." in html
    assert _names(html) == ["Ben Osei"]


def test_bulk_decision_without_selection_shows_an_error(campaign, people):
    answer = people().send(f"{_HERE}/approve", {"_key": "k1"})

    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "<title>Error: Applications" in answer.text
    assert _names(answer.text) == ["Ada Ek", "Ben Osei", "Cleo"]


def test_applicant_paused_meanwhile_is_reported_and_unchanged(campaign, people):
    visitor, ada = people(), _id(campaign, "Ada Ek")
    campaign.person("Owner").call("PATCH", f"/api/v1/affiliates/{ada}", {"status": "Paused"})
    answer = visitor.send(f"{_HERE}/{ada}/approve", {"_key": "k1"})

    assert answer.status_code == 409
    assert 'role="alert"' in answer.text
    assert _names(answer.text) == ["Ben Osei", "Cleo"]
    assert f'<form class="filters" method="get" action="{_HERE}"' in answer.text or "filters" not in answer.text


def test_too_long_reason_shows_an_error(campaign, people):
    answer = people().send(f"{_HERE}/{_id(campaign, 'Cleo')}/reject", {"_key": "k1", "reason": "x" * 1_001})

    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)
    assert _status(campaign, "Cleo") == ("Pending", None)


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_decision_about_another_brands_or_unknown_applicant_is_refused(campaign, people, rival, verb):
    rival.program()
    rivals_applicant = rival.affiliate("eva", status="Pending", approved_at=None)
    visitor = people()
    for applicant_id in (rivals_applicant, "none", "01900000-0000-7000-8000-000000000001"):
        assert visitor.send(f"{_HERE}/{applicant_id}/{verb}", {"_key": "k1"}).status_code == 404
    assert "eva@" not in visitor.open(f"{_HERE}?done=approved&who={rivals_applicant}").text


def test_viewer_reads_and_decides_nothing(campaign, people):
    visitor = people("Viewer")
    html = visitor.open(_HERE).text

    assert _names(html) == ["Ada Ek", "Ben Osei", "Cleo"]
    assert re.findall(r'<form method="post" action="([^"]+)"', html) == ["/theme", "/sign-out"]
    assert 'type="checkbox"' not in html
    assert visitor.send(f"{_HERE}/{_id(campaign, 'Cleo')}/approve", {"_key": "k"}).status_code == 403


def test_empty_list_shows_the_reason_and_the_next_step(brand, people):
    visitor = people()
    assert "No pending applications" in visitor.open(_HERE).text

    first, _ = brand.program(name="One"), brand.program(name="Two")
    brand.affiliate("ann", status="Pending", approved_at=None)
    html = visitor.open(f"{_HERE}?programId={first}").text
    assert "No applications match" in html
    assert "Show all applications" in html


@pytest.mark.parametrize(
    "query", ["programId=x", "cursor=x", "cursor=-1", "cursor=9999999999999999999", "done=many", "at=x"]
)
def test_invalid_query_shows_the_page(campaign, people, query):
    answer = people().open(f"{_HERE}?{query}")

    assert answer.status_code in (200, 400)
    assert "<h1>Applications</h1>" in answer.text


def test_page_lists_fifty_and_links_to_older(brand, people):
    brand.program()
    for number in range(51):
        brand.affiliate(f"number-{number}", full_name=f"N{number}", status="Pending", approved_at=None)
    visitor = people()
    first = visitor.open(_HERE).text
    older = re.search(r'href="([^"]+)" rel="next"', first)[1]

    assert len(_names(first)) == 50
    assert _names(visitor.open(older).text) == ["N0"]
