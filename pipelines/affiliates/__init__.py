"""Affiliates.

enrollment        a person joins a program and gets a slug
management        a brand changes, approves or rejects one affiliate
bulk_actions      one action on many affiliates
status_emails     emails to affiliates about approval and rejection
affiliate_links   additional links, and their end
recruitment       recruiters, their invitation address and what their recruits earned
embed_access      tokens by which a brand's own site shows an affiliate's data
tax_form_files    the tax form on file
"""
