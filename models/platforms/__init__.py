"""Rows of the newsletter and CRM platforms: the connections, and the payments that they are asked about.

Lock order: the advisory locks of what a gateway reports, a connection, the payment, then what a conversion needs.
"""
