"""A small brand to try things on, and the servers on this machine that it talks with: its webhooks', its gateway's."""

COMMANDS = {
    "demo": "commands.demo.demo:demo",
    "demo-gateway": "commands.demo.gateway.acts:group",
    "demo-receiver": "commands.demo.receiver:run",
}
