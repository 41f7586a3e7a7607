"""Affiliates of a brand.

affiliates       their records and pending applications
decisions        approve, reject and bulk actions
export           the list as a CSV file
filters          the filters of the list and of its file
links            an affiliate's tracking links
balance          an affiliate's balance by currency
tax_forms        the tax form on file, and the signed link that opens it
timeline         what happened to an affiliate
sub_affiliates   an affiliate's recruits and recruiting link
serializers      the JSON of an affiliate for a caller
"""

from api.affiliates import affiliates, balance, decisions, export, links, sub_affiliates, tax_forms, timeline

BLUEPRINTS = (
    affiliates.blueprint,
    decisions.blueprint,
    export.blueprint,
    links.blueprint,
    balance.blueprint,
    timeline.blueprint,
    tax_forms.blueprint,
    sub_affiliates.blueprint,
)
