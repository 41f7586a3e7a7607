"""The script of the brands' pages in a browser, on a page of another origin than the service's.

Source: tracking spec, "Browser lead capture", "Install snippet" and "Attribution parameters".
"""

import json
import time
from urllib.parse import unquote

import pytest

from tests.support.rows import leads

SHOP = "https://www.shop.co.uk"
_AUTO = 'data-email-capture="auto"'
_STUB = "<script>window.Finderfee=window.Finderfee||function(){(Finderfee.q=Finderfee.q||[]).push(arguments)}</script>"
# What a page has begun by now shows up within this.
_SOON_MS = 500


class Shop:
    """A brand's site: every address of it shows the same page, with the script's tag on it. Keeps what is sent."""

    def __init__(self, page, service, program_id):
        self.page, self.service, self.program_id = page, service, program_id
        self.clicks, self.leads, self.seen = [], [], []
        self.headers = {}
        self.show()
        self.move_to(SHOP)
        page.on("request", self._keep)

    def move_to(self, origin):
        """Put the site at another origin."""
        self.origin = origin
        self.page.route(f"{origin}/**", self._answer)

    def show(self, attributes="", body="", before=""):
        """Change the page: attributes of the tag, what the page holds, what comes before the tag."""
        tag = f'<script async src="{self.service}/api/v1/r/loader.js" data-program-id="{self.program_id}" {attributes}>'
        self.html = f'<!doctype html><link rel="icon" href="data:,">{before}{tag}</script><body>{body}'

    def visit(self, address="/"):
        """Go to an address of the site and wait until it is known who sent the visitor. Returns the slug."""
        self.page.goto(f"{self.origin}{address}")
        return self.settled()

    def settled(self):
        """Wait until it is known who sent the visitor. Returns the slug."""
        self.page.wait_for_function("window.Finderfee && Finderfee.isLoaded")
        return self.page.evaluate("new Promise(done => Finderfee.ready(() => done(Finderfee.slug())))")

    def say(self, *arguments):
        """Call the script's function as a page does."""
        return self.page.evaluate("given => Finderfee(...given)", list(arguments))

    def be_somebody_else(self):
        """Forget everything that the browser keeps; the page to come is loaded anew whatever its address."""
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.context.clear_cookies()
        self.page.goto("about:blank")

    def told(self, number):
        """Wait for this many leads, and a moment for one too many. Returns the emails."""
        for _ in range(100):
            if len(self.leads) >= number:
                break
            self.page.wait_for_timeout(20)
        self.page.wait_for_timeout(60)
        return [lead["email"] for lead in self.leads]

    def cookies(self):
        """Return the cookies of the site by name."""
        return {cookie["name"]: cookie for cookie in self.page.context.cookies(self.origin)}

    def stored(self):
        """Return how many entries the browser's two storages hold for the site."""
        return self.page.evaluate("localStorage.length + sessionStorage.length")

    def _answer(self, route):
        route.fulfill(body=self.html, content_type="text/html; charset=utf-8", headers=self.headers)

    def _keep(self, request):
        if request.url.endswith("/track/click"):
            self.clicks.append(json.loads(request.post_data))
        if "/c.gif?" in request.url:
            self.seen.append(request.url.partition("/c.gif")[2])
        if request.url.endswith("/lead/signup"):
            self.leads.append(json.loads(request.post_data))


@pytest.fixture
def shop(page, site, brand):
    """A site of the brand, whose program has the affiliates ben and eva."""
    program_id = brand.program(cookie_window_days=45)
    for slug in ("ben", "eva"):
        brand.affiliate(f"{slug}-{program_id.hex[-12:]}")
    found = Shop(page, site, program_id)
    found.ben, found.eva = (f"{slug}-{program_id.hex[-12:]}" for slug in ("ben", "eva"))
    return found


def _attribution(brand, model):
    brand.rows("update program set attribution_model = %s returning id", model)


