"""Affiliates at the dashboard: who there is, who wants to be let in, and each by themselves.

listing        /dashboard/affiliates
applications   who waits for a decision
profile        one affiliate
changes        what is changed of them
grave          the ban and the tax form, each on a page of its own
"""

from pages.brand.affiliates import applications, grave, listing, profile

BLUEPRINTS = (listing.blueprint, applications.blueprint, profile.blueprint, grave.blueprint)
