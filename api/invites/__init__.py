"""Invitations to become an affiliate.

invites   the brand's side: create, list, resend, revoke
tokens    the invited person's side: preview and accept by link
"""

from api.invites import invites, tokens

BLUEPRINTS = (
    invites.blueprint,
    tokens.blueprint,
)
