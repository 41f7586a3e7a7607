"""The script for brands' pages without consent, without storage, and without a reachable service."""

import pytest

from tests.support.outside.shop_site import SHOP, SOON_MS, STUB, ShopSite
from tests.support.pages.navigation import expect_page_load


def test_refusal_before_the_script_loads_is_respected(shop):
    shop.show(before=f"{STUB}<script>Finderfee('consent', false); Finderfee('convert', 'ann@example.com')</script>")

    assert shop.visit(f"/?via={shop.ben}") is None
    assert (shop.wait_for_leads(0), shop.clicks, shop.cookies(), shop.count_stored()) == ([], [], {}, 0)


def test_required_consent_blocks_storage_and_requests(shop):
    shop.show('data-consent="required"')
    shop.visit(f"/?via={shop.ben}")
    shop.call_script("convert", "ann@example.com")
    assert (shop.wait_for_leads(0), shop.clicks, shop.cookies(), shop.count_stored()) == ([], [], {}, 0)

    shop.call_script("consent", True)

    assert shop.wait_for_slug() == shop.ben
    assert shop.wait_for_leads(1) == ["ann@example.com"]
    assert len(shop.clicks) == 1


_GPC = "<script>Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})</script>"


def test_privacy_signal_counts_as_refusal_when_respected(shop):
    shop.visit(f"/?via={shop.ben}")
    assert shop.cookies()
    shop.clicks.clear()
    shop.seen.clear()
    shop.show('data-respect="gpc"', before=_GPC)

    assert shop.visit(f"/?via={shop.eva}") is None
    shop.call_script("convert", "ann@example.com")
    assert (shop.clicks, shop.seen, shop.wait_for_leads(0), shop.cookies(), shop.count_stored()) == ([], [], [], {}, 0)

    shop.call_script("consent", True)
    assert shop.wait_for_slug() == shop.eva
    assert shop.wait_for_leads(1) == ["ann@example.com"]


@pytest.mark.parametrize(
    ("attributes", "before"), [("", _GPC), ('data-respect="gpc"', "")], ids=["signal not respected", "no signal"]
)
def test_no_signal_from_page_or_browser_changes_nothing(shop, attributes, before):
    shop.show(attributes, before=before)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    assert len(shop.clicks) == 1


def test_script_reports_its_presence_once(shop, brand):
    with shop.page.expect_response("**/c.gif?*"):
        shop.visit("/")
    with expect_page_load(shop.page):
        shop.page.evaluate("location.href = '/shoes'")
    shop.wait_for_slug()
    shop.page.wait_for_timeout(100)

    assert shop.seen == [f"?script=1&programId={shop.program_id}"]
    assert shop.clicks == []
    assert (shop.cookies(), shop.count_stored()) == ({}, 0)
    status = brand.get(f"/api/v1/programs/{shop.program_id}/tracking-status").json
    assert status["scriptOrigin"] == SHOP
    assert status["scriptSeenAt"]


def test_script_reports_no_presence_without_consent(shop):
    shop.show('data-consent="required"')

    shop.visit("/")
    shop.page.wait_for_timeout(100)
    assert shop.seen == []

    shop.call_script("consent", True)
    shop.wait_for_slug()
    shop.wait_until(lambda: shop.seen)
    shop.page.wait_for_timeout(100)
    assert len(shop.seen) == 1


def test_withdrawn_consent_clears_storage(shop):
    shop.visit(f"/?via={shop.ben}&subid=tube")
    shop.call_script("convert", "ann@example.com")
    shop.call_script("consent", False)
    shop.call_script("convert", "bob@example.com")

    assert (shop.call_script("slug"), shop.cookies(), shop.count_stored()) == (None, {}, 0)
    assert shop.wait_for_leads(1) == ["ann@example.com"]


_BLOCKED = """
for (const kind of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, kind, {get() { throw new DOMException('blocked', 'SecurityError') }});
Object.defineProperty(document, 'cookie', {get() { throw Error('blocked') }, set() { throw Error('blocked') }});
delete Navigator.prototype.sendBeacon;
"""


