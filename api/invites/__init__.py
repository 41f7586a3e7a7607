"""Invitations to become an affiliate.

invites   what a brand does with them
tokens    what the link of one opens
"""

from api.invites import invites, tokens

BLUEPRINTS = (
    invites.blueprint,
    tokens.blueprint,
)
