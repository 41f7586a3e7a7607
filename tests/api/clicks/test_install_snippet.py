"""What a brand puts on its pages. Source: tracking spec, "Install snippet"."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from uuid import uuid4

import pytest

import settings

URL = "/api/v1/r/install-snippet"


class _Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.found = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def _tags(answer):
    assert answer.status_code == 200, answer.text
    return _Tags(answer.json["snippet"]).found


def _script(answer):
    (tag, attributes), *_ = _tags(answer)
    assert tag == "script"
    return attributes


def test_the_snippet_loads_the_script_and_has_an_image_for_those_without_scripts(brand):
    program_id = brand.program(slug="spring")
    host = settings.current().web.url

    answer = brand.get(URL)

    assert _tags(answer) == [
        (
            "script",
            {
                "async": None,
                "src": f"{host}/api/v1/r/loader.js",
                "data-program-id": str(program_id),
                "data-email-capture": "auto",
            },
        ),
        ("noscript", {}),
        ("img", {"src": f"{host}/api/v1/r/c.gif?programId={program_id}", "width": "1", "height": "1", "alt": ""}),
    ]
    assert answer.json == {
        "snippet": answer.json["snippet"],
        "programId": str(program_id),
        "programSlug": "spring",
        "withPixel": False,
        "hasCustomAttributionParams": False,
        "customAttributionParams": None,
        "scriptHost": host,
        "usingTrackingDomain": False,
        "emailCapture": True,
    }


def test_without_an_id_it_is_for_the_newest_open_program(brand):
    now = datetime.now(UTC)
    open_id = brand.program(created_at=now - timedelta(days=2))
    brand.program(created_at=now - timedelta(days=3))
    brand.program(created_at=now - timedelta(days=1), is_active=False)
    brand.program(archived_at=now)
    brand.program(suspended_at=now)

    assert brand.get(URL).json["programId"] == str(open_id)


def test_a_program_can_be_asked_for_before_it_opens(brand):
    wanted_id = brand.program(is_active=False)
    brand.program()

    assert _script(brand.get(f"{URL}?programId={wanted_id}"))["data-program-id"] == str(wanted_id)


def test_without_any_program_there_is_no_snippet(brand, rival):
    archived_id = brand.program(archived_at=datetime.now(UTC))
    for query in ("", f"?programId={uuid4()}", f"?programId={archived_id}", f"?programId={rival.program()}"):
        answer = brand.get(f"{URL}{query}")

        assert (answer.status_code, answer.json["error"]) == (404, "no_program_found"), query


def test_the_pixel_needs_a_key_that_the_operator_sets(brand):
    brand.program()
    refused = brand.get(f"{URL}?withPixel=true")
    brand.set(pixelPublicKey="px_Acme-17")
    given = brand.get(f"{URL}?withPixel=true")

    assert (refused.status_code, refused.json["error"]) == (409, "pixel_not_provisioned")
    assert (_script(given)["data-pixel-org"], given.json["withPixel"]) == ("px_Acme-17", True)
    assert "data-pixel-org" not in _script(brand.get(f"{URL}?withPixel=false"))


@pytest.mark.parametrize("query", ["", "?emailCapture=true"])
def test_emails_are_captured_unless_that_is_turned_off(brand, query):
    brand.program()
    turned_off = brand.get(f"{URL}?emailCapture=false")

    assert _script(brand.get(f"{URL}{query}"))["data-email-capture"] == "auto"
    assert "data-email-capture" not in _script(turned_off)
    assert turned_off.json["emailCapture"] is False


def test_custom_parameters_are_on_the_tag(brand):
    brand.program()
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref, my-tag"})

    answer = brand.get(URL)

    assert _script(answer)["data-custom-params"] == "pk_ref,my-tag"
    assert answer.json["hasCustomAttributionParams"] is True
    assert answer.json["customAttributionParams"] == "pk_ref,my-tag"


@pytest.mark.parametrize(
    ("kept", "shown"), [('ok_1,"><script>,UP,a,été', "ok_1"), ("'onload=x", None), ("a" * 33, None)]
)
def test_custom_parameters_are_checked_once_more(brand, kept, shown):
    brand.program()
    brand.rows("update organization set attribution_params = %s returning id", kept)

    answer = brand.get(URL)

    assert _script(answer).get("data-custom-params") == shown
    assert answer.json["customAttributionParams"] == shown
    assert answer.json["hasCustomAttributionParams"] is (shown is not None)


def test_what_stands_in_an_attribute_stays_in_it(brand):
    brand.program()
    brand.rows("update organization set pixel_public_key = %s returning id", '"><img src=x onerror=alert(1)>&')

    answer = brand.get(f"{URL}?withPixel=true")

    assert _script(answer)["data-pixel-org"] == '"><img src=x onerror=alert(1)>&'
    assert [tag for tag, _ in _tags(answer)] == ["script", "noscript", "img"]


def test_a_verified_tracking_domain_is_the_host_of_the_script(brand):
    program_id = brand.program()
    domain = f"go.{uuid4().hex}.example"
    brand.set(trackingDomain=domain)
    unverified = brand.get(URL).json
    brand.set(trackingDomainVerified="on")
    verified = brand.get(URL)

    assert (unverified["scriptHost"], unverified["usingTrackingDomain"]) == (settings.current().web.url, False)
    assert (verified.json["scriptHost"], verified.json["usingTrackingDomain"]) == (f"https://{domain}", True)
    assert _script(verified)["src"] == f"https://{domain}/api/v1/r/loader.js"
    assert f"https://{domain}/api/v1/r/c.gif?programId={program_id}" in verified.json["snippet"]


def test_verified_without_a_domain_is_not_one(brand):
    brand.program()
    brand.set(trackingDomainVerified="on")

    assert brand.get(URL).json["usingTrackingDomain"] is False


@pytest.mark.parametrize(
    "query",
    [
        "programId=17",
        "programId=",
        "programId=%00",
        "withPixel=1",
        "withPixel=",
        "emailCapture=yes",
        f"emailCapture={10**18}",
    ],
)
def test_a_malformed_query_is_told_in_problem_details(brand, query):
    brand.program()

    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_whoever_reads_may_have_it_on_every_plan(brand):
    brand.program()
    brand.set(plan="Free", status="Canceled")

    for caller in (
        brand.other_key(scope="read"),
        brand.person("Viewer"),
        brand.person("Owner", is_email_verified=False),
    ):
        assert caller.get(URL).status_code == 200


def test_a_stranger_is_told_nothing(brand):
    brand.api_key = "nobody"

    answer = brand.get(URL)

    assert (answer.status_code, answer.data) == (401, b"")
