"""Coupons at the dashboard.

listing      /dashboard/coupons: the coupons of a program, and every code with its affiliate
new_coupons  a new coupon; a new code without a coupon, at the brand's store or another gateway
family       one coupon: its terms, its codes, minting one for an affiliate, its end
"""

from pages.brand.coupons import family, listing, new_coupons

BLUEPRINTS = (listing.blueprint, new_coupons.blueprint, family.blueprint)
