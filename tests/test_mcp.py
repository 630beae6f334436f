"""`repolake mcp`: what an assistant gets, through the protocol's own client over stdio."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.mcp_answers import MAX_CHARACTERS
from repolake.records import RepositorySpec
from repolake.settings import load_settings

ROOT = Path(__file__).parent.parent

Ask = Callable[..., Awaitable[str]]


def index(data: Path, *folders: Path) -> None:
    specs = [RepositorySpec(str(folder)) for folder in folders]
    pipeline.index(specs, settings=load_settings(model="fast", data_dir=data))


def with_client(data: Path, talk: Callable[[Client, Ask], Awaitable[None]], log: Path | None = None) -> None:
    """Start the server, let `talk` use a connected client, and end the server."""
    options = ["-X", "importtime"] if log is not None else []
    server = StdioServerParameters(
        command=sys.executable,
        args=[*options, "-m", "repolake", "mcp", "--data-dir", str(data)],
        env={"PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )

    async def run() -> None:
        with (log or Path(os.devnull)).open("w") as errors:
            async with Client(stdio_client(server, errlog=errors), read_timeout_seconds=120) as client:

                async def ask(tool: str, **arguments: object) -> str:
                    result = await client.call_tool(tool, arguments)
                    [content] = result.content
                    return f"ERROR {content.text}" if result.is_error else content.text  # type: ignore[union-attr]

                await talk(client, ask)

    asyncio.run(run())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one repository that has a remote."""
    folder = tmp_path_factory.mktemp("mcp")
    shop = make_repository(folder / "shop")
    git(shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
    index(folder / "data", shop)
    return folder / "data"


def test_an_assistant_finds_reads_greps_and_queries_with_citations_and_without_torch(
    data: Path, tmp_path: Path
):
    commit_id = git(data.parent / "shop", "rev-parse", "HEAD")
    log = tmp_path / "log"

    async def talk(client: Client, ask: Ask) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["search_code", "get_chunk", "grep", "repo_map", "sql"]
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())

        found = await ask("search_code", query="send_invoice", k=1)
        head, url, *lines = found.splitlines()
        match = re.fullmatch(r"1\. acme/shop shop/mail\.py:1-3 send_invoice \(function\) #(\d+)", head)
        assert match is not None
        assert url == f"https://github.com/acme/shop/blob/{commit_id}/shop/mail.py#L1-L3"
        assert "\n".join(lines).rstrip() == SHOP["shop/mail.py"].rstrip()

        chunk = await ask("get_chunk", chunk_id=match[1])
        assert chunk.splitlines()[0] == "acme/shop shop/mail.py:1-3 of 3 lines, send_invoice"
        assert chunk.endswith(SHOP["shop/mail.py"].rstrip())

        assert await ask("grep", pattern=r"def \w+_price", kind="source") == (
            "acme/shop shop/cart.py:14 [Cart]     def total_price(self):"
        )
        assert await ask("grep", pattern="self", k=1) == (
            "acme/shop shop/cart.py:7 [Cart]     def __init__(self):\n… more lines exist"
        )
        counted = await ask(
            "sql", query="select path, count(*) as n from code where kind = 'test' group by all"
        )
        assert counted == "path | n\ntests/test_cart.py | 1"
        assert await ask("sql", query="select i from range(5) as t(i)", max_rows=2) == (
            "i\n0\n1\n… more rows exist"
        )

    with_client(data, talk, log)
    imported = re.findall(r"import time:.*\| +(\S+)$", log.read_text(), re.MULTILINE)
    assert "duckdb" in imported
    assert "torch" not in imported


def test_what_is_wrong_comes_back_as_a_sentence_and_what_is_large_is_cut(data: Path):
    async def talk(_client: Client, ask: Ask) -> None:
        assert "holds no repository 'blog'" in await ask("search_code", query="cart", repository="blog")
        assert "holds no repository 'blog'" in await ask("grep", pattern="cart", repository="blog")
        assert "the query is empty" in await ask("search_code", query=" ")
        assert "is no chunk id" in await ask("get_chunk", chunk_id="cart")
        assert "holds no chunk 7" in await ask("get_chunk", chunk_id="7")
        assert "is no regular expression" in await ask("grep", pattern="(")
        assert "this SQL cannot run" in await ask("sql", query="selec 1")
        for query in (
            "drop table chunks",
            "select * from read_text('/etc/passwd')",
            "copy chunks to '/tmp/stolen.csv'",
            "attach '/tmp/other.duckdb'",
            "set memory_limit = '100GB'",
        ):
            assert (await ask("sql", query=query)).startswith("ERROR "), query
        assert "less than or equal to 20" in await ask("search_code", query="cart", k=10_000)
        assert await ask("grep", pattern="no such words") == (
            "no line matches; patterns are RE2 and respect case, (?i) ignores it"
        )
        large = await ask("sql", query="select repeat('x', 1000) as x from range(200)", max_rows=200)
        assert len(large) <= MAX_CHARACTERS + 100
        assert large.splitlines()[-1] == "… cut at 24,000 characters; name fewer columns, or aggregate"

    with_client(data, talk)


def test_a_newly_published_index_answers_without_a_restart(tmp_path: Path):
    data = tmp_path / "data"
    shop = make_repository(tmp_path / "shop")

    async def talk(_client: Client, ask: Ask) -> None:
        assert "run `repolake index PATH" in await ask("search_code", query="count_stock")
        index(data, shop)
        assert "count_stock" not in await ask("grep", pattern="def count_stock")
        commit(shop, {"shop/stock.py": "def count_stock(article):\n    return article.stock\n"})
        index(data, shop)
        assert await ask("grep", pattern="def count_stock") == (
            "shop shop/stock.py:1 [count_stock] def count_stock(article):"
        )

    with_client(data, talk)


def test_without_the_package_it_is_one_sentence_what_to_install(tmp_path: Path):
    code = (
        "import sys; sys.modules['mcp'] = None; sys.argv = ['repolake', 'mcp']\n"
        "from repolake.cli import main; main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        'repolake: `repolake mcp` needs the package mcp; install it with `pip install "repolake[mcp]"`\n'
    )
