"""Signing in and out, and the way into an organization.

links          one-time links, sign-out, the second factor
providers      identity providers
invitations    the links of invitations to a team
organizations  switching between organizations

All of them use `redirects`, and `request_cookie` is the browser's that requested a link.
"""

from pages.sign_in import invitations, links, organizations, providers

BLUEPRINTS = (links.blueprint, providers.blueprint, invitations.blueprint, organizations.blueprint)
