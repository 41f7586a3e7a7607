"""Coupons at the dashboard.

listing      /dashboard/coupons: the families of a program, and every code with whom it credits
making       a new family
store_codes  a new code without a family, at the brand's store or another gateway
discounts    what a coupon or a code takes off, as it is typed
family       one family: its terms, its codes, giving one out, its end
"""

from pages.brand.coupons import family, listing, making, store_codes

BLUEPRINTS = (listing.blueprint, making.blueprint, store_codes.blueprint, family.blueprint)