def test_who_sent_the_visitor_is_kept_for_the_whole_site(shop):
    assert shop.visit(f"/shoes?via={shop.ben}&subid=Tube%20Ad!&secret=17") == shop.ben

    cookie = shop.cookies()["finderfee_ref"]
    kept = json.loads(unquote(cookie["value"]))
    assert (kept["slug"], kept["subId"]) == (shop.ben, "tubead")
    assert abs(kept["ts"] / 1000 - time.time()) < 60
    assert (cookie["domain"], cookie["path"], cookie["sameSite"], cookie["secure"]) == (".shop.co.uk", "/", "Lax", True)
    assert abs(cookie["expires"] - time.time() - 45 * 86400) < 60
    assert shop.cookies()["finderfee_sub"]["value"] == "tubead"
    assert shop.say("subId") == "tubead"
    assert json.loads(shop.page.evaluate("localStorage.finderfee_ref")) == kept
    (click,) = shop.clicks
    assert click.pop("visitorId")
    assert click == {
        "slug": shop.ben,
        "programId": str(shop.program_id),
        "url": f"{SHOP}/shoes?via=1&subid=1&secret=1",
        "subId": "tubead",
    }
    assert set(shop.cookies()) == {"finderfee_ref", "finderfee_sub"}


@pytest.mark.parametrize("host", ["intranet", "192.0.2.7"])
def test_a_host_that_stands_alone_keeps_it_for_itself(shop, host):
    shop.move_to(f"http://{host}")

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    cookie = shop.cookies()["finderfee_ref"]
    assert (cookie["domain"], cookie["secure"]) == (host, False)


def test_the_affiliate_is_read_from_query_fragment_and_path(shop):
    for address, custom in [
        ("/?aff_id={ben}", ""),
        ("/?REF={ben}&x=1", ""),
        ("/?partner={eva}&ref=&via={ben}", ""),
        ("/?via={eva}&pk_ref={ben}", "my-tag, pk_ref"),
        ("/?referrer=https%3A%2F%2Fx.test%2F&atp={ben}", ""),
        ("/?via=%E0%A4&ref={ben}", ""),
        ("/?__proto__=!&constructor={ben}&via={eva}", "__proto__,constructor"),
        ("/#via={ben}", ""),
        ("/#/prices?via={ben}", ""),
        ("/shoes/via/{ben}", ""),
        ("/via/{eva}/?ref={ben}", ""),
    ]:
        shop.show(f'data-custom-params="{custom}"')

        assert shop.visit(address.format(ben=shop.ben, eva=shop.eva)) == shop.ben, address
        shop.be_somebody_else()


def test_what_the_service_does_not_confirm_leaves_nothing_behind(shop):
    for address in ("/", "/?via=", "/?via=nobody-here", "/?via=a%20b", "/?utm_source=ben", "/via/"):
        assert shop.visit(address) is None, address
        assert shop.cookies() == {}
        assert shop.page.evaluate("localStorage.length") == 0


@pytest.mark.parametrize(("model", "kept"), [("FirstTouch", "ben"), ("LastTouch", "eva")])
def test_a_second_affiliate_keeps_or_replaces_the_first(shop, brand, model, kept):
    _attribution(brand, model)
    shop.visit(f"/?via={shop.ben}&subid=one")
    shop.visit("/about")

    assert shop.visit(f"/?via={shop.eva}") == getattr(shop, kept)
    assert [click["slug"] for click in shop.clicks] == [shop.ben, shop.eva]
    assert shop.clicks[0]["visitorId"] == shop.clicks[1]["visitorId"]
    assert ("finderfee_sub" in shop.cookies()) is (kept == "ben")


