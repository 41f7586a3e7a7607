"""Coupons and their codes.

coupons            coupons of a campaign, for the brand
affiliate_coupons  codes of one affiliate, for the brand
lists              coupons of all campaigns and codes of all affiliates, for the brand
own_coupons        codes of the affiliate who signed in
code_requests      the common part: minting and ending a code in a request
"""

from api.coupons import affiliate_coupons, coupons, lists, own_coupons

BLUEPRINTS = (coupons.blueprint, affiliate_coupons.blueprint, lists.blueprint, own_coupons.blueprint)
