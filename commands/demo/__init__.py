"""Two small brands to try things on, and the servers on this machine that they talk with."""

COMMANDS = {
    "demo": "commands.demo.demo:demo",
    "demo-gateway": "commands.demo.gateway.acts:group",
}
