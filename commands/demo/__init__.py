"""Two small brands to try things on, and the simulated servers on this machine that they use."""

COMMANDS = {
    "demo": "commands.demo.demo:demo",
    "demo-gateway": "commands.demo.gateway.cli:group",
}
