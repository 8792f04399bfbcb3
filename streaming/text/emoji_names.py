"""Pictures in text: silent, or said by their names."""

import re

import emoji

from streaming.text.mapped import Mapped

_PICTURE = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u2300-\u23ff\u25a0-\u25ff\u3030\u303d\u3297\u3299\u231a-\u23ff]"
    "[\u200d\ufe0e\ufe0f\u20e3\U0001f000-\U0001faff\u2600-\u27bf\U000e0020-\U000e007f]*|[0-9#*]\ufe0f?\u20e3"
)
_JOINERS = re.compile("[\u200d\ufe0e\ufe0f]")


def name_pictures(text: Mapped, policy: str, language: str) -> Mapped:
    """Emoji by name (`name`) or silent (`silent`)."""

    def say(match: re.Match[str]) -> str:
        return _names(match.group(), language) if policy == "name" else " "

    return text.sub(_PICTURE, say).sub(_JOINERS, lambda _: "")


def _names(pictures: str, language: str) -> str:
    said = emoji.demojize(pictures, delimiters=(" ", " "), language=language)
    return f" {re.sub('[_:-]', ' ', said).strip()} "
