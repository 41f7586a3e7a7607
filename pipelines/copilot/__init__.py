"""The co-pilot, in three places that never meet.

asking     a request of the person: a question, one that is asked again, what to do with what was proposed
answering  a worker: the model is asked, and its reply written down; nothing is done
looking    a request of the person: what the model wants to see is looked up, what it wants done is proposed
talk       what all three write down

A worker acts for nobody, so no session is kept for it; a request waits for no model. Decision 38 says why.
"""
