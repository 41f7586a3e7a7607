"""Affiliates at the dashboard: the list, the applications, and each affiliate.

listing             /dashboard/affiliates
applications        applicants who wait for a decision
profile             one affiliate: figures, balances, latest conversions and payouts, links, notes
history             their timeline, payouts and recruits
affiliate_settings  the forms that change them, and a bonus
restricted          the ban and the tax form
"""

from pages.brand.affiliates import affiliate_settings, applications, history, listing, profile, restricted

BLUEPRINTS = (
    listing.blueprint,
    applications.blueprint,
    profile.blueprint,
    history.blueprint,
    affiliate_settings.blueprint,
    restricted.blueprint,
)
