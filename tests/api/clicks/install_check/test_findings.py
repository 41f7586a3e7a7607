"""Findings of an install check: the tag on the page, and whether the page's policy allows the script."""

from uuid import uuid4

import pytest

import settings

OLD = "https://old.example/api/v1/r/loader.js"


def _check(brand, address, url):
    answer = brand.post(address, {"url": url})
    assert answer.status_code == 200, answer.text
    return answer.json["check"]


def _get_finding(brand, address, url):
    return _check(brand, address, url)["finding"]


@pytest.mark.parametrize(
    "html",
    [
        "{tag}",
        "<HTML><BODY><p>unclosed {tag}",
        "<![endif]><!doctype html><!-- c -->{tag}</html>",
        "<script>var a = '<script>' + '</' + 'div>'</script>{tag}",
        "<p title='>'>{tag}",
        "\ufeff{tag}<p>été</p>",
    ],
)
def test_tag_is_found_anywhere_on_the_page(brand, address, site, tag, html):
    assert _get_finding(brand, address, site.show(html.replace("{tag}", tag))) == "Newest"


@pytest.mark.parametrize(
    "html",
    [
        "",
        "<!-- {tag} -->",
        "<script>var tag = '{url}'</script>",
        "<textarea>{url}</textarea>",
        '<script src="https://www.shop.test/other.js"></script>',
        '<link rel="preload" href="{url}">',
        '<script async data-program-id="x" src="{url}"',
        '<script src="http://[/r/loader.js"></script>',
    ],
)
def test_text_other_than_a_tag_is_not_a_tag(brand, address, site, tag, html):
    url = f"{settings.current().web.url}/api/v1/r/loader.js"

    assert _get_finding(brand, address, site.show(html.replace("{tag}", tag).replace("{url}", url))) == "NoTag"


def test_tag_of_another_or_no_program_is_a_mismatch(brand, address, program, site, tag):
    other = brand.get(f"/api/v1/r/install-snippet?programId={brand.program()}").json["snippet"]
    unknown = tag.replace(program, str(uuid4()))
    unnamed = tag.replace(f' data-program-id="{program}"', "")

    for html in (other, unknown, unnamed, tag + other):
        assert _get_finding(brand, address, site.show(html)) == "OtherProgram"


def test_tag_with_other_host_or_parameters_is_outdated(brand, address, program, site, tag):
    host = settings.current().web.url
    old_address = tag.replace(f"{host}/api/v1/r/loader.js", OLD)
    assert _get_finding(brand, address, site.show(old_address)) == "Older"

    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    assert _get_finding(brand, address, site.show(tag)) == "Older"
    newest = brand.get(f"/api/v1/r/install-snippet?programId={program}").json["snippet"]
    assert _get_finding(brand, address, site.show(newest)) == "Newest"


def test_verified_tracking_domain_makes_the_old_tag_outdated(brand, address, program, site, tag):
    brand.set(trackingDomain=f"go.{uuid4().hex}.example", trackingDomainVerified="on")
    newest = brand.get(f"/api/v1/r/install-snippet?programId={program}").json["snippet"]

    assert _get_finding(brand, address, site.show(tag)) == "Older"
    assert _get_finding(brand, address, site.show(newest)) == "Newest"


def test_email_capture_option_does_not_outdate_the_tag(brand, address, program, site):
    bare = brand.get(f"/api/v1/r/install-snippet?programId={program}&emailCapture=false").json["snippet"]

    assert _get_finding(brand, address, site.show(bare)) == "Newest"


def test_base_element_resolves_relative_script_urls(brand, address, program, site):
    host = settings.current().web.url
    html = f'<base href="{host}/x/"><script src="/api/v1/r/loader.js" data-program-id="{program.upper()}"></script>'

    assert _get_finding(brand, address, site.show(html)) == "Newest"


def test_blocking_policy_is_reported_with_the_line_to_add(brand, address, site, tag):
    host = settings.current().web.url
    url = site.show(tag, headers={"Content-Security-Policy": "default-src 'self'; img-src *"})

    check = _check(brand, address, url)

    assert check["policyAllows"] is False
    assert check["policyLines"] == [f"script-src 'self' {host}", f"connect-src 'self' {host}"]
    corrected = "; ".join(["default-src 'self'; img-src *", *check["policyLines"]])
    assert _check(brand, address, site.show(tag, headers={"Content-Security-Policy": corrected}))["policyAllows"]


def test_header_and_meta_policies_all_apply(brand, address, site, tag):
    host = settings.current().web.url
    meta = '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">'
    policies = f"script-src {host}\nconnect-src 'self'"

    check = _check(brand, address, site.show(meta + tag, headers={"Content-Security-Policy": policies}))

    assert check["policyLines"] == [f"connect-src 'self' {host}", f"script-src {host}"]


def test_malformed_policy_is_parsed_as_far_as_possible(brand, address, site, tag):
    meta = '<meta http-equiv="Content-Security-Policy" content="{}">'
    odd = meta.format("script-src a\0b &#0; &#xD800; \U0001f600")
    endless = "".join(meta.format(f"script-src {letter * 100_000}") for letter in "ab")
    many_policies = "".join(meta.format(",".join(f"script-src a{at}" for at in range(500))) for _ in range(30))

    for html in (odd, endless, many_policies):
        check = _check(brand, address, site.show(html + tag))
        assert check["policyAllows"] is False
        assert len("".join(check["policyLines"])) < 100_000
