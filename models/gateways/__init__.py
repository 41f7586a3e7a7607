"""Rows of native connections: the connections, their inbox, and what is known of every payment and refund.

Locks in this order: the organization's connections (`connections.stage_turn`), then an event of the inbox, then a
payment (`payments.stage_turn`, by gateway), then what a conversion needs.
"""
