"""Attribution: the affiliate whom a payment credits. Facts in, a decision with its reasons out.

Source: tracking spec, section 8 "Lead attribution order"; "Attribution method taxonomy"; "Coupon codes".
"""

from domain.attribution.facts import Coupon, Facts, History, Lead, NamedAffiliate, Referral, Signup
from domain.attribution.order import Decision, Uncredited, decide

__all__ = [
    "Coupon",
    "Decision",
    "Facts",
    "History",
    "Lead",
    "NamedAffiliate",
    "Referral",
    "Signup",
    "Uncredited",
    "decide",
]
