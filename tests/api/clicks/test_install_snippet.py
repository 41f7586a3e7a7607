"""The install snippet for a brand's pages. Source: tracking spec, "Install snippet"."""

from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from uuid import uuid4

import pytest

import settings

URL = "/api/v1/r/install-snippet"


class _Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def _parse_tags(answer):
    assert answer.status_code == 200, answer.text
    return _Tags(answer.json["snippet"]).tags


def _get_script_attributes(answer):
    (tag, attributes), *_ = _parse_tags(answer)
    assert tag == "script"
    return attributes


def test_snippet_loads_the_script_and_has_a_noscript_image(brand):
    program_id = brand.program(slug="spring")
    host = settings.current().web.url

    answer = brand.get(URL)

    assert _parse_tags(answer) == [
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
        "attributes": {
            "src": f"{host}/api/v1/r/loader.js",
            "data-program-id": str(program_id),
            "data-email-capture": "auto",
        },
        "consentRequired": False,
        "respectGpc": False,
        "programId": str(program_id),
        "programSlug": "spring",
        "withPixel": False,
        "hasCustomAttributionParams": False,
        "customAttributionParams": None,
        "scriptHost": host,
        "usingTrackingDomain": False,
        "emailCapture": True,
    }


def test_snippet_without_id_is_for_the_newest_open_program(brand):
    now = datetime.now(UTC)
    open_id = brand.program(created_at=now - timedelta(days=2))
    brand.program(created_at=now - timedelta(days=3))
    brand.program(created_at=now - timedelta(days=1), is_active=False)
    brand.program(archived_at=now)
    brand.program(suspended_at=now)

    assert brand.get(URL).json["programId"] == str(open_id)


def test_snippet_is_available_before_the_program_opens(brand):
    program_id = brand.program(is_active=False)
    brand.program()

    assert _get_script_attributes(brand.get(f"{URL}?programId={program_id}"))["data-program-id"] == str(program_id)


def test_snippet_without_any_program_returns_404(brand, rival):
    archived_id = brand.program(archived_at=datetime.now(UTC))
    for query in ("", f"?programId={uuid4()}", f"?programId={archived_id}", f"?programId={rival.program()}"):
        answer = brand.get(f"{URL}{query}")

        assert (answer.status_code, answer.json["error"]) == (404, "no_program_found"), query


def test_pixel_requires_a_key_set_by_the_operator(brand):
    brand.program()
    refused = brand.get(f"{URL}?withPixel=true")
    brand.set(pixelPublicKey="px_Acme-17")
    with_pixel = brand.get(f"{URL}?withPixel=true")

    assert (refused.status_code, refused.json["error"]) == (409, "pixel_not_provisioned")
    assert (_get_script_attributes(with_pixel)["data-pixel-org"], with_pixel.json["withPixel"]) == ("px_Acme-17", True)
    assert "data-pixel-org" not in _get_script_attributes(brand.get(f"{URL}?withPixel=false"))


@pytest.mark.parametrize("query", ["", "?emailCapture=true"])
def test_email_capture_is_on_unless_turned_off(brand, query):
    brand.program()
    turned_off = brand.get(f"{URL}?emailCapture=false")

    assert _get_script_attributes(brand.get(f"{URL}{query}"))["data-email-capture"] == "auto"
    assert "data-email-capture" not in _get_script_attributes(turned_off)
    assert turned_off.json["emailCapture"] is False


def test_custom_parameters_are_on_the_tag(brand):
    brand.program()
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref, my-tag"})

    answer = brand.get(URL)

    assert _get_script_attributes(answer)["data-custom-params"] == "pk_ref,my-tag"
    assert answer.json["hasCustomAttributionParams"] is True
    assert answer.json["customAttributionParams"] == "pk_ref,my-tag"


@pytest.mark.parametrize(
    ("stored", "returned"), [('ok_1,"><script>,UP,a,été', "ok_1"), ("'onload=x", None), ("a" * 33, None)]
)
def test_stored_custom_parameters_are_validated_again(brand, stored, returned):
    brand.program()
    brand.rows("update organization set attribution_params = %s returning id", stored)

    answer = brand.get(URL)

    assert _get_script_attributes(answer).get("data-custom-params") == returned
    assert answer.json["customAttributionParams"] == returned
    assert answer.json["hasCustomAttributionParams"] is (returned is not None)


def test_attribute_values_are_escaped(brand):
    brand.program()
    brand.rows("update organization set pixel_public_key = %s returning id", '"><img src=x onerror=alert(1)>&')

    answer = brand.get(f"{URL}?withPixel=true")

    assert _get_script_attributes(answer)["data-pixel-org"] == '"><img src=x onerror=alert(1)>&'
    assert [tag for tag, _ in _parse_tags(answer)] == ["script", "noscript", "img"]


def test_verified_tracking_domain_is_the_script_host(brand):
    program_id = brand.program()
    domain = f"go.{uuid4().hex}.example"
    brand.set(trackingDomain=domain)
    unverified = brand.get(URL).json
    brand.set(trackingDomainVerified="on")
    verified = brand.get(URL)

    assert (unverified["scriptHost"], unverified["usingTrackingDomain"]) == (settings.current().web.url, False)
    assert (verified.json["scriptHost"], verified.json["usingTrackingDomain"]) == (f"https://{domain}", True)
    assert _get_script_attributes(verified)["src"] == f"https://{domain}/api/v1/r/loader.js"
    assert f"https://{domain}/api/v1/r/c.gif?programId={program_id}" in verified.json["snippet"]


def test_verification_without_a_domain_is_ignored(brand):
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
def test_malformed_query_returns_problem_details(brand, query):
    brand.program()

    answer = brand.get(f"{URL}?{query}")

    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")


def test_every_reader_gets_the_snippet_on_every_plan(brand):
    brand.program()
    brand.set(plan="Free", status="Canceled")

    for caller in (
        brand.other_key(scope="read"),
        brand.person("Viewer"),
        brand.person("Owner", is_email_verified=False),
    ):
        assert caller.get(URL).status_code == 200


def test_unauthenticated_caller_is_refused(brand):
    brand.api_key = "nobody"

    answer = brand.get(URL)

    assert (answer.status_code, answer.data) == (401, b"")


@pytest.mark.parametrize(
    ("query", "attributes"),
    [
        ("consentRequired=true", {"data-consent": "required"}),
        ("respectGpc=true", {"data-respect": "gpc"}),
        ("consentRequired=true&respectGpc=true", {"data-consent": "required", "data-respect": "gpc"}),
    ],
)
def test_consent_options_change_the_tag_and_leave_out_the_image_that_cannot_ask(brand, query, attributes):
    brand.program()

    answer = brand.get(f"{URL}?{query}")

    script = _get_script_attributes(answer)
    assert {name: value for name, value in script.items() if name in ("data-consent", "data-respect")} == attributes
    assert "noscript" not in answer.json["snippet"]
    assert answer.json["attributes"] == {name: value for name, value in script.items() if name != "async"}
    assert (answer.json["consentRequired"], answer.json["respectGpc"]) == (
        "data-consent" in attributes,
        "data-respect" in attributes,
    )


@pytest.mark.parametrize("name", ["consentRequired", "respectGpc"])
def test_malformed_consent_option_is_refused(brand, name):
    brand.program()

    assert brand.get(f"{URL}?{name}=maybe").status_code == 400
