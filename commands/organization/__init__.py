"""Tenants, and who may call for them."""

COMMANDS = {
    "org": "commands.organization.organizations:group",
    "key": "commands.organization.keys:group",
    "token": "commands.organization.tokens:group",
    "sign-in": "commands.organization.sign_in:group",
}
