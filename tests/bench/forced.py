"""A ChatTTS server whose every segment has so many tokens, to be compared with an upstream that is forced likewise.

`python -m tests.bench.forced TOKENS WEIGHTS [server flags]`
"""

import sys

from streaming.engine import Engine, EngineSpec
from tests.serving import serve_engine


def build(tokens: int, **options: str | float) -> Engine:
    """The engine, which neither stops before nor goes on after."""
    # The worker imports this module, and only its process may load torch.
    from streaming.chattts import engine  # noqa: PLC0415
    from streaming.chattts.sampling import Sampling  # noqa: PLC0415

    def longest(_text: str, _speed: float = 1.0) -> int:
        return tokens

    def sampling(_params: object) -> Sampling:
        return Sampling(min_tokens=tokens)

    vars(engine).update(longest_tokens=longest, _sampling=sampling)
    return engine.build(**options)


def main() -> int:
    tokens, weights, *flags = sys.argv[1:]
    options: dict[str, str | int | float | bool] = {
        "tokens": int(tokens),
        "weights": weights,
        "precision": "int8",
        "slots": 4,
    }
    return serve_engine(EngineSpec("tests.bench.forced:build", options), flags)


if __name__ == "__main__":
    sys.exit(main())
