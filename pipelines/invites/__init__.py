"""Invites of affiliates.

invitations   create one or many, resend, revoke
dispatch      rows, tokens and links
invite_email  the email to the invited person
acceptance    preview and acceptance by the holder of the link
"""
