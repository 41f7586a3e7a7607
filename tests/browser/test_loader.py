"""The script for brands' pages in a real browser, on another origin than the service's.

Source: tracking spec, "Browser lead capture", "Install snippet" and "Attribution parameters".
"""

import json
import time
from urllib.parse import unquote

import pytest

from tests.support.outside.shop_site import SHOP, STUB
from tests.support.pages.navigation import expect_page_load
from tests.support.rows import leads

_AUTO = 'data-email-capture="auto"'


def _set_attribution_model(brand, model):
    brand.rows("update program set attribution_model = %s returning id", model)


def test_attribution_is_stored_for_the_whole_site(shop):
    assert shop.visit(f"/shoes?via={shop.ben}&subid=Tube%20Ad!&secret=17") == shop.ben

    cookie = shop.cookies()["finderfee_ref"]
    attribution = json.loads(unquote(cookie["value"]))
    assert (attribution["slug"], attribution["subId"]) == (shop.ben, "tubead")
    assert abs(attribution["ts"] / 1000 - time.time()) < 60
    assert (cookie["domain"], cookie["path"], cookie["sameSite"], cookie["secure"]) == (".shop.co.uk", "/", "Lax", True)
    assert abs(cookie["expires"] - time.time() - 45 * 86400) < 60
    assert shop.cookies()["finderfee_sub"]["value"] == "tubead"
    assert shop.call_script("subId") == "tubead"
    assert json.loads(shop.page.evaluate("localStorage.finderfee_ref")) == attribution
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
def test_host_without_parent_domain_stores_for_itself(shop, host):
    shop.move_to(f"http://{host}")

    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    cookie = shop.cookies()["finderfee_ref"]
    assert (cookie["domain"], cookie["secure"]) == (host, False)


def test_slug_is_read_from_query_fragment_and_path(shop):
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
        shop.reset_visitor()


def test_unconfirmed_slug_stores_nothing(shop):
    for address in ("/", "/?via=", "/?via=nobody-here", "/?via=a%20b", "/?utm_source=ben", "/via/"):
        assert shop.visit(address) is None, address
        assert shop.cookies() == {}
        assert shop.page.evaluate("localStorage.length") == 0


@pytest.mark.parametrize(("model", "credited"), [("FirstTouch", "ben"), ("LastTouch", "eva")])
def test_second_affiliate_keeps_or_replaces_the_first(shop, brand, model, credited):
    _set_attribution_model(brand, model)
    shop.visit(f"/?via={shop.ben}&subid=one")
    shop.visit("/about")

    assert shop.visit(f"/?via={shop.eva}") == getattr(shop, credited)
    assert [click["slug"] for click in shop.clicks] == [shop.ben, shop.eva]
    assert shop.clicks[0]["visitorId"] == shop.clicks[1]["visitorId"]
    assert ("finderfee_sub" in shop.cookies()) is (credited == "ben")


