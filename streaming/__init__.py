"""Text to PCM. Knows no network."""
