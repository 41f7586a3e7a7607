"""Affiliates at the dashboard: the list, the applications, and each affiliate.

listing        /dashboard/affiliates
applications   applicants who wait for a decision
profile        one affiliate, and the forms that change them
"""

from pages.brand.affiliates import applications, listing, profile

BLUEPRINTS = (listing.blueprint, applications.blueprint, profile.blueprint)
