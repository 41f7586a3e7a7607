"""A small brand to try things on, and the server on this machine that its webhooks lead to."""

COMMANDS = {
    "demo": "commands.demo.demo:demo",
    "demo-receiver": "commands.demo.receiver:run",
}
