"""What happens to a sale, from the moment it is posted to the last word about it.

    accept    a posted sale is accepted once and queued
    settle    an accepted sale becomes a priced conversion, by the worker or by who asks for it first
    price     its rate and its commission
    credit    whom a payment credits, and why
    manual    a conversion that the brand records by hand
    override  the recruiter's share of it
    release   what has passed its hold is approved
    renewal   holds anew, when the organization changes their length
    review    what people decide about it
    refund    what it gives back, and its override with it
    addition  what is added to it after its first payment

Each single conversion is written by `pipelines.earnings.write`; an import writes a thousand at once with the same other
rows (`models/imports/conversions.py`). Lock order: the payout run lock (refunds and reviews), sale, conversion,
override.
"""
