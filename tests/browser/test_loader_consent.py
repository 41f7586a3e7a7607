"""What the script of the brands' pages does without consent, and where nothing can be kept or sent."""

import pytest

from tests.support.outside.shop_site import SHOP, SOON_MS, STUB, ShopSite
from tests.support.pages.navigation import arriving


def test_a_visitor_who_said_no_before_the_script_came_is_left_alone(shop):
    shop.show(before=f"{STUB}<script>Finderfee('consent', false); Finderfee('convert', 'ann@example.com')</script>")

    assert shop.visit(f"/?via={shop.ben}") is None
    assert (shop.wait_for_leads(0), shop.clicks, shop.cookies(), shop.count_stored()) == ([], [], {}, 0)


def test_where_consent_is_required_nothing_is_kept_or_sent_before_it(shop):
    shop.show('data-consent="required"')
    shop.visit(f"/?via={shop.ben}")
    shop.call_script("convert", "ann@example.com")
    assert (shop.wait_for_leads(0), shop.clicks, shop.cookies(), shop.count_stored()) == ([], [], {}, 0)

    shop.call_script("consent", True)

    assert shop.wait_for_slug() == shop.ben
    assert shop.wait_for_leads(1) == ["ann@example.com"]
    assert len(shop.clicks) == 1


_GPC = "<script>Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})</script>"


def test_where_it_is_respected_a_browser_that_asks_for_privacy_is_one_without_consent(shop):
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


@pytest.mark.parametrize(("attributes", "before"), [("", _GPC), ('data-respect="gpc"', "")], ids=["untold", "unasked"])
def test_without_the_word_of_both_the_page_and_the_browser_nothing_changes(shop, attributes, before):
    shop.show(attributes, before=before)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    assert len(shop.clicks) == 1


def test_whoever_comes_to_the_site_says_once_that_the_script_is_there(shop, brand):
    with shop.page.expect_response("**/c.gif?*"):
        shop.visit("/")
    with arriving(shop.page):
        shop.page.evaluate("location.href = '/shoes'")
    shop.wait_for_slug()
    shop.page.wait_for_timeout(100)

    assert shop.seen == [f"?script=1&programId={shop.program_id}"]
    assert shop.clicks == []
    assert (shop.cookies(), shop.count_stored()) == ({}, 0)
    status = brand.get(f"/api/v1/programs/{shop.program_id}/tracking-status").json
    assert status["scriptOrigin"] == SHOP
    assert status["scriptSeenAt"]


def test_without_consent_the_script_does_not_even_say_that_it_is_there(shop):
    shop.show('data-consent="required"')

    shop.visit("/")
    shop.page.wait_for_timeout(100)
    assert shop.seen == []

    shop.call_script("consent", True)
    shop.wait_for_slug()
    shop.wait_until(lambda: shop.seen)
    shop.page.wait_for_timeout(100)
    assert len(shop.seen) == 1


def test_consent_that_is_taken_back_forgets_everything(shop):
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


def test_where_nothing_can_be_kept_the_page_itself_still_knows(shop):
    shop.page.add_init_script(_BLOCKED)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    shop.call_script("convert", "ann@example.com")
    assert shop.wait_for_leads(1) == ["ann@example.com"]


@pytest.mark.parametrize(
    "missing", ["delete window.fetch", "delete window.fetch; delete Navigator.prototype.sendBeacon"]
)
def test_a_browser_that_cannot_send_is_left_in_peace(shop, missing):
    shop.page.add_init_script(missing)

    assert shop.visit(f"/?via={shop.ben}") is None
    shop.call_script("convert", "ann@example.com")
    assert (shop.cookies(), shop.wait_for_leads(0)) == ({}, [])


def test_the_tag_that_is_there_twice_acts_once(shop):
    shop.show(body=f'<script async src="{shop.service}/api/v1/r/loader.js"></script><b id="Finderfee"></b>')
    shop.visit(f"/?via={shop.ben}")

    assert shop.wait_for_slug() == shop.ben
    shop.page.wait_for_timeout(SOON_MS)  # a second click would be on its way by now
    assert len(shop.clicks) == 1


def test_a_callback_that_throws_is_the_pages_own_error_and_stops_nothing(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("window.onerror = message => { window.told = message; return true }")
    shop.page.evaluate("Finderfee.ready(() => { throw Error('ours') }); Finderfee.ready('not a function')")
    shop.page.wait_for_function("window.told")

    assert "ours" in shop.page.evaluate("told")
    assert shop.wait_for_slug() == shop.ben


@pytest.fixture
def careless(browser, site, brand):
    """A site in a browser whose console is not looked at: it writes there itself when a request fails."""
    program_id = brand.program()
    slug = f"ben-{program_id.hex[-12:]}"
    brand.affiliate(slug)
    context = browser.new_context()
    found = ShopSite(context.new_page(), site, program_id)
    found.ben, found.wrong = slug, []
    found.page.on("pageerror", lambda error: found.wrong.append(str(error)))
    yield found
    context.close()
    assert found.wrong == []


def test_a_service_that_is_down_harms_nothing_and_is_told_later(careless):
    careless.page.route("**/track/click", lambda route: route.abort())
    assert careless.visit(f"/?via={careless.ben}") is None
    careless.call_script("convert", "ann@example.com")
    assert (careless.cookies(), careless.wait_for_leads(0)) == ({}, [])
    careless.page.unroute("**/track/click")

    careless.page.reload()

    assert careless.wait_for_slug() == careless.ben


def test_an_answer_that_confirms_nothing_is_none(careless):
    answers = [{"status": 503}, {"status": 429}, {"body": "<html>"}, {"body": "null"}, {"body": '{"ok":true}'}]
    careless.page.route(
        "**/track/click", lambda route: route.fulfill(headers={"Access-Control-Allow-Origin": "*"}, **answers[0])
    )
    while answers:
        assert careless.visit(f"/?via={careless.ben}") is None, answers[0]
        assert careless.cookies() == {}
        del answers[0]
    assert len(careless.clicks) == 5


def test_a_page_whose_policy_forbids_to_send_sees_no_error(careless):
    careless.headers = {"Content-Security-Policy": f"script-src {careless.service}; connect-src 'none'"}
    careless.page.goto(f"{SHOP}/?via={careless.ben}")
    careless.page.wait_for_load_state("networkidle")

    assert careless.cookies() == {}


def test_the_snippet_as_it_is_handed_out_works(shop, brand):
    brand.call("PATCH", "/api/v1/settings/attribution-params", {"custom": "pk_ref"})
    made = brand.get("/api/v1/r/install-snippet").json
    shop.html = made["snippet"].replace(made["scriptHost"], shop.service) + '<input id="who">'

    assert shop.visit(f"/?ref={shop.eva}&pk_ref={shop.ben}") == shop.ben
    shop.page.fill("#who", "ann@example.com")
    shop.page.press("#who", "Tab")
    assert shop.wait_for_leads(1) == ["ann@example.com"]
