"""The portal: the screens of affiliates, for all brands that they work for. One module per screen, or list and detail.

frame      the frame of all screens: the brand's logo and colour for affiliates of one brand only
theme      the style sheet of a brand's colour
home       balances, the next days, links, the last 30 days
links      links with their numbers, created and deleted, as QR codes
earnings   commissions with their state, day and reason; as a file
payouts    payouts with their lines and rates
account    the payout account
recruits   recruited affiliates, and recruiting links
coupons    codes, and minting them
programs   the affiliate's programs and offers
applications  the questions of applications, and of their second step
discover   programs of all brands in the network
deals      fees for milestones of work
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
