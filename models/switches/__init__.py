"""Switches from other affiliate systems: their staging tables, and what they brought.

switches           the switches, and the campaigns of their accounts
listing            switches as people see them, with how far each collection is
admin_queries      switches of all organizations, for the operator
staging            rows as they were read, and how far each list is read
judgement          rows as they were understood, with verdicts and decisions
written_rows       the rows that Run writes, and later states of what it wrote before
undo               what undo takes back, and what it keeps
erasing            the erasure of staging, and the switches that are due for it
old_tokens         tokens of the former system's links that cannot be slugs
brought_customers  customers of the former system, and how many payments they made there
"""
