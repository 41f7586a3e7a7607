"""Platforms that bill subscriptions for the brand: paddle, chargebee, recurly, maxio."""
