"""Texts to vectors: those of sentence-transformers, checked, whatever else is in the batch."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_models import build_dense, build_misbehaving, build_static, encoded_texts

from repolake.embedder import Embedder, load_embedder
from repolake.errors import ModelError
from repolake.model_identity import resolve_model
from repolake.settings import Settings

TEXTS = [f"# file{n}.py :: part{n}\ndef add{n}(x, y): return x + {'y + ' * (n % 13)} {n}" for n in range(40)]


def misbehaving(folder: Path, **arguments: object) -> Embedder:
    build_misbehaving(folder, **arguments)
    return load_embedder(resolve_model(str(folder), trust_remote_code=True), Settings())


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder(resolve_model("minilm"), Settings())


def test_vectors_are_those_of_sentence_transformers_at_unit_length(minilm: Embedder):
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  # five seconds

    plain = SentenceTransformer(minilm.identity.path, device="cpu").encode(TEXTS, show_progress_bar=False)
    vectors = minilm.embed_documents(TEXTS).vectors
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert (vectors * plain).sum(axis=1).min() > 0.9999


def test_a_text_has_the_same_vector_in_any_batch(minilm: Embedder):
    expected = minilm.embed_documents(TEXTS).vectors
    order = list(range(len(TEXTS)))
    random.Random(3).shuffle(order)  # noqa: S311
    for size in (3, 32):
        for start in range(0, len(TEXTS), size):
            rows = order[start : start + size]
            vectors = minilm.embed_documents([TEXTS[row] for row in rows]).vectors
            assert (vectors * expected[rows]).sum(axis=1).min() > 0.9999


def test_reduced_precision_stays_true_to_float32():
    embedder = load_embedder(resolve_model("minilm"), Settings())
    exact = embedder.embed_documents(TEXTS).vectors
    assert embedder.calibrate(TEXTS, [40] * len(TEXTS)) > 0
    reduced = embedder.embed_documents(TEXTS)
    assert not reduced.errors
    assert (reduced.vectors * exact).sum(axis=1).min() > 0.999


def test_a_model_that_suffers_from_reduced_precision_stays_in_float32(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m")
    texts = [f"MARK_ROUND {'word' * n}" for n in range(20)]
    exact = embedder.embed_documents(texts).vectors
    embedder.calibrate(texts, [10] * len(texts))
    assert (embedder.embed_documents(texts).vectors == exact).all()


def test_documents_and_queries_get_their_prompt_exactly_once(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m", prompts={"query": "query: ", "document": "passage: "})
    embedder.embed_documents(["one", "two"])
    embedder.embed_query("three")
    assert sorted(encoded_texts(tmp_path / "m")) == ["passage: one", "passage: two", "query: three"]


def test_a_model_without_prompts_gets_none(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m")
    embedder.embed_documents(["one"])
    embedder.embed_query("two")
    assert encoded_texts(tmp_path / "m") == ["one", "two"]


def test_prompts_of_the_card_reach_the_model(tmp_path: Path):
    embedder = misbehaving(tmp_path / "e5-tiny")
    embedder.embed_documents(["one"])
    assert encoded_texts(tmp_path / "e5-tiny") == ["passage: one"]


def test_a_shorter_dimension_keeps_the_first_numbers_at_unit_length(tmp_path: Path):
    folder = str(build_dense(tmp_path / "m"))
    whole = load_embedder(resolve_model(folder), Settings()).embed_documents(TEXTS[:4]).vectors
    short = load_embedder(resolve_model(folder, dimension=8), Settings()).embed_documents(TEXTS[:4]).vectors
    expected = whole[:, :8] / np.linalg.norm(whole[:, :8], axis=1, keepdims=True)
    assert short.shape == (4, 8)
    assert np.allclose(short, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("MARK_NAN", "NaN"),
        ("MARK_INF", "infinite"),
        ("MARK_ZERO", "zero"),
        ("MARK_WIDE", "17 dimensions, not 16"),
        ("MARK_SHORT", ""),
        ("MARK_RAISE", "poison text"),
    ],
)
def test_only_the_poison_text_of_a_batch_has_no_vector(tmp_path: Path, marker: str, reason: str):
    embedder = misbehaving(tmp_path / "m")
    expected = embedder.embed_documents(TEXTS).vectors
    poisoned = [*TEXTS[:17], f"text with {marker}", *TEXTS[17:]]
    result = embedder.embed_documents(poisoned)
    assert list(result.errors) == [17]
    assert reason in result.errors[17]
    assert np.allclose(np.delete(result.vectors, 17, axis=0), expected)


def test_a_text_that_spoils_its_batch_but_is_sound_alone_is_embedded(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m")
    result = embedder.embed_documents([*TEXTS, "MARK_SPREAD"])
    assert result.errors == {}
    assert np.isfinite(result.vectors).all()


def test_a_failure_that_passes_by_itself_costs_nothing(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m")
    (tmp_path / "m" / "fail_first.log").write_text("2")
    assert embedder.embed_documents(TEXTS).errors == {}


def test_a_model_that_fails_on_everything_is_an_error_not_a_thousand_failures(tmp_path: Path):
    embedder = misbehaving(tmp_path / "m")
    (tmp_path / "m" / "fail_first.log").write_text("100000")
    with pytest.raises(ModelError, match="injected failure"):
        embedder.embed_documents(TEXTS)


def test_a_local_model_never_looks_at_the_network(tmp_path: Path):
    folder = build_dense(tmp_path / "m")
    code = (
        "import sys\n"
        "def forbid(event, arguments):\n"
        "    if event in {'socket.connect', 'socket.getaddrinfo', 'socket.gethostbyname'}:\n"
        "        sys.exit(f'{event} {arguments}')\n"
        "sys.addaudithook(forbid)\n"
        "from repolake.embedder import load_embedder\n"
        "from repolake.model_identity import resolve_model\n"
        "from repolake.settings import Settings\n"
        "embedder = load_embedder(resolve_model(sys.argv[1]), Settings())\n"
        "embedder.embed_documents(['one', 'two']), embedder.embed_query('three')"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parents[1]), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, folder], env=environment, check=True, timeout=300)


def test_a_static_model_gives_the_vectors_of_sentence_transformers(tmp_path: Path):
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    folder = build_static(tmp_path / "m", prompts={"query": "query : ", "document": "passage : "})
    embedder = load_embedder(resolve_model(str(folder)), Settings())
    plain = SentenceTransformer(str(folder), device="cpu")
    expected = plain.encode_document(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert np.allclose(embedder.embed_documents(TEXTS).vectors, expected, atol=1e-5)
    query = plain.encode_query("add x y", normalize_embeddings=True)
    assert np.allclose(embedder.embed_query("add x y"), query, atol=1e-5)


def test_a_text_without_tokens_has_no_static_vector(tmp_path: Path):
    embedder = load_embedder(resolve_model(str(build_static(tmp_path / "m"))), Settings())
    assert embedder.embed_documents(["def add", " ", "class x"]).errors == {1: "the vector is zero"}


def test_threads_of_the_model_are_those_of_the_setting(tmp_path: Path):
    import torch  # noqa: PLC0415

    folder = str(build_dense(tmp_path / "m"))
    for threads in (1, 2):
        load_embedder(resolve_model(folder), Settings(threads=threads))
        assert torch.get_num_threads() == threads


def test_a_query_without_a_vector_is_an_error(tmp_path: Path):
    with pytest.raises(ModelError, match="NaN"):
        misbehaving(tmp_path / "m").embed_query("MARK_NAN")


def test_code_named_by_the_transformers_configuration_needs_the_same_trust(tmp_path: Path):
    folder = build_dense(tmp_path / "m")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "home-made", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("raise SystemExit('own code ran')")
    with pytest.raises(ModelError, match="REPOLAKE_TRUST_REMOTE_CODE"):
        load_embedder(resolve_model(str(folder)), Settings())


def test_a_damaged_model_is_an_error_that_names_it(tmp_path: Path):
    folder = build_dense(tmp_path / "m")
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match=str(folder)):
        load_embedder(resolve_model(str(folder)), Settings())
