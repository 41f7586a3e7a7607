"""The team of an organization: who belongs to it, and with which role.

changes      roles and removal, and who manages them
invitations  invitations by email
"""
