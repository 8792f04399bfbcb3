"""A browser and servers, for all tests of the page."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.serving import running_server
from tests.web.browser import chromium, opened
from tests.web.murmur import MURMUR


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Playwright's event loop is the main thread's, so these tests run apart from those with loops of their own."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("web")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """A server that murmurs."""
    with running_server(module=MURMUR) as server:
        yield server.url


@pytest.fixture(scope="session")
def voices_url() -> Iterator[str]:
    """A server with real voices."""
    with running_server() as server:
        yield server.url


Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, url: str) -> Iterator[Visit]:
    """Open the page: `visit(record=False, viewport=...)`."""
    with ExitStack() as stack:

        def open_page(at: str = url, **options: Any) -> Page:
            page: AbstractContextManager[Page] = opened(browser, at, **options)
            return stack.enter_context(page)

        yield open_page
