"""ChatTTS: text to codec tokens to PCM, with its own generation loop."""
