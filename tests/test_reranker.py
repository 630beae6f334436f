"""Reranking: a tiny cross-encoder that learnt to prefer passages that say `json`, whatever is asked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lake_builder import File, LakeBuilder, Piece
from served import hits as served_hits
from served import serving
from tiny_models import build_cross_encoder, build_dense

from repolake.errors import QueryError, RerankerError
from repolake.load import load
from repolake.mcp_answers import search_answer
from repolake.model_source import WEIGHT_SUFFIXES
from repolake.progress import SilentProgress
from repolake.records import SearchHit
from repolake.search import Index, open_index
from repolake.settings import Settings

ROOT = Path(__file__).parent.parent
# By words alone `read.py` is first for "read write file"; only two passages say json.
TEXTS = {
    "read.py": "read write file read write file",
    "parse.py": "read json",
    "sum.py": "read add sum x y",
    "index.py": "file index",
    "late.py": "write json date",
}


def east(_: str) -> list[float]:
    return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build_cross_encoder(tmp_path_factory.mktemp("models") / "json-lover"))


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    builder = LakeBuilder(folder)
    files = [File(path, [Piece(text, path[:-3], "function")]) for path, text in TEXTS.items()]
    builder.add("acme/shop", files)
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    return folder


@pytest.fixture(scope="module")
def index(data_dir: Path) -> Iterator[Index]:
    with open_index(data_dir, embed_query=east) as opened:
        yield opened


def paths(hits: list[SearchHit]) -> list[str]:
    return [hit.path for hit in hits]


def test_a_cross_encoder_orders_the_hits_and_keeps_what_the_hybrid_said(
    index: Index, cross_encoder: str
) -> None:
    before = index.search("read write file")
    assert before[0].path == "read.py"
    after = index.search("read write file", rerank=cross_encoder)
    assert set(paths(after)[:2]) == {"parse.py", "late.py"}
    assert [hit.rank for hit in after] == [1, 2, 3, 4, 5]
    assert all(hit.score == hit.rerank_score for hit in after)
    assert after[1].score > 0.9
    assert after[2].score < 0.1
    old = {hit.path: hit for hit in before}
    for hit in after:
        assert (hit.hybrid_rank, hit.hybrid_score) == (old[hit.path].rank, old[hit.path].score)
        assert (hit.text_rank, hit.text_score) == (old[hit.path].text_rank, old[hit.path].text_score)


def test_the_score_is_the_models_own_for_query_and_passage(index: Index, cross_encoder: str) -> None:
    from sentence_transformers import CrossEncoder

    hits = index.search("read write file", rerank=cross_encoder)
    pairs = [("read write file", f"# {hit.path} :: {hit.symbol}\n{hit.text}") for hit in hits]
    scores = CrossEncoder(cross_encoder).predict(pairs, show_progress_bar=False)
    assert [hit.score for hit in hits] == pytest.approx(scores.tolist(), abs=0.02)


def test_the_reranker_is_named_with_a_fingerprint_of_its_files(index: Index, cross_encoder: str) -> None:
    [hit] = index.search("read", k=1, rerank=cross_encoder)
    assert hit.reranker is not None
    name, _, fingerprint = hit.reranker.partition("@")
    total = hashlib.sha256()
    for path in sorted(Path(cross_encoder).iterdir()):
        if path.suffix in {*WEIGHT_SUFFIXES, ".json"}:
            total.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    assert (name, fingerprint) == (cross_encoder, total.hexdigest()[:12])


def test_only_the_first_of_the_hybrid_are_reranked(index: Index, cross_encoder: str) -> None:
    query = "read write file sum"
    order = paths(index.search(query))
    last = order.index("late.py")
    hits = index.search(query, k=1, rerank=cross_encoder, rerank_depth=last)
    assert hits[0].path == "parse.py" or "parse.py" not in order[:last]
    assert "late.py" not in paths(index.search(query, k=last, rerank=cross_encoder, rerank_depth=last))
    assert "late.py" in paths(index.search(query, k=2, rerank=cross_encoder, rerank_depth=5))


def test_pairs_over_the_models_limit_are_cut_and_counted(tmp_path: Path, cross_encoder: str) -> None:
    builder = LakeBuilder(tmp_path)
    texts = {"a.py": "read file " * 40 + "json", "b.py": "read json", "c.py": "read"}
    builder.add("r", [File(path, [Piece(text, "f")]) for path, text in texts.items()])
    load(builder.manifest(), lake=builder.lake, settings=Settings(), progress=SilentProgress())
    with open_index(tmp_path, embed_query=east) as opened:
        hits = opened.search("read", rerank=cross_encoder)
    assert "1 of 3 candidates were cut to the reranker's 64 tokens" in hits.notes
    assert hits[0].path == "b.py"
    assert {hit.path: hit.score > 0.5 for hit in hits} == {"a.py": False, "b.py": True, "c.py": False}


def test_search_in_sql_reranks_with_the_same_scores(index: Index, cross_encoder: str) -> None:
    expected = index.search("read write file", k=3, rerank=cross_encoder)
    call = "select rank, path, score, text_rank from search('read write file', k := 3, rerank := $model)"
    rows = index.sql(call, {"model": cross_encoder}).to_pylist()
    assert rows == [
        {"rank": hit.rank, "path": hit.path, "score": hit.score, "text_rank": hit.text_rank}
        for hit in expected
    ]
    plain = index.sql("select path, score from search('read write file')").to_pylist()
    assert [(row["path"], row["score"]) for row in plain] == [
        (hit.path, hit.score) for hit in index.search("read write file")
    ]
    assert index.sql("from search('read', rerank := $m, repository := 'none')", {"m": "x"}).num_rows == 0


def test_what_is_no_cross_encoder_is_refused(index: Index, tmp_path: Path) -> None:
    bi_encoder = build_dense(tmp_path / "dense")
    with pytest.raises(RerankerError, match=r"no cross-encoder: its config\.json names BertModel"):
        index.search("read", rerank=str(bi_encoder))
    with pytest.raises(RerankerError, match="no cross-encoder"):
        index.search("read", rerank="minilm")
    classifier = build_cross_encoder(tmp_path / "classes", label_count=3)
    with pytest.raises(RerankerError, match="it gives 3 scores for a pair"):
        index.search("read", rerank=str(classifier))
    with pytest.raises(RerankerError, match="there is no such folder") as raised:
        index.search("read", rerank="/no/such/model")
    with pytest.raises(QueryError) as refused:
        index.sql("from search('read', rerank := '/no/such/model')")
    assert str(refused.value) == str(raised.value)


def test_a_reranker_has_no_part_in_words_or_meaning_alone(index: Index, cross_encoder: str) -> None:
    with pytest.raises(QueryError, match="rerank has no part in mode text"):
        index.search("read", mode="text", rerank=cross_encoder)
    with pytest.raises(QueryError, match="rerank_depth"):
        index.search("read", rerank_depth=5)
    with pytest.raises(QueryError, match="from k"):
        index.search("read", k=5, rerank=cross_encoder, rerank_depth=4)


def run(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-X",
            "importtime",
            "-m",
            "repolake",
            "search",
            *arguments,
            "--data-dir",
            str(data_dir),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_wrong_reranker_is_one_sentence_and_nothing_is_loaded_for_it(data_dir: Path) -> None:
    done = run(data_dir, "read", "--rerank", "/no/such/model")
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    problem = "cannot use the reranker '/no/such/model': there is no such folder"
    remedy = "name a cross-encoder of sentence-transformers, or search without one"
    assert said == [f"repolake: {problem}; {remedy}"]
    assert not any(line.endswith(" torch") for line in done.stderr.splitlines())


def test_a_session_for_strangers_loads_no_reranker_but_its_own(data_dir: Path, cross_encoder: str) -> None:
    with open_index(data_dir, embed_query=east, rerankers=[]) as opened:
        with pytest.raises(RerankerError, match="does not offer it"):
            opened.search("read", rerank=cross_encoder)
        with pytest.raises(RerankerError, match="does not offer it"):
            search_answer(opened, "read", 3, "hybrid", {}, rerank=cross_encoder)
    with open_index(data_dir, embed_query=east, rerankers=[cross_encoder]) as opened:
        answer = search_answer(opened, "read write file", 2, "hybrid", {}, rerank=cross_encoder)
        assert "1. acme/shop parse.py:1-1" in answer or "1. acme/shop late.py:1-1" in answer


def test_a_server_reranks_only_with_the_model_of_its_operator(tmp_path: Path, cross_encoder: str) -> None:
    from repositories import make_repository
    from served import index as make_index

    files = {f"{path[:-3]}.txt": f"{text}\n" for path, text in TEXTS.items()}
    make_index(tmp_path / "data", make_repository(tmp_path / "shop", files))
    with serving(tmp_path / "data", sql=True) as server:
        answer = server.client.get("/search", params={"q": "read write file", "rerank": "true"})
        assert answer.status_code == 422
        assert "REPOLAKE_SERVE_RERANKER" in answer.json()["error"]
        statement = "select path from search('read write file', rerank := $model)"
        body = {"sql": statement, "parameters": {"model": cross_encoder}}
        answer = server.client.post("/sql", json=body)
        assert answer.status_code == 400
        assert "does not offer it" in answer.json()["error"]
    with serving(tmp_path / "data", reranker=cross_encoder) as server:
        found = served_hits(server, "read write file", rerank=True)
        assert {hit["path"] for hit in found[:2]} == {"parse.txt", "late.txt"}
        assert found[0]["score"] == found[0]["rerank_score"]
        assert "rerank_score" not in served_hits(server, "read write file")[0]
