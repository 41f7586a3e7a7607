"""Writes slices of judged rows: one module for each collection, each in a constant number of statements.

slices       the slice and its switch, and the end of a slice
affiliates   new affiliates with their default links and groups
links        further links, and old tokens
codes        external codes
customers    brought customers and the count of their payments
commissions  conversions, later states and refunds of them
"""
