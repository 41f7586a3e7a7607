"""The rules by which rows of another system become records here.

affiliate_rules   one person's affiliates in one program
link_rules        a token becomes a slug or an old token, and the parameters that are added
customer_ids      which field is the billing system's id
customer_rules    the rows of one customer
commission_rules  states of brought conversions, and why commissions are left out
"""
