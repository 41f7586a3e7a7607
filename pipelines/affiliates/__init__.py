"""What happens to affiliates.

joining      how somebody becomes one, and which slug they get
deciding     what a brand changes of one, and whether it approves or rejects them
bulk         one decision about many
letters      what they are told by mail of that
linking      one more link, and the end of one
recruiting   who brought whom, and what came of it
embedding    the token by which a brand's own site shows one what they have
filing       the tax form on file
"""
