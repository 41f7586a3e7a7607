"""Tenants, their API keys, tokens and sign-in links."""

COMMANDS = {
    "org": "commands.organization.organizations:group",
    "key": "commands.organization.keys:group",
    "token": "commands.organization.tokens:group",
    "sign-in": "commands.organization.sign_in:group",
}
