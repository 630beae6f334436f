"""The HTTP interface of a real server on a small real index."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from repositories import SHOP, git, make_repository
from served import ROOT, Server, environment, hits, index, serving

ORDERS = '''"""Orders of a shop."""


def place(order):
    return order


def cancel(order):
    if order.is_paid:
        return refund(order)


def refund(order):
    return -order.total
'''
RESULT_COLUMNS = (
    "rank score chunk_id repository ref commit path start_line end_line symbol symbol_kind kind language "
    "signature text url text_rank text_score vector_rank vector_score"
).split()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_repository(
        tmp_path_factory.mktemp("repositories") / "shop", {**SHOP, "shop/orders.py": ORDERS}
    )
    git(folder, "remote", "add", "origin", "https://github.com/acme/shop.git")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, shop: Path) -> Path:
    data_dir = tmp_path_factory.mktemp("data")
    index(data_dir, shop)
    return data_dir


@pytest.fixture(scope="module")
def server(data: Path) -> Iterator[Server]:
    with serving(data, sql=True, sql_rows=5) as running:
        yield running


def error_of(answer: httpx.Response) -> str:
    """Return the sentence of an answer that is no success: one line, no traceback."""
    assert list(answer.json()) == ["error"]
    sentence = answer.json()["error"]
    assert isinstance(sentence, str)
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


def test_search_gives_the_result_columns_with_ids_as_strings(server: Server, shop: Path):
    first = hits(server, "mail the invoice", k=3)[0]
    assert list(first) == RESULT_COLUMNS
    assert (first["rank"], first["repository"], first["path"]) == (1, "acme/shop", "shop/mail.py")
    assert (first["symbol"], first["start_line"], first["end_line"]) == ("send_invoice", 1, 3)
    assert isinstance(first["chunk_id"], str)
    head = git(shop, "rev-parse", "HEAD")
    assert first["url"] == f"https://github.com/acme/shop/blob/{head}/shop/mail.py#L1-L3"


def test_every_filter_and_mode_narrows_the_search(server: Server):
    assert {hit["path"] for hit in hits(server, "total price", kind="test")} == {"tests/test_cart.py"}
    assert {hit["path"] for hit in hits(server, "shop", language="markdown")} == {"README.md"}
    assert {hit["path"] for hit in hits(server, "total price", path="shop/")} <= {
        "shop/cart.py",
        "shop/mail.py",
        "shop/orders.py",
    }
    assert {hit["path"] for hit in hits(server, "total price", path_glob="tests/*.py")} == {
        "tests/test_cart.py"
    }
    assert {hit["symbol"] for hit in hits(server, "order", symbol="cancel")} == {"cancel"}
    assert len(hits(server, "cart", k=2)) == 2
    assert all(hit["vector_rank"] is None for hit in hits(server, "cart", mode="text"))
    assert all(hit["text_rank"] is None for hit in hits(server, "cart", mode="vector"))
    assert hits(server, "cart", repository="acme/shop", ref="main")


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/search", 422, "q is missing"),
        ("/search?q=", 422, "empty"),
        ("/search?q=%20%00", 422, "empty"),
        ("/search?q=" + "a" * 2001, 422, "2000"),
        ("/search?q=a&k=0", 422, "k"),
        ("/search?q=a&k=201", 422, "200"),
        ("/search?q=a&k=1e3", 422, "k"),
        ("/search?q=a&mode=magic", 422, "hybrid"),
        ("/search?q=a&kind=magic", 422, "source"),
        ("/search?q=a&limit=3", 422, "limit is no parameter"),
        ("/search?q=a&repository=nobody/nothing", 404, "acme/shop"),
        ("/search?q=a&ref=nowhere", 404, "main"),
        ("/chunks/1", 404, "no chunk 1"),
        ("/chunks/9999999999999999999", 404, "no chunk"),
        ("/chunks/-1", 422, "chunk_id"),
        ("/chunks/abc", 422, "chunk_id"),
        ("/chunks/1?context=100000", 422, "context"),
        ("/nothing", 404, "/nothing"),
        ("/pages/..%2fserve.py", 404, "nothing"),
        ("/pages/%2e%2e/serve.py", 404, "nothing"),
        ("/pages/nothing.js", 404, "nothing"),
    ],
)
def test_a_wrong_request_is_refused_with_one_sentence(server: Server, address: str, status: int, words: str):
    answer = server.client.get(address)
    assert answer.status_code == status
    assert words in error_of(answer)


def test_a_method_that_would_write_is_refused(server: Server):
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = server.client.request(method, "/search?q=a")
        assert answer.status_code == 405
        error_of(answer)


def test_a_chunk_comes_with_the_lines_of_its_file_around_it(server: Server):
    [hit] = hits(server, "cancel", symbol="cancel")
    chunk = server.json(f"/chunks/{hit['chunk_id']}", context=4)
    assert isinstance(chunk, dict)
    lines = ORDERS.splitlines()
    first, last = chunk["start_line"], chunk["end_line"]
    assert (first, last) == (8, 10)
    assert chunk["context"]["start_line"] == first - 4
    assert chunk["context"]["lines"] == lines[first - 5 : last + 4]
    assert chunk["context"]["line_count"] == len(lines)
    whole = server.json(f"/chunks/{hit['chunk_id']}", context=500, ref="main")
    assert isinstance(whole, dict)
    assert whole["context"]["lines"] == lines
    alone = server.json(f"/chunks/{hit['chunk_id']}")
    assert isinstance(alone, dict)
    assert "\n".join(alone["context"]["lines"]) == alone["text"]
    assert server.client.get(f"/chunks/{hit['chunk_id']}?ref=other").status_code == 404


def test_repositories_inventory_and_status_count_the_files(server: Server):
    [entry] = server.json("/repositories")  # type: ignore[misc]
    assert (entry["repository"], entry["ref"], entry["refs"]) == ("acme/shop", "main", ["main"])
    assert (entry["indexed_file_count"], entry["skipped_file_count"], entry["failed_file_count"]) == (5, 1, 0)
    assert sum(entry["languages"].values()) == sum(entry["kinds"].values()) == entry["chunk_count"]
    inventory = server.json("/inventory")
    assert isinstance(inventory, list)
    counts = {(row["decision"], row["kind"], row["skip_rule"]): row["file_count"] for row in inventory}
    assert counts == {
        ("indexed", "source", None): 3,
        ("indexed", "test", None): 1,
        ("indexed", "docs", None): 1,
        ("skipped", None, "package-lock.json"): 1,
    }
    assert server.json("/inventory", repository="other") == []
    status = server.json("/status")
    assert isinstance(status, dict)
    assert [ref["chunks"] for ref in status["repositories"][0]["refs"]] == [entry["chunk_count"]]
    assert status["runs"][0]["state"] == "complete"
    assert set(status["runs"][0]["stage_seconds"]) == {"scan", "chunk", "embed", "load"}
    assert server.json("/evaluations") == []


def test_metrics_count_requests_by_route_and_tell_the_age_of_the_index(server: Server):
    def samples() -> dict[tuple[str, ...], float]:
        text = server.client.get("/metrics").text
        return {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    server.client.get("/chunks/5")
    before = samples()
    server.client.get("/chunks/6")
    server.client.get("/nobody/knows")
    after = samples()
    total = ("repolake_http_requests_total", "/chunks/{chunk_id}", "404", "GET")
    assert after[total] == before[total] + 1
    seconds = ("repolake_http_request_seconds_count", "/chunks/{chunk_id}", "GET")
    assert after[seconds] == before[seconds] + 1
    assert not any("/nobody/knows" in key for key in after)
    [entry] = server.json("/repositories")  # type: ignore[misc]
    assert after[("repolake_chunks", "acme/shop")] == entry["chunk_count"]
    assert 0 < after[("repolake_index_age_seconds",)] < 86_400


def test_openapi_describes_every_route_and_parameter(server: Server):
    found = server.json("/openapi.json")
    assert isinstance(found, dict)
    assert {
        "/search",
        "/chunks/{chunk_id}",
        "/sql",
        "/repositories",
        "/status",
        "/healthz",
        "/metrics",
    } <= set(found["paths"])
    for path, methods in found["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert operation["description"], path
            for parameter in operation.get("parameters", ()):
                assert parameter["description"], (path, parameter["name"])


def ask_sql(server: Server, sql: object, **parameters: object) -> httpx.Response:
    return server.client.post("/sql", json={"sql": sql, "parameters": parameters})


def test_sql_gives_columns_and_bounded_rows(server: Server):
    answer = ask_sql(
        server, "select path, 1152921504606846976 as big from code where kind = $kind", kind="docs"
    )
    assert answer.json() == {
        "columns": ["path", "big"],
        "types": ["string", "int64"],
        "rows": [["README.md", "1152921504606846976"]],
        "is_truncated": False,
    }
    found = ask_sql(server, "select i from range(1000000000000) as t(i)").json()
    assert found["rows"] == [[0], [1], [2], [3], [4]]
    assert found["is_truncated"] is True
    assert ask_sql(server, "select symbol from search('invoice', k := 1)").json()["rows"] == [
        ["send_invoice"]
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/**')",
        "copy (select 1) to 'FOLDER/stolen.csv'",
        "attach 'FOLDER/stolen.duckdb'",
        "export database 'FOLDER/stolen'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "pragma memory_limit = '64GB'",
        "create table stolen (a integer)",
        "delete from chunks",
        "update chunks set text = ''",
        "drop table chunks",
        "insert into repositories select * from repositories",
        "select * from settings",
        "select * from parameters",
        "select",
        "",
    ],
)
def test_sql_that_would_reach_beyond_the_index_is_refused(server: Server, sql: str, tmp_path: Path):
    answer = ask_sql(server, sql.replace("FOLDER", str(tmp_path)))
    assert answer.status_code == 400, answer.text
    error_of(answer)
    assert list(tmp_path.iterdir()) == []
    assert hits(server, "invoice")


def test_sql_with_a_wrong_body_is_refused(server: Server):
    for body in (
        b"",
        b"select 1",
        b"[]",
        b'{"sql": 1}',
        b'{"sql": "select 1", "more": 1}',
        b"\xff\xfe",
        b'{"sql":',
    ):
        answer = server.client.post("/sql", content=body)
        assert answer.status_code == 422
        error_of(answer)
    assert ask_sql(server, "select 1 where $missing = 1").status_code == 400


def test_a_huge_value_is_refused_and_takes_no_memory_for_ever(server: Server):
    answer = ask_sql(server, "select repeat('x', 50000000) as text from range(5)")
    assert answer.status_code == 400
    assert "bytes" in error_of(answer)


def test_sql_is_off_unless_a_setting_turns_it_on(data: Path):
    with serving(data) as running:
        answer = ask_sql(running, "select 1")
        assert answer.status_code == 404
        assert "REPOLAKE_SERVE_SQL" in error_of(answer)


def test_before_the_first_publish_it_says_so_and_then_picks_the_index_up(tmp_path: Path, shop: Path):
    with serving(tmp_path / "data") as running:
        for path in ("/search?q=a", "/repositories", "/status"):
            answer = running.client.get(path)
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) > 0
            assert "no published index" in error_of(answer)
        health = running.client.get("/healthz")
        assert (health.status_code, health.json()["status"]) == (503, "no index")
        assert running.client.get("/metrics").status_code == 200
        name = index(tmp_path / "data", shop)
        running.wait_for(name)
        assert hits(running, "invoice")[0]["symbol"] == "send_invoice"


def test_the_database_may_be_deleted_while_it_is_served(data: Path, tmp_path: Path):
    shutil.copytree(data, tmp_path / "data", symlinks=True)
    with serving(tmp_path / "data") as running:
        assert hits(running, "invoice")
        shutil.rmtree(tmp_path / "data")
        assert hits(running, "invoice")[0]["symbol"] == "send_invoice"


def test_without_its_packages_serve_says_what_to_install(tmp_path: Path):
    program = "import sys; sys.modules['fastapi'] = None; from repolake.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "serve", "--data-dir", str(tmp_path)],
        check=False,
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "repolake[serve]" in result.stderr


def test_a_taken_port_is_one_sentence(server: Server, data: Path):
    port = server.address.rsplit(":", 1)[1]
    result = subprocess.run(
        [sys.executable, "-m", "repolake", "serve", "--port", port, "--data-dir", str(data)],
        check=False,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert f"port {port}" in result.stderr
    assert result.stderr.count("\n") == 1
