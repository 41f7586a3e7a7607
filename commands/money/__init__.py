"""The ledger check, and reference rates of currencies."""

COMMANDS = {
    "ledger": "commands.money.ledger:group",
    "fx": "commands.money.fx:group",
}
