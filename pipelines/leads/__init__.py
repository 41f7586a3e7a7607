"""Leads.

lifecycle     recording, conversion and expiry of leads of any kind
server_leads  leads that a brand's server sends
page_leads    leads that a page of the brand sends
screening     fraud screening of page leads
paid_leads    leads that a campaign pays for
"""
