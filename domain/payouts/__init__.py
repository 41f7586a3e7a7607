"""What is due becomes payouts: the plan, its gates, where money goes, how a transfer ends, how a refund takes back."""
