"""Coupons and their codes: created at the gateway outside of any transaction, between two that record it.

A request writes a row in state "minting", calls the gateway and records the result; a job finishes what it could not.

families    coupons: a family of codes with one discount
minting     codes of affiliates
revocation  codes end in our database and at their gateway
places      the gateway where a coupon or code is created
calls       a call that creates something at a gateway, and its result
"""
