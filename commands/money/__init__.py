"""Whether the money adds up, and what it is worth."""

COMMANDS = {
    "ledger": "commands.money.ledger:group",
    "fx": "commands.money.fx:group",
}
