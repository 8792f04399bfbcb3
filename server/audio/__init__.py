"""PCM from an engine to the bytes a client asked for."""
