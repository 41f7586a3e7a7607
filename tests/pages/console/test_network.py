"""Programs for the creator network on the console: reviewed, approved, rejected with a reason."""

import re

from tests.support.outside.console import list_audit_entries


def _request_listing(brand, **columns):
    brand.set(bankBalanceCents="1")
    return brand.program(network_visibility="Networked", **columns)


def _send_decision(operator, address, act, **fields):
    asked_at = re.search(r'name="askedAt" value="([^"]*)"', operator.open(address).text)
    return operator.send(f"{address}/{act}", {"_key": act, **({"askedAt": asked_at[1]} if asked_at else {}), **fields})


def test_listed_program_is_shown_approved_and_revoked(operator, brand, page_text):
    address = f"/console/network/{_request_listing(brand, name='Knives & <forks>', description='Sharp <b>ones</b>')}"
    # The list begins with the oldest requests of all brands, so this one may be on a later page.
    assert "Pending" in operator.open("/console/network").text
    html = operator.open(address).text
    approved = _send_decision(operator, address, "approve")

    assert "<h1>Knives &amp; &lt;forks&gt;</h1>" in html
    assert "Sharp &lt;b&gt;ones&lt;/b&gt;" in html
    assert (approved.status_code, approved.headers["Location"]) == (303, "/console/network")
    assert "Remove Knives" in page_text(operator.open(address))
    assert _send_decision(operator, address, "revoke", why=" ").status_code == 422
    assert _send_decision(operator, address, "revoke", why="Complaints.").status_code == 303
    assert "Complaints." in page_text(operator.open(address))
    assert "<form" not in re.sub(
        r'<form method="post" action="/(sign-out|theme)".*?</form>', "", operator.open(address).text, flags=re.DOTALL
    )
    assert brand.rows("select network_visibility, network_review from program") == [("Private", "Rejected")]


def test_rejection_needs_a_reason_and_keeps_the_form(operator, brand):
    program_id = _request_listing(brand)
    address = f"/console/network/{program_id}"
    for why in (" ", "x" * 10_000, "a\x00b"):
        answer = operator.send(f"{address}/reject", {"why": why, "_key": f"k{len(why)}"})
        assert (answer.status_code, 'aria-invalid="true"' in answer.text) == (422, True), why[:9]
    brand.call("PATCH", f"/api/v1/programs/{program_id}", {"name": "Other"})
    late = operator.send(f"{address}/reject", {"why": "no", "askedAt": "2026-01-01T00:00:00Z", "_key": "late"})
    assert (late.status_code, "Load it again" in late.text) == (422, True)
    assert _send_decision(operator, address, "reject", why="Say more.").status_code == 303
    assert list_audit_entries("program.network_rejected", program_id)[0][3]["why"] == "Say more."
    assert 'role="alert"' in operator.open("/console/network?status=Gone").text