def test_landing_is_reported_once(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.reload()
    shop.wait_for_slug()
    with expect_page_load(shop.page):
        shop.page.evaluate("address => { location.href = address }", f"/shoes?via={shop.ben}")

    assert shop.wait_for_slug() == shop.ben
    assert len(shop.clicks) == 1


def test_lost_cookie_is_restored_from_storage(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.context.clear_cookies()

    assert shop.visit("/about") == shop.ben


def test_expired_attribution_window_clears_storage(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.page.context.clear_cookies()
    shop.page.evaluate('localStorage.finderfee_ref = localStorage.finderfee_ref.replace(/"ts":\\d+/, \'"ts":1\')')

    assert shop.visit("/about") is None


def test_every_form_of_the_convert_call_sends_the_lead(shop, brand, drain):
    shop.visit(f"/?via={shop.ben}&sub_id=tube")
    shop.call_script("convert", {"email": " Ann@Example.com ", "name": "Ann Ünal"})
    shop.call_script("convert", "bob@example.com", "Bob")
    shop.call_script("identify", {"email": "cyd@example.com"})
    shop.call_script("dan@example.com")
    shop.page.evaluate("Finderfee.convert('eve@example.com')")
    emails = ["Ann@Example.com", "bob@example.com", "cyd@example.com", "dan@example.com", "eve@example.com"]

    assert shop.wait_for_leads(5) == emails
    assert shop.leads[0] == {
        "slug": shop.ben,
        "email": "Ann@Example.com",
        "name": "Ann Ünal",
        "programId": str(shop.program_id),
        "subId": "tube",
    }
    assert shop.leads[1]["name"] == "Bob"
    _drain_until(drain, brand, 5)
    assert sorted(leads.list_lead_emails(brand)) == sorted(emails)
    assert brand.rows("select distinct sub_id, affiliate_id is not null from lead") == [("tube", True)]


def _drain_until(drain, brand, number):
    """Run the jobs until a brand has this many leads; a beacon may arrive late."""
    deadline = time.monotonic() + 60
    while len(leads.list_lead_emails(brand)) < number and time.monotonic() < deadline:
        drain()
        time.sleep(0.02)


def test_no_lead_is_sent_without_referral_or_email(shop):
    shop.visit("/")
    shop.call_script("convert", "ann@example.com")
    shop.visit(f"/?via={shop.ben}")
    for invalid in (
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
        shop.call_script("convert", invalid)
    shop.call_script("unknown", "ann@example.com")
    shop.call_script()

    assert shop.wait_for_leads(0) == []


def test_email_is_sent_once_per_session(shop):
    shop.visit(f"/?via={shop.ben}")
    shop.call_script("convert", "ann@example.com")
    shop.call_script("convert", "ANN+shop@example.com")
    shop.visit("/about")
    shop.call_script("convert", "ann@example.com")
    shop.call_script("convert", "joann@example.com")

    assert shop.wait_for_leads(2) == ["ann@example.com", "joann@example.com"]


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
def test_submitted_form_sends_the_marked_email_field(shop, attributes, mark):
    shop.show(attributes, _FORM.format(mark=mark))
    shop.visit(f"/?via={shop.ben}")
    shop.page.fill("#who", "ann@example.com")
    shop.page.click("button")

    assert shop.wait_for_leads(1) == ["ann@example.com"]


def test_auto_capture_sends_a_typed_email(shop):
    shop.show(_AUTO, _FORM.format(mark="") + '<input id="tel" type="tel"><textarea id="area"></textarea>')
    shop.visit(f"/?via={shop.ben}")
    for name in ("secret", "ignored", "tel", "area", "who", "other"):
        shop.page.fill(f"#{name}", f"typed.{name}@example.com")
        shop.page.press(f"#{name}", "Tab")
    shop.page.fill("#other", "no email")
    shop.page.press("#other", "Tab")

    assert shop.wait_for_leads(2) == ["typed.who@example.com", "typed.other@example.com"]


def test_typed_email_is_not_sent_without_auto_capture_or_referral(shop):
    for attributes, address in (("", f"/?via={shop.ben}"), (_AUTO, "/")):
        shop.show(attributes, '<input id="who" type="email">')
        shop.visit(address)
        shop.page.fill("#who", "ann@example.com")
        shop.page.press("#who", "Tab")

        assert shop.wait_for_leads(0) == []
        shop.reset_visitor()


def test_calls_before_the_script_loads_are_queued(shop):
    before = """
      Finderfee('ready', () => { window.slugWhenReady = Finderfee.slug() });
      Finderfee('convert', {email: 'ann@example.com'});
    """
    shop.show(before=f"{STUB}<script>{before}</script>")
    shop.visit(f"/?via={shop.ben}")

    assert shop.page.evaluate("slugWhenReady") == shop.ben
    assert shop.wait_for_leads(1) == ["ann@example.com"]
