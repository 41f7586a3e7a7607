"""The script for brands' pages adds the slug to links, forms and buttons of hosted checkouts.

Source: tracking spec, "Attribution method taxonomy" (Link and Checkout door), "Browser lead capture".
"""

import json

import pytest

from tests.support.outside.shop_site import SHOP, SOON_MS
from tests.support.rows.link_visits import new_slug

_PAY = "https://buy.stripe.com/test_1"
# The parameter that the script adds to each address; an empty one means no change.
_ADDRESSES = {
    "https://buy.stripe.com/test_1?quantity=2&a=%20b#pay": "client_reference_id={}",
    "https://acme.lemonsqueezy.com/checkout/buy/1": "checkout%5Bcustom%5D%5Bvia%5D={}",
    "https://acme.lemonsqueezy.com/buy/1?media=0": "checkout%5Bcustom%5D%5Bvia%5D={}",
    "https://acme.thrivecart.com/mug/": "passthrough%5Bvia%5D={}",
    "https://acme.gumroad.com/l/mug": "via={}",
    "https://gum.co/mug": "via={}",
    "https://acme.myshopify.com/cart/1:1": "attributes%5Bvia%5D={}",
    "https://buy.stripe.com/test_1?client_reference_id=own": "",
    "https://acme.gumroad.com/l/mug?via=": "",
    "https://acme.lemonsqueezy.com/blog": "",
    "https://buy.stripe.com.evil.test/test_1": "",
    "https://evil.test/buy.stripe.com/test_1": "",
    "https://notthrivecart.com/mug": "",
    "https://acme.test/pay?x=1": "",
    "mailto:buy.stripe.com/a@example.com": "",
    "javascript:buy.stripe.com/1": "",
    "//[": "",
    "/prices": "",
    "#top": "",
}


def _build_links(*addresses):
    return "".join(f'<a href="{address}">x</a>' for address in addresses)


def _read_hrefs(shop, selector="a"):
    return shop.page.evaluate(
        "selector => [...document.querySelectorAll(selector)].map(a => a.getAttribute('href'))", selector
    )


def _wait_for_hrefs(shop, number):
    """Wait until `number` links carry the slug, and a little longer for one too many; return the addresses."""
    shop.page.wait_for_function(
        "([slug, n]) => [...document.links].filter(a => a.href.includes('=' + slug)).length >= n",
        arg=[shop.ben, number],
    )
    shop.page.wait_for_timeout(SOON_MS)
    return _read_hrefs(shop)


def _add_parameter(address, parameter, slug):
    if not parameter:
        return address
    address, _, fragment = address.partition("#")
    mark = "&" if "?" in address else "?"
    return f"{address}{mark}{parameter.format(slug)}" + (f"#{fragment}" if fragment else "")


def test_only_hosted_checkout_links_carry_the_slug(shop):
    shop.show(body=_build_links(*_ADDRESSES))
    shop.visit(f"/?via={shop.ben}")

    expected = [_add_parameter(address, parameter, shop.ben) for address, parameter in _ADDRESSES.items()]
    assert _wait_for_hrefs(shop, 7) == expected
    assert shop.visit("/again") == shop.ben  # the next page of the site
    assert _wait_for_hrefs(shop, 7) == expected


def test_links_are_unchanged_without_referral_or_when_off(shop):
    shop.show(body=_build_links(*_ADDRESSES))
    for address in ("/", "/?via=nobody-here"):
        shop.visit(address)
        shop.page.wait_for_timeout(SOON_MS)
        assert _read_hrefs(shop) == list(_ADDRESSES)

    shop.show('data-checkouts="off"', body=_build_links(*_ADDRESSES))
    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    shop.page.wait_for_timeout(SOON_MS)
    assert _read_hrefs(shop) == list(_ADDRESSES)


def test_links_are_unchanged_before_consent(shop):
    shop.show('data-consent="required"', body=_build_links(_PAY))
    shop.visit(f"/?via={shop.ben}")
    shop.page.wait_for_timeout(SOON_MS)
    assert _read_hrefs(shop) == [_PAY]

    shop.call_script("consent", True)
    shop.wait_for_slug()
    assert _wait_for_hrefs(shop, 1) == [f"{_PAY}?client_reference_id={shop.ben}"]


