"""What a worker that is behind does several jobs at a time with. Decision 47 says why it is built so.

alone        which kinds go alone for a while, because a batch failed
calls        several calls to the outside, one after another
call_slots   how many calls to one server are made at a time, so that a slow one leaves threads to others
"""
