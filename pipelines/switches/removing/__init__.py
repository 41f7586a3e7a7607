"""Takes slices of written rows back: one module for each collection, each in a constant number of statements.

slices       the slice and its switch
customers    brought customers and the count of their payments
commissions  conversions, later states of earlier ones, and refunds
affiliates   affiliates without any use
links        links, old tokens and codes of affiliates who were here before
"""
