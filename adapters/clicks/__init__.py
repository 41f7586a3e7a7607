"""Clicks: the visitor's hash, network, country and user agent, and the stream on which clicks wait."""
