"""Affiliates at the dashboard: who there is, who wants to be let in, and each by themselves."""

from pages.brand.affiliates import applications, listing

BLUEPRINTS = (listing.blueprint, applications.blueprint)
