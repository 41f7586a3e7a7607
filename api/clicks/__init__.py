"""Visits through affiliate links, and the script of a brand's pages that reports them.

clicks               visits reported by a script or an image
loader               the script that pages load
install_snippet      the HTML that loads it
install_check        checks that a page has the script and that it works
attribution_params   the query parameters that the script looks for
fast_path            the usual visit, answered by the event loop instead of the route
short_links          redirects of short links, with their click
store_checkout       the affiliate of a checkout, reported by a store's web pixel
checkout_door        redirects to a checkout that store the buyer's affiliate
visits               the common part: finding the link, counting the request, sending the click
debug                the outcome of a click, for people who test their links
tag_sightings        records that a page has the tag
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
