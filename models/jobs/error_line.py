"""The one line of a job's error that a list shows."""

_MAX_CHARACTERS = 300


def error_line(error: str | None) -> str | None:
    """Return the first line of the message of an error, None without an error.

    Of a traceback that is the line behind its last frame: what follows is detail, such as PostgreSQL's `CONTEXT`.
    """
    lines = (error or "").strip().splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith('  File "')]
    behind = lines[frames[-1] :] if frames else lines
    messages = (line for line in behind if line.strip() and not line.startswith(("  ", "Traceback")))
    message = next(messages, None)
    return message.strip()[:_MAX_CHARACTERS] if message else None
