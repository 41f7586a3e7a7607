"""Operator commands. All but the processes take --json; each says what to do next.

listed         where each command is; a folder lists its own
output         how commands speak, and the operator's transaction
moments        times as an operator types them
trail          what an operator did, for the audit log

service        what runs: processes, schema, jobs, what is kept and sealed
organization   tenants, their keys, tokens for people
programs       campaigns of all brands
gateways       payment gateways that bring sales
platforms      newsletter and CRM platforms that say who brought a buyer
money          the ledger's check and the rates
demo           two small brands to try things on
rehearsal      events for a brand's developers, made and received

Alone with their subject: `affiliates`, `deals`, `embed`, `mail`, `payouts`, `webhooks`.
"""
