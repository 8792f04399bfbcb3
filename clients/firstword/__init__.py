"""Client for firstword, a streaming text-to-speech server."""
