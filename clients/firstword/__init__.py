"""Client for firstword, a real-time streaming text-to-speech server.

`firstword.client.connect` is the way in; `firstword.protocol` has the messages.
"""
