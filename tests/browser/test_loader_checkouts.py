"""The script of the brands' pages on what leads to hosted checkouts, on a page of another origin than the service's.

Source: tracking spec, "Attribution method taxonomy" (Link and Checkout door), "Browser lead capture".
"""

import json

import pytest

from tests.support.outside.shop_site import SHOP, SOON_MS
from tests.support.rows.link_visits import new_slug

_PAY = "https://buy.stripe.com/test_1"
# What each address has more once the slug is on it; nothing: it stays as it is.
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


def _links(*addresses):
    return "".join(f'<a href="{address}">x</a>' for address in addresses)


def _hrefs(shop, selector="a"):
    return shop.page.evaluate(
        "chosen => [...document.querySelectorAll(chosen)].map(a => a.getAttribute('href'))", selector
    )


def _seen(shop, number):
    """Wait until so many links carry the slug, and a moment for one too many."""
    shop.page.wait_for_function(
        "([slug, n]) => [...document.links].filter(a => a.href.includes('=' + slug)).length >= n",
        arg=[shop.ben, number],
    )
    shop.page.wait_for_timeout(SOON_MS)
    return _hrefs(shop)


def _address_with(address, added, slug):
    if not added:
        return address
    address, _, fragment = address.partition("#")
    mark = "&" if "?" in address else "?"
    return f"{address}{mark}{added.format(slug)}" + (f"#{fragment}" if fragment else "")


def test_only_hosted_checkout_links_carry_the_slug(shop):
    shop.show(body=_links(*_ADDRESSES))
    shop.visit(f"/?via={shop.ben}")

    expected = [_address_with(address, added, shop.ben) for address, added in _ADDRESSES.items()]
    assert _seen(shop, 7) == expected
    assert shop.visit("/again") == shop.ben  # the next page of the site
    assert _seen(shop, 7) == expected


def test_links_are_unchanged_without_referral_or_when_off(shop):
    shop.show(body=_links(*_ADDRESSES))
    for address in ("/", "/?via=nobody-here"):
        shop.visit(address)
        shop.page.wait_for_timeout(SOON_MS)
        assert _hrefs(shop) == list(_ADDRESSES)

    shop.show('data-checkouts="off"', body=_links(*_ADDRESSES))
    assert shop.visit(f"/?via={shop.ben}") == shop.ben
    shop.page.wait_for_timeout(SOON_MS)
    assert _hrefs(shop) == list(_ADDRESSES)


def test_links_are_unchanged_before_consent(shop):
    shop.show('data-consent="required"', body=_links(_PAY))
    shop.visit(f"/?via={shop.ben}")
    shop.page.wait_for_timeout(SOON_MS)
    assert _hrefs(shop) == [_PAY]

    shop.call_script("consent", True)
    shop.wait_for_slug()
    assert _seen(shop, 1) == [f"{_PAY}?client_reference_id={shop.ben}"]


def test_added_and_changed_links_carry_the_slug(shop):
    shop.show(body='<a href="/" id="changes">x</a>')
    shop.visit(f"/?via={shop.ben}")
    shop.page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", _links(_PAY))
    assert _seen(shop, 1)[1:] == [f"{_PAY}?client_reference_id={shop.ben}"]

    opened = shop.page.evaluate(
        """address => {
          const link = document.getElementById('changes');
          link.addEventListener('click', event => event.preventDefault());
          link.href = address;
          link.click();
          return link.href;
        }""",
        _PAY,
    )
    assert opened == f"{_PAY}?client_reference_id={shop.ben}"


def test_hosted_checkout_forms_carry_the_slug_in_a_field(shop):
    shop.show(
        body=f'<form action="{_PAY}"><input name="action"></form><form action="/search"></form><form></form>'
        '<form action="https://acme.thrivecart.com/mug"><input name="passthrough[via]" value="own"></form>'
    )
    shop.visit(f"/?via={shop.ben}")
    shop.page.wait_for_selector('input[name="client_reference_id"]', state="attached")

    fields = shop.page.evaluate("[...document.querySelectorAll('input')].map(field => [field.name, field.value])")
    assert fields == [["action", ""], ["client_reference_id", shop.ben], ["passthrough[via]", "own"]]


def test_slug_that_a_payment_link_drops_is_left_out(shop, brand):
    brand.affiliate(slug := f"{new_slug()}.x")
    shop.show(body=_links(_PAY, "https://gum.co/mug") + "<stripe-buy-button></stripe-buy-button>")
    shop.visit(f"/?via={slug}")
    shop.page.wait_for_function("slug => document.links[1].href.includes('=' + slug)", arg=slug)
    shop.page.wait_for_timeout(SOON_MS)

    assert _hrefs(shop) == [_PAY, f"https://gum.co/mug?via={slug}"]
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

    found = [each.get_attribute("client-reference-id") for each in shop.page.locator("body > :not(a)").all()]
    assert found == [shop.ben, "own"]
    data = [each.get_attribute("data-custom-data") for each in shop.page.locator("a").all()]
    assert [json.loads(one) for one in data[:3]] == [
        {"via": shop.ben},
        {"plan": "a", "via": shop.ben},
        {"via": "own"},
    ]
    assert data[3] == "{"


@pytest.mark.parametrize("is_shopify", [True, False])
def test_shopify_cart_stores_the_slug_once(shop, is_shopify):
    told = []

    def update(route):
        told.append((route.request.method, json.loads(route.request.post_data)))
        route.fulfill(body="{}", content_type="application/json")

    shop.page.route(f"{SHOP}/cart/update.js", update)
    shop.show(before="<script>window.Shopify = {shop: 'acme'}</script>" if is_shopify else "")
    for address in (f"/?via={shop.ben}", "/more", "/more"):
        shop.visit(address)
        if is_shopify:  # who leaves before the answer is there tells it on the next page once more
            shop.page.wait_for_function("sessionStorage.finderfee_cart")
        shop.page.wait_for_timeout(SOON_MS)
    assert told == [("POST", {"attributes": {"via": shop.ben}})] * is_shopify

    shop.page.evaluate("document.cookie = 'cart=2; path=/'")
    shop.visit("/more")
    shop.wait_until(lambda: len(told) == 2 * is_shopify)
    shop.page.wait_for_timeout(SOON_MS)
    assert len(told) == 2 * is_shopify
