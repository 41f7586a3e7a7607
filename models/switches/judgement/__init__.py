"""Rows as they were understood and judged.

items            rows with verdicts and decisions
item_lookups     what other items of the same switch say
judging_state    how far judging is, and the raw rows
known_records    records of the brand that rows may already be
refund_lookups   sales that negative commissions take back
figures          stated figures and the sums of rows
link_parameters  parameters that links name
known_earnings   unpaid earnings that grew since an earlier switch
"""
