"""The states of a switch. Source: the switch-over rules, "Words and records"."""

from enum import StrEnum


class SwitchState(StrEnum):
    """The state of a switch; the brand's records are untouched until Writing."""

    Connected = "Connected"
    Reading = "Reading"
    Ready = "Ready"
    Writing = "Writing"
    Paused = "Paused"
    Completed = "Completed"
    Undoing = "Undoing"
    Undone = "Undone"
    Cancelled = "Cancelled"


#: States from which nothing moves any more, so that another switch may begin. Undo may still follow Completed.
ENDED = (SwitchState.Completed, SwitchState.Undone, SwitchState.Cancelled)
#: States in which mapping, options and credentials may change.
CHANGEABLE = (SwitchState.Connected, SwitchState.Reading, SwitchState.Ready, SwitchState.Paused)
#: States in which reading may begin.
READABLE = (SwitchState.Connected, SwitchState.Ready)
#: Stages of Reading that are not a collection.
RECHECK, JUDGE = "recheck", "judge"


class ErrorCode(StrEnum):
    """Why a switch is paused."""

    CredentialsRefused = "credentials_refused"
    SourceUnavailable = "source_unavailable"
    AnswerTooLarge = "answer_too_large"
    InternalError = "internal_error"
    TooManyRows = "too_many_rows"
