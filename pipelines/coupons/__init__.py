"""Coupons and their codes: made at the gateway outside of any transaction, between two that write it down.

A request writes a row that is minting, calls, and writes what came of it; a job is there for what it could not finish.
"""
