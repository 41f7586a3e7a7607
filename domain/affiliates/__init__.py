"""Affiliates of a brand.

orders     the sort orders of lists of affiliates
timeline   the events of an affiliate, from audit entries and the times of their rows
"""
