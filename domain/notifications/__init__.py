"""Notifications of a brand's people: the kinds, whom each concerns, and the words of each."""
