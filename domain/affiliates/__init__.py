"""Affiliates of a brand.

timeline   the events of an affiliate, from audit entries and the times of their rows
"""
