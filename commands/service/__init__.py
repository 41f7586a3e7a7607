"""The service itself: its processes, its schema, its jobs, what it keeps and seals."""

COMMANDS = {
    "up": "commands.service.up:up",
    "relay": "commands.service.processes:relay",
    "scheduler": "commands.service.processes:schedule",
    "clicks": "commands.service.processes:clicks",
    "db": "commands.service.database:group",
    "jobs": "commands.service.jobs:group",
    "retention": "commands.service.retention:group",
    "secrets": "commands.service.secrets:group",
}
