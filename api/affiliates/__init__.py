"""Affiliates as a brand sees them.

affiliates       their records and the applications that wait
decisions        who is let in, refused or paused, singly and in bulk
links            an affiliate's tracking links
balance          what an affiliate has coming, by currency
tax_forms        the tax form on file, and the signed link that opens it
sub_affiliates   whom an affiliate recruited, and with which link
view             what a caller sees of an affiliate
"""

from api.affiliates import affiliates, balance, decisions, links, sub_affiliates, tax_forms

BLUEPRINTS = (
    affiliates.blueprint,
    decisions.blueprint,
    links.blueprint,
    balance.blueprint,
    tax_forms.blueprint,
    sub_affiliates.blueprint,
)
