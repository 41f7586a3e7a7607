"""Links as users send them, several campaigns on one site, and pages that change their address without loading.

Source: tracking spec, "Browser lead capture", "Install snippet" and "Attribution parameters".
"""

from urllib.parse import quote

import pytest

from tests.support.outside.shop_site import SOON_MS
from tests.support.rows.link_visits import SLUG_IN_TEXT

_APP = """<a id="go" onclick="history.{change}(null, '', '{address}')">Go</a>"""


def test_script_reads_a_slug_between_other_text(shop):
    addresses = [f"/?x=1&via={quote(text.format(shop.ben.upper()))}" for text in SLUG_IN_TEXT]
    addresses += [f"/via/{quote(text.format(shop.ben), safe='')}" for text in SLUG_IN_TEXT]
    addresses += [
        f"/?x=1&amp;via={shop.ben}",
        f"/?x=1&#038;via={shop.ben}",
        f"/?x=1&amp%3Bvia={shop.ben}",
        f"/?via={shop.ben}%252F",
        f"/mugs/VIA/{shop.ben}).?utm_source=x",
        f"/#/via/{shop.ben}",
    ]
    for address in addresses:
        assert shop.visit(address) == shop.ben, address
        shop.reset_visitor()


def test_script_tries_each_slug_of_an_address_until_one_exists(shop):
    assert shop.visit(f"/via/{shop.eva}?via=nobody-here&ref={shop.ben}&aff=nobody-either") == shop.ben
    assert [click["slug"] for click in shop.clicks] == ["nobody-here", shop.ben]


def test_script_tries_at_most_five_slugs_once(shop):
    names = ("via", "ref", "fpr", "aff", "affid", "partner")
    address = "/?" + "&".join(f"{name}=nobody-{name}" for name in names)

    assert shop.visit(address) is None
    shop.page.reload()
    assert shop.wait_for_slug() is None
    assert [click["slug"] for click in shop.clicks] == [f"nobody-{name}" for name in names[:5]]


def test_invalid_stored_slug_is_ignored(shop):
    shop.visit("/")
    shop.page.evaluate(
        "localStorage.finderfee_ref = JSON.stringify({slug: 'ben><img src=x>', ts: Date.now(), days: 30})"
    )
    assert shop.visit("/about") is None
    for stored in ("{}", "1", "null", '{"slug":7}'):
        shop.page.evaluate("stored => { localStorage.finderfee_ref = stored }", stored)
        assert shop.visit("/about") is None, stored


@pytest.mark.parametrize("change", ["pushState", "replaceState"])
def test_referral_without_a_page_load_is_one_click(shop, change):
    address = f"/welcome?via={shop.ben}&subid=tube"
    shop.show(body=_APP.format(change=change, address=address))
    assert shop.visit("/") is None

    for _ in range(3):
        shop.page.click("#go")
    shop.wait_until(lambda: shop.call_script("slug"))
    shop.page.wait_for_timeout(SOON_MS)  # time enough for a second click

    assert (shop.call_script("slug"), shop.call_script("subId"), shop.page.evaluate("location.pathname")) == (
        shop.ben,
        "tube",
        "/welcome",
    )
    assert [(click["slug"], click["url"].partition("/welcome")[2]) for click in shop.clicks] == [
        (shop.ben, "?via=1&subid=1")
    ]
    assert len(shop.seen) == 1


def test_unchanged_slug_counts_no_second_click(shop):
    shop.visit(f"/?via={shop.ben}")
    for address in ("/", f"/a?via={shop.ben}", "/b", f"/c?via={shop.ben}#x", f"/d?via=nobody-here&ref={shop.ben}"):
        shop.page.evaluate("address => history.pushState(null, '', address)", address)
    shop.page.go_back()
    shop.page.wait_for_timeout(SOON_MS)

    assert [click["slug"] for click in shop.clicks] == [shop.ben]


def test_second_slug_replaces_the_first_by_its_campaigns_rules(shop, brand):
    brand.rows("update program set attribution_model = 'LastTouch' returning id")
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("address => history.pushState(null, '', address)", f"/?via={shop.eva}")
    shop.wait_until(lambda: shop.call_script("slug") == shop.eva)

    assert shop.call_script("slug") == shop.eva
    assert [click["slug"] for click in shop.clicks] == [shop.ben, shop.eva]


def test_referral_reached_by_the_back_button_counts(shop):
    shop.show(
        before=f"<script>history.replaceState(null, '', '/?via={shop.ben}'); history.pushState(null, '', '/x')</script>"
    )
    assert shop.visit("/") is None

    shop.page.go_back()
    shop.wait_until(lambda: shop.call_script("slug"))

    assert (shop.call_script("slug"), len(shop.clicks)) == (shop.ben, 1)


def test_referral_before_consent_survives_navigation(shop):
    shop.show('data-consent="required"')
    shop.visit(f"/?via={shop.ben}&gclid=7")
    shop.page.evaluate("history.replaceState(null, '', '/clean')")
    assert (shop.clicks, shop.cookies(), shop.count_stored()) == ([], {}, 0)

    shop.call_script("consent", True)

    assert shop.wait_for_slug() == shop.ben
    assert [click["url"].partition("?")[2] for click in shop.clicks] == ["via=1&gclid=1"]


def test_page_history_still_works(shop):
    shop.show(before="<script>history.pushState = (pushState => function () { pushState.apply(this, arguments); "
                     "return 'pages own' })(history.pushState)</script>")  # fmt: skip
    shop.visit("/")

    assert shop.page.evaluate("history.pushState({a: 1}, '', '/next')") == "pages own"
    assert shop.page.evaluate("[history.state.a, location.pathname]") == [1, "/next"]
    push_other_origin = (
        "try { history.pushState(null, '', 'https://elsewhere.test/') } catch (error) { return error.name }"
    )
    assert shop.page.evaluate(f"(() => {{ {push_other_origin} }})()") == "SecurityError"


def test_two_tags_count_one_visit_per_campaign(shop, brand, drain):
    second = brand.program(cookie_window_days=7)
    cyd = f"cyd-{second.hex[-12:]}"
    brand.affiliate(cyd)
    shop.show(body=f'<script async src="{shop.service}/api/v1/r/loader.js" data-program-id="{second}"></script>')

    for slug, program_id in ((shop.ben, shop.program_id), (cyd, second)):
        shop.clicks.clear()
        assert shop.visit(f"/?via={slug}") == slug
        shop.page.wait_for_timeout(SOON_MS)  # time enough for a second click
        assert len(shop.clicks) == 1
        shop.call_script("convert", f"{slug}@example.com")
        shop.wait_until(lambda: shop.leads)
        assert [lead["programId"] for lead in shop.leads] == [str(program_id)]
        shop.leads.clear()
        shop.reset_visitor()
    drain()

    assert dict(brand.rows("select email, program_id from lead")) == {
        f"{shop.ben}@example.com": shop.program_id,
        f"{cyd}@example.com": second,
    }
