"""The rules of the service: facts in, decisions out.

Everything here is pure: standard library only, no clock, no I/O, no float. Time, identifiers and stored state come in
as arguments; callers query first, decide here, then write. Money is int minor units, rates and percents are Decimal.
"""