def test_attribution_lives_in_the_page_without_storage(shop):
    shop.page.add_init_script(_BLOCKED)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    shop.call_script("convert", "ann@example.com")
    assert shop.wait_for_leads(1) == ["ann@example.com"]


@pytest.mark.parametrize(
    "missing", ["delete window.fetch", "delete window.fetch; delete Navigator.prototype.sendBeacon"]
)
def test_browser_without_send_support_sees_no_error(shop, missing):
    shop.page.add_init_script(missing)

    assert shop.visit(f"/?via={shop.ben}") is None
    shop.call_script("convert", "ann@example.com")
    assert (shop.cookies(), shop.wait_for_leads(0)) == ({}, [])


def test_duplicate_tag_acts_once(shop):
    shop.show(body=f'<script async src="{shop.service}/api/v1/r/loader.js"></script><b id="Finderfee"></b>')
    shop.visit(f"/?via={shop.ben}")

    assert shop.wait_for_slug() == shop.ben
    shop.page.wait_for_timeout(SOON_MS)  # time enough for a second click
    assert len(shop.clicks) == 1


def test_throwing_callback_does_not_stop_the_script(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("window.onerror = message => { window.error = message; return true }")
    shop.page.evaluate("Finderfee.ready(() => { throw Error('of the callback') }); Finderfee.ready('not a function')")
    shop.page.wait_for_function("window.error")

    assert "of the callback" in shop.page.evaluate("error")
    assert shop.wait_for_slug() == shop.ben


@pytest.fixture
def unchecked_shop(browser, site, brand):
    """Yield a site in a browser whose console is ignored, because the browser logs failed requests there."""
    program_id = brand.program()
    slug = f"ben-{program_id.hex[-12:]}"
    brand.affiliate(slug)
    context = browser.new_context()
    shop_site = ShopSite(context.new_page(), site, program_id)
    shop_site.ben, errors = slug, []
    shop_site.page.on("pageerror", lambda error: errors.append(str(error)))
    yield shop_site
    context.close()
    assert errors == []


def test_unreachable_service_receives_the_click_later(unchecked_shop):
    unchecked_shop.page.route("**/track/click", lambda route: route.abort())
    assert unchecked_shop.visit(f"/?via={unchecked_shop.ben}") is None
    unchecked_shop.call_script("convert", "ann@example.com")
    assert (unchecked_shop.cookies(), unchecked_shop.wait_for_leads(0)) == ({}, [])
    unchecked_shop.page.unroute("**/track/click")

    unchecked_shop.page.reload()

    assert unchecked_shop.wait_for_slug() == unchecked_shop.ben


def test_malformed_response_is_ignored(unchecked_shop):
    responses = [{"status": 503}, {"status": 429}, {"body": "<html>"}, {"body": "null"}, {"body": '{"ok":true}'}]
    unchecked_shop.page.route(
        "**/track/click", lambda route: route.fulfill(headers={"Access-Control-Allow-Origin": "*"}, **responses[0])
    )
    while responses:
        assert unchecked_shop.visit(f"/?via={unchecked_shop.ben}") is None, responses[0]
        assert unchecked_shop.cookies() == {}
        del responses[0]
    assert len(unchecked_shop.clicks) == 5


def test_content_security_policy_block_causes_no_error(unchecked_shop):
    unchecked_shop.headers = {"Content-Security-Policy": f"script-src {unchecked_shop.service}; connect-src 'none'"}
    unchecked_shop.page.goto(f"{SHOP}/?via={unchecked_shop.ben}")
    unchecked_shop.page.wait_for_load_state("networkidle")

    assert unchecked_shop.cookies() == {}


def test_published_snippet_works(shop, brand):
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    response = brand.get("/api/v1/r/install-snippet").json
    shop.html = response["snippet"].replace(response["scriptHost"], shop.service) + '<input id="who">'

    assert shop.visit(f"/?ref={shop.eva}&pk_ref={shop.ben}") == shop.ben
    shop.page.fill("#who", "ann@example.com")
    shop.page.press("#who", "Tab")
    assert shop.wait_for_leads(1) == ["ann@example.com"]
