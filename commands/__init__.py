"""Operator commands. All but the processes take --json; each prints what to do next.

registry       the module of each command; folders list their own
output         printing, and the operator's transaction
timestamps     parsing of times
audit_trail    audit log entries of the operator's commands

service        processes, schema, jobs, backups, retention, secrets
organization   tenants, their keys, tokens and sign-in links
programs       campaigns of all brands
gateways       payment gateways that bring sales
platforms      newsletter and CRM platforms that say who brought a buyer
money          the ledger check, and reference rates
demo           two small brands to try things on
developer      triggers events and receives webhooks, for a brand's developers

Without a folder: `affiliates`, `deals`, `embed`, `mail`, `payouts`, `switches`, `webhooks`.
"""
