"""Payout runs, payouts and their lines; candidates, accounts, what rails said, what a sandbox would have moved."""
