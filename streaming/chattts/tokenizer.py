"""Text to prompt ids."""

import re

from tokenizers import Tokenizer as Backend

CONTROLS = ("[uv_break]", "[lbreak]", "[laugh]")
"""What a user's text may hold in brackets and have obeyed. Everything else in brackets loses the brackets."""

DEFAULT_SPEED = 5

_CONTROL = re.compile("|".join(map(re.escape, CONTROLS)))
_BRACKETS = str.maketrans("[]", "  ")


class Tokenizer:
    """The released WordPiece tokenizer and ChatTTS's prompt around it."""

    def __init__(self, text: str) -> None:
        """`text` is the content of `tokenizer.json`. Raises ValueError if a token ChatTTS needs is missing."""
        self._backend = Backend.from_str(text)
        self._backend.no_padding()
        self._backend.no_truncation()
        self.speaker_id = self._id("[spk_emb]")
        for needed in ("[Stts]", "[Ptts]", "[empty_spk]", *CONTROLS, *(f"[speed_{n}]" for n in range(10))):
            self._id(needed)

    def prompt(self, text: str, *, speaker: bool, speed: int = DEFAULT_SPEED, sample_text: str = "") -> list[int]:
        """Token ids of a prompt that asks for `text` to be spoken.

        With `speaker`, one id is `speaker_id`: its embedding is the voice's vector. `sample_text` is what an audio
        prompt says. Neither text can hold a control token that is not in `CONTROLS`.
        """
        voice = "[spk_emb]" if speaker else "[empty_spk]"
        spoken = neutralise(text).strip()
        return self.encode(f"[Stts]{voice}{neutralise(sample_text)}[speed_{speed}]{spoken}[Ptts]")

    def encode(self, text: str) -> list[int]:
        """Token ids of `text` as it stands, control tokens included."""
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def _id(self, token: str) -> int:
        found = self._backend.token_to_id(token)
        if found is None:
            raise ValueError(f"the tokenizer has no token {token}; it is not ChatTTS's")
        return int(found)


def neutralise(text: str) -> str:
    """Take the brackets from everything but the allowed controls, so that no text can steer the model."""
    plain = _CONTROL.split(text)
    kept = [*_CONTROL.findall(text), ""]
    return "".join(part.translate(_BRACKETS) + control for part, control in zip(plain, kept, strict=True))
