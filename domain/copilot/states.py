"""The states and limits of a conversation with the co-pilot."""

from datetime import timedelta
from enum import StrEnum


class ConversationState(StrEnum):
    """Answered and Failed wait for the person's next question, Asking for their decision, Thinking for the model.

    In Working the model requested a read-only tool, and the person's next request runs it.
    """

    Answered = "Answered"
    Thinking = "Thinking"
    Working = "Working"
    Asking = "Asking"
    Failed = "Failed"


class ActState(StrEnum):
    """The state of a proposed act: Running during its operation, Done or Failed by the operation's result."""

    Proposed = "Proposed"
    Running = "Running"
    Done = "Done"
    Failed = "Failed"
    Declined = "Declined"
    Expired = "Expired"


class EntryKind(StrEnum):
    """An entry by the person, by the model, or by a tool."""

    Question = "Question"
    Reply = "Reply"
    Result = "Result"


class CopilotFailure(StrEnum):
    """Why there is no answer: the endpoint did not respond, was busy, refused us or replied badly; or our own limit."""

    Away = "endpoint_away"
    Busy = "endpoint_busy"
    RefusesUs = "endpoint_refused"
    Unreadable = "endpoint_unreadable"
    Silent = "no_answer"
    Rounds = "too_many_rounds"
    Budget = "budget_spent"


#: Requests to the model for one question; in the last it must answer.
MAX_ROUNDS = 8
#: Questions of one conversation.
MAX_QUESTIONS = 40
#: Characters of a question.
MAX_QUESTION_CHARS = 4_000
#: The time within which a proposed act can be confirmed: the reader sees figures of up to this age.
CONFIRMATION_PERIOD = timedelta(minutes=15)
#: An act that started this long ago died with its process, and may be started again.
ACT_TIMEOUT = timedelta(seconds=60)
#: The time after which a silent model, or its worker, is given up.
MODEL_TIMEOUT = timedelta(minutes=5)
