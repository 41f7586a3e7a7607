"""Commands for developers of a brand: trigger an event, and receive its webhooks."""

COMMANDS = {
    "listen": "commands.developer.listen:listen",
    "trigger": "commands.developer.trigger:trigger",
}
