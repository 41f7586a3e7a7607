"""Coupons at the dashboard.

listing   /dashboard/coupons: the families of a program, and every code with whom it credits
making    a new family
family    one family: its terms, its codes, giving one out, its end
"""

from pages.brand.coupons import family, listing, making

BLUEPRINTS = (listing.blueprint, making.blueprint, family.blueprint)
