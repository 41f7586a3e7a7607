"""Invitations to become an affiliate.

invites   what a brand does with them
tokens    what the link of one opens, for programs
page      what it opens, for people
"""

from api.invites import invites, page, tokens

BLUEPRINTS = (
    invites.blueprint,
    tokens.blueprint,
    page.blueprint,
)
