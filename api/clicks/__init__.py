"""Visits that links brought, and how a brand's pages tell of them.

clicks               a visit told by a script or by a picture
loader               the script that the pages load
install_snippet      the HTML that loads it
install_check        is it on a page, and does it work
attribution_params   the query parameters it looks for
fast_path            the usual visit, answered by the event loop instead of the route
short_links          where a short link leads, the click on its way
store_checkout       a store's web pixel tells who sent the browser of a checkout
checkout_door        on to a checkout, who sent the buyer remembered
visits               what they share: is it one, where does it lead, off with it
debug                what became of a click, for people who test their links
page_seen            a note that a page carries the tag
"""

from api.clicks import attribution_params, clicks, install_check, install_snippet, loader, store_checkout

BLUEPRINTS = (
    clicks.blueprint,
    store_checkout.blueprint,
    loader.blueprint,
    install_snippet.blueprint,
    install_check.blueprint,
    attribution_params.blueprint,
)
