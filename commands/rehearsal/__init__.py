"""For developers of a brand: make an event happen, and receive what is told of it."""

COMMANDS = {
    "listen": "commands.rehearsal.listen:listen",
    "trigger": "commands.rehearsal.trigger:trigger",
}
