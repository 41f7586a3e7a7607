"""Payouts of due commission: the plan, its gates, the destinations, the transfers, and reversals by refunds."""
