"""The platforms that bill subscriptions."""
