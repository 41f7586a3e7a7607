"""Where a conversation with the co-pilot stands, and what bounds it."""

from datetime import timedelta
from enum import StrEnum


class ConversationState(StrEnum):
    """Answered and Failed wait for the person's next words, Asking for their decision; Thinking for the model.

    In Working the model wants to look at something, and the person's next request does it for them.
    """

    Answered = "Answered"
    Thinking = "Thinking"
    Working = "Working"
    Asking = "Asking"
    Failed = "Failed"


class ActState(StrEnum):
    """A proposed act: Running while it is being done, Done and Failed by what the operation said."""

    Proposed = "Proposed"
    Running = "Running"
    Done = "Done"
    Failed = "Failed"
    Declined = "Declined"
    Expired = "Expired"


class EntryKind(StrEnum):
    """What was said: by the person, by the model, and by a tool."""

    Question = "Question"
    Reply = "Reply"
    Result = "Result"


class CopilotFailure(StrEnum):
    """Why there is no answer: the endpoint was away, busy, refused us or said what nobody reads; or our own bounds."""

    Away = "endpoint_away"
    Busy = "endpoint_busy"
    RefusesUs = "endpoint_refused"
    Unreadable = "endpoint_unreadable"
    Silent = "no_answer"
    Rounds = "too_many_rounds"
    Budget = "budget_spent"


#: How often the model is asked for one question; the last time it has to answer.
MOST_ROUNDS = 8
#: How many questions a conversation takes.
MOST_QUESTIONS = 40
#: Characters of a question.
LONGEST_QUESTION = 4_000
#: How long what was proposed may be confirmed: who reads it sees figures of this age.
CONFIRMED_WITHIN = timedelta(minutes=15)
#: What began to run this long ago died with its process, and may be begun again.
BEGUN_FOR = timedelta(seconds=60)
#: A model that is silent for this long, and its worker with it, is waited for no more.
SILENT_FOR = timedelta(minutes=5)
