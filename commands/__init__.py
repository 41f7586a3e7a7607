"""Operator commands: `flask db|org|key|jobs|ledger|payout|demo|relay|scheduler|clicks|up` and more.

All take --json; each says what to do next.
"""
