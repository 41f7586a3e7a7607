"""Fraud events, their summary, and bans."""
