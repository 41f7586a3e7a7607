"""The portal: what affiliates see, with every brand that they work for. One module per screen, or list and detail.

frame      what every screen of the portal has: the brand's logo and colour, for who works for one brand alone
theme      the style sheet of a brand's colour
home       balances, the next days, links, the last 30 days
links      links with their numbers, made and ended, as QR codes
earnings   what was earned, its state, day and why; as a file
payouts    what was paid, for what, at which rates
account    where one is paid
recruits   whom one brought, and the links that bring them
coupons    codes, and minting them
programs   where one stands, and what else there is
applications  what brands ask of who applies, and afterwards
discover   programs of every brand in the network
deals      fees for pieces of work
assets     texts and images of the brands
"""

from pages.portal import (
    account,
    applications,
    assets,
    coupons,
    deals,
    discover,
    earnings,
    home,
    links,
    payouts,
    programs,
    recruits,
    theme,
)

BLUEPRINTS = (
    home.blueprint,
    links.blueprint,
    earnings.blueprint,
    payouts.blueprint,
    account.blueprint,
    recruits.blueprint,
    coupons.blueprint,
    programs.blueprint,
    applications.blueprint,
    discover.blueprint,
    deals.blueprint,
    assets.blueprint,
    theme.blueprint,
)
