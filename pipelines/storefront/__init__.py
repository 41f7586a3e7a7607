"""Strangers: which campaign they see (`lookup`), and their application (`applying`)."""