def test_a_landing_is_told_once(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.reload()
    shop.settled()
    shop.page.evaluate("address => { location.href = address }", f"/shoes?via={shop.ben}")
    shop.page.wait_for_url("**/shoes*")

    assert shop.settled() == shop.ben
    assert len(shop.clicks) == 1


def test_who_lost_the_cookie_is_known_by_the_other_storage(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.context.clear_cookies()

    assert shop.visit("/about") == shop.ben


def test_a_window_that_has_passed_forgets(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.context.clear_cookies()
    shop.page.evaluate('localStorage.finderfee_ref = localStorage.finderfee_ref.replace(/"ts":\\d+/, \'"ts":1\')')

    assert shop.visit("/about") is None


def test_a_page_says_who_signed_up_in_any_way_it_likes(shop, brand, drain):
    shop.visit(f"/?via={shop.ben}&sub_id=tube")
    shop.say("convert", {"email": " Ann@Example.com ", "name": "Ann Ünal"})
    shop.say("convert", "bob@example.com", "Bob")
    shop.say("identify", {"email": "cyd@example.com"})
    shop.say("dan@example.com")
    shop.page.evaluate("Finderfee.convert('eve@example.com')")
    emails = ["Ann@Example.com", "bob@example.com", "cyd@example.com", "dan@example.com", "eve@example.com"]

    assert shop.told(5) == emails
    assert shop.leads[0] == {
        "slug": shop.ben,
        "email": "Ann@Example.com",
        "name": "Ann Ünal",
        "programId": str(shop.program_id),
        "subId": "tube",
    }
    assert shop.leads[1]["name"] == "Bob"
    _drain_until(drain, brand, 5)
    assert sorted(leads.emails(brand)) == sorted(emails)
    assert brand.rows("select distinct sub_id, affiliate_id is not null from lead") == [("tube", True)]


def _drain_until(drain, brand, number):
    """Run the jobs until a brand has this many leads; a beacon may still be on its way."""
    deadline = time.monotonic() + 5
    while len(leads.emails(brand)) < number and time.monotonic() < deadline:
        drain()
        time.sleep(0.02)


def test_without_a_referral_or_an_email_nothing_is_sent(shop):
    shop.visit("/")
    shop.say("convert", "ann@example.com")
    shop.visit(f"/?via={shop.ben}")
    for nothing in (
        "",
        "ann",
        "ann@",
        "@example.com",
        "ann@example",
        "a b@example.com",
        None,
        {},
        17,
        f"{'a' * 400}@b.co",
    ):
        shop.say("convert", nothing)
    shop.say("unknown", "ann@example.com")
    shop.say()

    assert shop.told(0) == []


def test_an_inbox_is_sent_once_in_a_session(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.say("convert", "ann@example.com")
    shop.say("convert", "ANN+shop@example.com")
    shop.visit("/about")
    shop.say("convert", "ann@example.com")
    shop.say("convert", "joann@example.com")

    assert shop.told(2) == ["ann@example.com", "joann@example.com"]


_FORM = """
<form onsubmit="this.reset(); event.preventDefault()">
  <input id="who" name="elements" {mark}><input id="other" value="other@example.com">
  <input id="secret" type="password" {mark} value="pass@example.com">
  <p data-finderfee-ignore><input id="ignored" type="email" {mark} value="ignored@example.com"></p><button>Go</button>
</form>
<form><input class="who" data-finderfee-email value="elsewhere@example.com"></form>
"""


@pytest.mark.parametrize(
    ("attributes", "mark"),
    [
        ("", "data-finderfee-email"),
        ('data-email-selector="form .who"', 'class="who"'),
        ('data-email-selector="((broken"', "data-finderfee-email"),
    ],
)
def test_a_form_that_is_sent_tells_the_email_of_the_field_that_is_meant(shop, attributes, mark):
    shop.show(attributes, _FORM.format(mark=mark))
    shop.visit(f"/?via={shop.ben}")
    shop.page.fill("#who", "ann@example.com")
    shop.page.click("button")

    assert shop.told(1) == ["ann@example.com"]


def test_with_auto_capture_an_email_that_is_typed_is_told(shop):
    shop.show(_AUTO, _FORM.format(mark="") + '<input id="tel" type="tel"><textarea id="area"></textarea>')
    shop.visit(f"/?via={shop.ben}")
    for name in ("secret", "ignored", "tel", "area", "who", "other"):
        shop.page.fill(f"#{name}", f"typed.{name}@example.com")
        shop.page.press(f"#{name}", "Tab")
    shop.page.fill("#other", "no email")
    shop.page.press("#other", "Tab")

    assert shop.told(2) == ["typed.who@example.com", "typed.other@example.com"]


def test_what_is_typed_stays_untold_without_auto_capture_and_without_a_referral(shop):
    for attributes, address in (("", f"/?via={shop.ben}"), (_AUTO, "/")):
        shop.show(attributes, '<input id="who" type="email">')
        shop.visit(address)
        shop.page.fill("#who", "ann@example.com")
        shop.page.press("#who", "Tab")

        assert shop.told(0) == []
        shop.be_somebody_else()


def test_calls_made_before_the_script_is_there_are_kept(shop):
    before = """
      Finderfee('ready', () => { window.slugWhenReady = Finderfee.slug() });
      Finderfee('convert', {email: 'ann@example.com'});
    """
    shop.show(before=f"{_STUB}<script>{before}</script>")
    shop.visit(f"/?via={shop.ben}")

    assert shop.page.evaluate("slugWhenReady") == shop.ben
    assert shop.told(1) == ["ann@example.com"]


def test_a_visitor_who_said_no_before_the_script_came_is_left_alone(shop):
    shop.show(before=f"{_STUB}<script>Finderfee('consent', false); Finderfee('convert', 'ann@example.com')</script>")

    assert shop.visit(f"/?via={shop.ben}") is None
    assert (shop.told(0), shop.clicks, shop.cookies(), shop.stored()) == ([], [], {}, 0)


def test_where_consent_is_required_nothing_is_kept_or_sent_before_it(shop):
    shop.show('data-consent="required"')
    shop.visit(f"/?via={shop.ben}")
    shop.say("convert", "ann@example.com")
    assert (shop.told(0), shop.clicks, shop.cookies(), shop.stored()) == ([], [], {}, 0)

    shop.say("consent", True)

    assert shop.settled() == shop.ben
    assert shop.told(1) == ["ann@example.com"]
    assert len(shop.clicks) == 1


_GPC = "<script>Object.defineProperty(navigator, 'globalPrivacyControl', {value: true})</script>"


def test_where_it_is_respected_a_browser_that_asks_for_privacy_is_one_without_consent(shop):
    shop.visit(f"/?via={shop.ben}")
    assert shop.cookies()
    shop.clicks.clear()
    shop.seen.clear()
    shop.show('data-respect="gpc"', before=_GPC)

    assert shop.visit(f"/?via={shop.eva}") is None
    shop.say("convert", "ann@example.com")
    assert (shop.clicks, shop.seen, shop.told(0), shop.cookies(), shop.stored()) == ([], [], [], {}, 0)

    shop.say("consent", True)
    assert shop.settled() == shop.eva
    assert shop.told(1) == ["ann@example.com"]


@pytest.mark.parametrize(("attributes", "before"), [("", _GPC), ('data-respect="gpc"', "")], ids=["untold", "unasked"])
def test_without_the_word_of_both_the_page_and_the_browser_nothing_changes(shop, attributes, before):
    shop.show(attributes, before=before)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    assert len(shop.clicks) == 1


def test_whoever_comes_to_the_site_says_once_that_the_script_is_there(shop, brand):
    shop.visit("/")
    shop.page.evaluate("location.href = '/shoes'")
    shop.page.wait_for_url("**/shoes")
    shop.settled()
    shop.page.wait_for_timeout(100)

    assert shop.seen == [f"?script=1&programId={shop.program_id}"]
    assert shop.clicks == []
    assert (shop.cookies(), shop.stored()) == ({}, 0)
    status = brand.get(f"/api/v1/programs/{shop.program_id}/tracking-status").json
    assert status["scriptOrigin"] == SHOP
    assert status["scriptSeenAt"]


def test_without_consent_the_script_does_not_even_say_that_it_is_there(shop):
    shop.show('data-consent="required"')

    shop.visit("/")
    shop.page.wait_for_timeout(100)
    assert shop.seen == []

    shop.say("consent", True)
    shop.settled()
    shop.page.wait_for_timeout(100)
    assert len(shop.seen) == 1


def test_consent_that_is_taken_back_forgets_everything(shop):
    shop.visit(f"/?via={shop.ben}&subid=tube")
    shop.say("convert", "ann@example.com")
    shop.say("consent", False)
    shop.say("convert", "bob@example.com")

    assert (shop.say("slug"), shop.cookies(), shop.stored()) == (None, {}, 0)
    assert shop.told(1) == ["ann@example.com"]


_BLOCKED = """
for (const kind of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, kind, {get() { throw new DOMException('blocked', 'SecurityError') }});
Object.defineProperty(document, 'cookie', {get() { throw Error('blocked') }, set() { throw Error('blocked') }});
delete Navigator.prototype.sendBeacon;
"""


def test_where_nothing_can_be_kept_the_page_itself_still_knows(shop):
    shop.page.add_init_script(_BLOCKED)

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    shop.say("convert", "ann@example.com")
    assert shop.told(1) == ["ann@example.com"]


@pytest.mark.parametrize(
    "missing", ["delete window.fetch", "delete window.fetch; delete Navigator.prototype.sendBeacon"]
)
def test_a_browser_that_cannot_send_is_left_in_peace(shop, missing):
    shop.page.add_init_script(missing)

    assert shop.visit(f"/?via={shop.ben}") is None
    shop.say("convert", "ann@example.com")
    assert (shop.cookies(), shop.told(0)) == ({}, [])


def test_the_tag_that_is_there_twice_acts_once(shop):
    shop.show(body=f'<script async src="{shop.service}/api/v1/r/loader.js"></script><b id="Finderfee"></b>')
    shop.visit(f"/?via={shop.ben}")

    assert shop.settled() == shop.ben
    shop.page.wait_for_timeout(_SOON_MS)  # a second click would be on its way by now
    assert len(shop.clicks) == 1


def test_a_callback_that_throws_is_the_pages_own_error_and_stops_nothing(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("window.onerror = message => { window.told = message; return true }")
    shop.page.evaluate("Finderfee.ready(() => { throw Error('ours') }); Finderfee.ready('not a function')")
    shop.page.wait_for_function("window.told")

    assert "ours" in shop.page.evaluate("told")
    assert shop.settled() == shop.ben


@pytest.fixture
def careless(browser, site, brand):
    """A site in a browser whose console is not looked at: it writes there itself when a request fails."""
    program_id = brand.program()
    slug = f"ben-{program_id.hex[-12:]}"
    brand.affiliate(slug)
    context = browser.new_context()
    found = Shop(context.new_page(), site, program_id)
    found.ben, found.wrong = slug, []
    found.page.on("pageerror", lambda error: found.wrong.append(str(error)))
    yield found
    context.close()
    assert found.wrong == []


def test_a_service_that_is_down_harms_nothing_and_is_told_later(careless):
    careless.page.route("**/track/click", lambda route: route.abort())
    assert careless.visit(f"/?via={careless.ben}") is None
    careless.say("convert", "ann@example.com")
    assert (careless.cookies(), careless.told(0)) == ({}, [])
    careless.page.unroute("**/track/click")

    careless.page.reload()

    assert careless.settled() == careless.ben


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
    assert shop.told(1) == ["ann@example.com"]
