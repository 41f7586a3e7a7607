"""The domain of a program on the dashboard: the records to set up, the records found, and a check on request."""

import html
import re
from uuid import uuid4

import pytest

from adapters import name_servers
from tests.support.outside.brand_dns import TARGET, run_name_server


@pytest.fixture
def dns(monkeypatch):
    # A form must come from the service's own origin, so the base URL stays as in the other tests.
    with run_name_server(monkeypatch, public_base_url=None, domain_target=TARGET) as server:
        yield server


@pytest.fixture
def page_path(brand):
    return f"/dashboard/programs/{brand.program(name='Knives')}/domain"


@pytest.fixture
def domain(brand):
    return f"partners.{brand.id.hex}.example"


def _domain_of(brand):
    return brand.rows("select custom_domain from program")


def _text(answer):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def _copyable_records(answer):
    return dict(re.findall(r'<input id="((?:name|value)-\w+)" value="([^"]*)" readonly', answer.text))


def test_program_without_a_domain_shows_only_the_form(people, page_path, dns):
    answer = people().open(page_path)

    assert 'name="customDomain"' in answer.text
    assert "Add a DNS record" not in answer.text
    assert "data-live" not in answer.text


def test_new_domain_shows_its_records_and_a_check_verifies_them(people, page_path, domain, dns):
    visitor = people("Manager")
    saved = visitor.send(page_path, {"customDomain": f" {domain.upper()}. "})
    waiting = visitor.open(page_path)
    records = _copyable_records(waiting)
    dns.zone[records["name-TXT"], "TXT"] = [f'"{records["value-TXT"]}"']
    checked = visitor.send(f"{page_path}/check", {})
    verified = visitor.open(page_path)

    assert (saved.status_code, saved.headers["Location"]) == (303, page_path)
    assert (records["name-CNAME"], records["value-CNAME"]) == (domain, TARGET)
    assert "Pending" in _text(waiting)
    assert (checked.status_code, checked.headers["Location"]) == (303, f"{page_path}#found")
    assert "Verified Verified by its TXT record." in _text(verified)


def test_wrong_dns_records_are_shown_and_update_live(people, page_path, domain, dns):
    visitor = people()
    visitor.send(page_path, {"customDomain": domain})
    part = re.search(r'hx-get="([^"]+)"', visitor.open(page_path).text)[1].replace("&amp;", "&")
    unchanged = visitor.open(part)
    dns.zone[domain, "CNAME"] = ["shops.example.net."]
    visitor.send(f"{page_path}/check", {})
    changed = visitor.open(part)

    assert unchanged.status_code == 204
    assert "CNAME shops.example.net" in _text(changed)
    assert "no such name" in _text(visitor.open(page_path))


def test_internationalized_domain_is_shown_in_punycode(brand, people, page_path, dns):
    people().send(page_path, {"customDomain": f"münchen.{brand.id.hex}.example"})

    assert _domain_of(brand) == [(f"xn--mnchen-3ya.{brand.id.hex}.example",)]


def test_invalid_domain_shows_an_error_and_empty_text_removes_the_domain(brand, people, page_path, domain, dns):
    visitor = people()
    for domain_typed in ("localhost", "http://x.example/", "10.0.0.1", "x", TARGET, "a..b", "\0", "x" * 3000):
        answer = visitor.send(page_path, {"customDomain": domain_typed})
        assert answer.status_code == 400, domain_typed
        assert re.findall(r'<input id="([^"]+)"[^>]*aria-invalid="true"', answer.text) == ["customDomain"], domain_typed
    visitor.send(page_path, {"customDomain": domain})
    visitor.send(page_path, {"customDomain": ""})

    assert _domain_of(brand) == [(None,)]


def test_taken_domain_and_too_many_checks_show_errors_on_the_page(people, rival, page_path, domain, dns):
    visitor = people()
    refused = visitor.send(f"{page_path}/check", {})
    rival.program(custom_domain=domain, custom_domain_verified=True)
    visitor.send(page_path, {"customDomain": domain})
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    taken = visitor.send(f"{page_path}/check", {})
    with name_servers.reading_slot(), name_servers.reading_slot(), name_servers.reading_slot():
        busy = visitor.send(f"{page_path}/check", {})

    assert (refused.status_code, taken.status_code, busy.status_code) == (409, 409, 503)
    assert "belongs to another program or organization" in _text(taken)
    assert "Rival" not in taken.text
    assert all('role="alert"' in answer.text for answer in (refused, taken, busy))


def test_viewer_sees_records_and_changes_nothing(brand, people, page_path, domain, dns):
    brand.call("PATCH", f"/api/v1/programs/{brand.programs[0]}", {"customDomain": domain})
    visitor = people("Viewer")
    answer = visitor.open(page_path)

    assert domain in answer.text
    assert "Add a DNS record" in answer.text
    assert 'name="customDomain"' not in answer.text
    assert "Check now" not in answer.text
    assert visitor.send(page_path, {"customDomain": ""}).status_code == 403
    assert visitor.send(f"{page_path}/check", {}).status_code == 403
    assert dns.queries == []


def test_unknown_or_other_brands_program_returns_404(rival, people):
    visitor = people()

    for program in (uuid4(), rival.program(), "x"):
        page = f"/dashboard/programs/{program}/domain"
        assert visitor.open(page).status_code == visitor.open(f"{page}/found").status_code == 404
        assert visitor.send(page, {"customDomain": ""}).status_code == 404
        assert visitor.send(f"{page}/check", {}).status_code == 404


def test_tracking_domain_page_is_linked_from_settings(brand, people, domain, dns):
    visitor, page = people(), "/dashboard/settings/tracking-domain"
    refused = visitor.send(page, {"trackingDomain": TARGET})
    saved = visitor.send(page, {"trackingDomain": domain})
    dns.zone[domain, "CNAME"] = [f"{TARGET}."]
    visitor.send(f"{page}/check", {})
    verified = visitor.open(page)
    part = re.search(r'hx-get="([^"]+)"', verified.text)[1].replace("&amp;", "&")

    assert f'href="{page}"' in visitor.open("/dashboard/settings/tracking").text
    assert (refused.status_code, saved.status_code) == (400, 303)
    assert "Verified Verified by its CNAME record." in _text(verified)
    assert visitor.open(part).status_code == 204
    assert brand.get("/api/v1/settings/tracking-domain").json["state"] == "Verified"


def test_only_an_owner_sets_the_tracking_domain(people, brand, domain, dns):
    brand.set(trackingDomain=domain)
    visitor, page = people("Manager"), "/dashboard/settings/tracking-domain"

    assert 'name="trackingDomain"' not in visitor.open(page).text
    assert "Check now" not in visitor.open(page).text
    assert visitor.send(page, {"trackingDomain": ""}).status_code == 403
    assert visitor.send(f"{page}/check", {}).status_code == 403
