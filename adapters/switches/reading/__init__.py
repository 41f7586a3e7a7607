"""Reads the answers of sources without trusting their shape. Pure; every source uses it.

values   texts, ids, times, names, tokens, counts
amounts  money in whole minor units, never rounded
rows     lists of a page as rows with ids, mentions of affiliates, page cursors
"""
