"""How a context's text is read: what its client asked for, on what its voice and engine can do."""

from server.host import ContextOptions, Host
from streaming.engine import Voice
from streaming.text.lexicon import LANGUAGES
from streaming.text.speak import TextOptions


def text_options(host: Host, voice: Voice, options: ContextOptions) -> TextOptions:
    """The options of the text front end."""
    return TextOptions(
        languages=_languages(options.language, voice),
        emoji=options.emoji,
        urls=options.urls,
        controls=host.speech.controls,
        lexicon=host.lexicon() + options.lexicon,
        alphabet=host.speech.alphabet,
    )


def _languages(asked: str | None, voice: Voice) -> tuple[str, ...]:
    """Those that text is read in, first the one where no word tells: the one asked for, or else the voice's own."""
    wanted = [tag.partition("-")[0].lower() for tag in (asked or "", *voice.languages)]
    return tuple(dict.fromkeys(language for language in (*wanted, *LANGUAGES) if language in LANGUAGES))
