"""Switches from other affiliate systems: their staging tables, and what they brought.

switches  the switches, and the campaigns of their accounts
"""
