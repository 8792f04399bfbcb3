"""A local stand-in for an OpenAI-compatible language model: streams the tokens it was given."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    key: str | None
    body: dict[str, Any]


@dataclass
class ModelDouble:
    """What it answers, and what it was asked."""

    tokens: Sequence[str]
    interval_s: float
    url: str = ""
    requests: list[Asked] = field(default_factory=list)
    finished: bool = False
    _gone: threading.Event = field(default_factory=threading.Event)

    def wait_gone(self) -> None:
        """Until a client has left before the answer's end."""
        assert self._gone.wait(timeout=30)

    def stream(self, asked: Asked) -> Iterator[bytes]:
        """The answer as server-sent events."""
        self.requests.append(asked)
        for token in self.tokens:
            choice = {"index": 0, "delta": {"role": "assistant", "content": token}, "finish_reason": None}
            chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "double", "choices": [choice]}
            yield f"data: {json.dumps(chunk)}\n\n".encode()
            time.sleep(self.interval_s)
        yield b"data: [DONE]\n\n"
        self.finished = True

    def gone(self) -> None:
        """A client left."""
        self._gone.set()


@contextmanager
def model_endpoint(tokens: Sequence[str], interval_s: float = 0.0) -> Iterator[ModelDouble]:
    """One that listens until the block ends."""
    model = ModelDouble(tokens, interval_s)

    class Handler(BaseHTTPRequestHandler):
        def do_OPTIONS(self) -> None:
            self._head(204, "text/plain")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                self._head(404, "text/plain")
                return
            self._head(200, "text/event-stream")
            try:
                for data in model.stream(Asked(self.headers["Authorization"], body)):
                    self.wfile.write(data)
                    self.wfile.flush()
            except OSError:
                model.gone()

        def _head(self, status: int, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "*, Authorization, Content-Type")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
