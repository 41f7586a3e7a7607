"""Coupons and their codes.

campaign   families of codes, for the brand
codes      codes of one affiliate, for the brand
listing    coupons of all campaigns and codes of all affiliates, for the brand
own        codes of the affiliate who signed in
view       what minting and ending take in a request
"""

from api.coupons import affiliate_coupons, coupons, lists, own_coupons

BLUEPRINTS = (coupons.blueprint, affiliate_coupons.blueprint, lists.blueprint, own_coupons.blueprint)
