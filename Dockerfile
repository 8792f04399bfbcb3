# syntax=docker/dockerfile:1
# The server with the embedded voices, for a CPU.

FROM python:3.11-slim-bookworm AS build
WORKDIR /app
RUN python -m venv /venv && /venv/bin/pip install --no-cache-dir "pip==25.3"
COPY pyproject.toml README.md LICENSE ./
COPY clients/firstword clients/firstword
RUN /venv/bin/pip install --no-cache-dir . --group server --group embedded

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home --home-dir /nonexistent firstword
WORKDIR /app
COPY --from=build /venv /venv
COPY server server
COPY streaming streaming
COPY clients/web clients/web
ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OMP_WAIT_POLICY=passive \
    OMP_NUM_THREADS=1 \
    FIRSTWORD_HOST=0.0.0.0
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD \
    ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
# A key is needed, since the port is meant to be reached: docker run -e FIRSTWORD_KEYS=... -p 8000:8000 firstword
ENTRYPOINT ["python", "-m", "server"]
