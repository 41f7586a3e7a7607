"""A sale, from the request to its last change.

    acceptance          a posted sale is accepted once and queued
    settlement          an accepted sale becomes a priced conversion, by a worker or the first request that needs it
    price               its rate and its commission
    credit              the affiliate whom a payment credits, and why
    manual_conversions  a conversion that the brand records by hand
    override            the recruiter's share
    release             approves conversions whose hold has passed
    renewal             recomputes holds when the organization changes their length
    review              validate, invalidate, approve, deny
    adjustment          a person changes the commission
    addition            the amount goes up after the first payment
    refund              takes back money of a conversion and of its override
    restoration         undoes a refund
    dispute             holds a disputed sale back from payouts

Every new conversion is written by `pipelines.earnings.write`; only an import writes a thousand at once by itself
(`models/imports/conversions.py`), with the same related rows. Lock order: the payout run lock (refunds and
reviews), sale, conversion, override.
"""
