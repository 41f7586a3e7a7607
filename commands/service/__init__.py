"""The service itself: processes, schema, jobs, backups, retention and secrets."""

COMMANDS = {
    "up": "commands.service.up:up",
    "relay": "commands.service.processes:relay",
    "scheduler": "commands.service.processes:schedule",
    "clicks": "commands.service.processes:clicks",
    "loops": "commands.service.processes:loops",
    "backup": "commands.service.backup:group",
    "restore": "commands.service.restore:group",
    "countries": "commands.service.countries:group",
    "db": "commands.service.database:group",
    "jobs": "commands.service.jobs:group",
    "retention": "commands.service.retention:group",
    "secrets": "commands.service.secrets:group",
}
