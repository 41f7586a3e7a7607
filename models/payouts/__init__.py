"""Payout runs, payouts and their lines; candidates, accounts, attempts, rail events and the sandbox rail."""