def test_added_and_changed_links_carry_the_slug(shop):
    shop.show(body='<a href="/" id="changes">x</a>')
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", _build_links(_PAY))
    assert _wait_for_hrefs(shop, 1)[1:] == [f"{_PAY}?client_reference_id={shop.ben}"]

    clicked_href = shop.page.evaluate(
        """address => {
          const link = document.getElementById('changes');
          link.addEventListener('click', event => event.preventDefault());
          link.href = address;
          link.click();
          return link.href;
        }""",
        _PAY,
    )
    assert clicked_href == f"{_PAY}?client_reference_id={shop.ben}"


def test_hosted_checkout_forms_carry_the_slug_in_a_field(shop):
    shop.show(
        body=f'<form action="{_PAY}"><input name="action"></form><form action="/search"></form><form></form>'
        '<form action="https://acme.thrivecart.com/mug"><input name="passthrough[via]" value="own"></form>'
    )
    shop.visit(f"/?via={shop.ben}")
    shop.page.wait_for_selector('input[name="client_reference_id"]', state="attached")

    fields = shop.page.evaluate("[...document.querySelectorAll('input')].map(field => [field.name, field.value])")
    assert fields == [["action", ""], ["client_reference_id", shop.ben], ["passthrough[via]", "own"]]


def test_slug_invalid_for_a_payment_link_is_left_out(shop, brand):
    brand.affiliate(slug := f"{new_slug()}.x")
    shop.show(body=_build_links(_PAY, "https://gum.co/mug") + "<stripe-buy-button></stripe-buy-button>")
    shop.visit(f"/?via={slug}")
    shop.page.wait_for_function("slug => document.links[1].href.includes('=' + slug)", arg=slug)
    shop.page.wait_for_timeout(SOON_MS)

    assert _read_hrefs(shop) == [_PAY, f"https://gum.co/mug?via={slug}"]
    assert shop.page.locator("stripe-buy-button").get_attribute("client-reference-id") is None


def test_gateway_buttons_and_pricing_tables_carry_the_slug(shop):
    shop.show(
        body="<stripe-buy-button></stripe-buy-button><stripe-pricing-table client-reference-id='own'>"
        "</stripe-pricing-table><a class='paddle_button'>x</a>"
        """<a class='paddle_button' data-custom-data='{"plan":"a"}'>x</a>"""
        """<a class='paddle_button' data-custom-data='{"via":"own"}'>x</a>"""
        "<a class='paddle_button' data-custom-data='{'>x</a>"
    )
    shop.visit(f"/?via={shop.ben}")
    shop.page.wait_for_selector("[data-custom-data*=plan][data-custom-data*=via]")

    references = [element.get_attribute("client-reference-id") for element in shop.page.locator("body > :not(a)").all()]
    assert references == [shop.ben, "own"]
    data = [link.get_attribute("data-custom-data") for link in shop.page.locator("a").all()]
    assert [json.loads(text) for text in data[:3]] == [
        {"via": shop.ben},
        {"plan": "a", "via": shop.ben},
        {"via": "own"},
    ]
    assert data[3] == "{"


@pytest.mark.parametrize("is_shopify", [True, False])
def test_shopify_cart_stores_the_slug_once(shop, is_shopify):
    updates = []

    def record_update(route):
        updates.append((route.request.method, json.loads(route.request.post_data)))
        route.fulfill(body="{}", content_type="application/json")

    shop.page.route(f"{SHOP}/cart/update.js", record_update)
    shop.show(before="<script>window.Shopify = {shop: 'acme'}</script>" if is_shopify else "")
    for address in (f"/?via={shop.ben}", "/more", "/more"):
        shop.visit(address)
        if is_shopify:  # leaving before the response would repeat the update on the next page
            shop.page.wait_for_function("sessionStorage.finderfee_cart")
        shop.page.wait_for_timeout(SOON_MS)
    assert updates == [("POST", {"attributes": {"via": shop.ben}})] * is_shopify

    shop.page.evaluate("document.cookie = 'cart=2; path=/'")
    shop.visit("/more")
    shop.wait_until(lambda: len(updates) == 2 * is_shopify)
    shop.page.wait_for_timeout(SOON_MS)
    assert len(updates) == 2 * is_shopify
