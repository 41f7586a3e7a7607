"""Rows of the newsletter and CRM platforms: the connections, and the payments that they are asked about.

Locks in this order: the turns of what a gateway tells, a connection, the payment, then what a conversion needs.
"""
