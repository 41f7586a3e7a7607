"""Requests that change a program's terms."""

PROGRAMS = "/api/v1/programs"


def change_program(brand, program_id, **fields):
    """Change fields of a program."""
    return brand.call("PATCH", f"{PROGRAMS}/{program_id}", fields)
