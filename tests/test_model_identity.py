"""Which model it is: found without torch, changed by whatever changes its vectors."""

import json
import os
import subprocess
import sys
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tiny_models import build_dense, build_misbehaving, build_static, save_json

from repolake.errors import ModelError, ModelNotFoundError
from repolake.model_fingerprint import HASH_CACHE, hash_files
from repolake.model_identity import model_from_settings, resolve_model
from repolake.settings import Settings

# The published weights of sentence-transformers/all-MiniLM-L6-v2.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_dense(tmp_path_factory.mktemp("models") / "dense")


def copy_of(folder: Path, target: Path) -> Path:
    """Copy a model under the same last name, so that only what the test changes differs."""
    copy = target / folder.name
    for path in folder.rglob("*"):
        if path.is_file():
            new = copy / path.relative_to(folder)
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(path.read_bytes())
    return copy


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120, check=False
    )


def test_the_bundled_model_is_the_published_one():
    identity = resolve_model("minilm")
    weights = Path(identity.path) / "model.safetensors"
    assert sha256(weights.read_bytes()).hexdigest() == MINILM_SHA256
    assert (identity.dimension, identity.max_tokens, identity.pooling) == (384, 256, "mean")
    assert (identity.query_prompt, identity.document_prompt, identity.is_static) == ("", "", False)


def test_the_published_name_means_the_bundled_model():
    assert resolve_model("sentence-transformers/all-MiniLM-L6-v2") == resolve_model("minilm")


def test_no_identity_needs_torch():
    code = (
        "import sys; from repolake.model_identity import resolve_model; resolve_model('minilm'); "
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    assert run_python(code).stdout.strip() == "[]"


def test_the_same_folder_has_the_same_fingerprint_elsewhere(dense: Path, tmp_path: Path):
    assert resolve_model(str(copy_of(dense, tmp_path))).fingerprint == resolve_model(str(dense)).fingerprint


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("tokenizer.json", '"lowercase": true', '"lowercase": false'),
        ("tokenizer.json", "[UNK]", "[unk]"),
        ("sentence_bert_config.json", "64", "63"),
        ("1_Pooling/config.json", "mean", "cls"),
        ("config.json", '"num_attention_heads": 2', '"num_attention_heads": 4'),
    ],
)
def test_each_configuration_file_counts(dense: Path, tmp_path: Path, file: str, old: str, new: str):
    copy = copy_of(dense, tmp_path)
    text = (copy / file).read_text()
    changed = text.replace(old, new) if old in text else text + "\n"
    (copy / file).write_text(changed)
    assert resolve_model(str(copy)).fingerprint != resolve_model(str(dense)).fingerprint


def test_one_changed_weight_of_unchanged_size_counts(dense: Path, tmp_path: Path):
    copy = copy_of(dense, tmp_path)
    weights = load_file(copy / "model.safetensors")
    name = min(weights)
    weights[name] = weights[name] + np.float32(1e-3)
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    assert resolve_model(str(copy)).fingerprint != resolve_model(str(dense)).fingerprint


def test_each_prompt_counts(dense: Path, tmp_path: Path):
    found = {resolve_model(str(dense)).fingerprint}
    for number, prompts in enumerate(
        ({"query": "q: "}, {"query": "q: ", "document": "d: "}, {"query": "z: "})
    ):
        copy = copy_of(dense, tmp_path / str(number))
        save_json(copy / "config_sentence_transformers.json", {"prompts": prompts})
        found.add(resolve_model(str(copy)).fingerprint)
    assert len(found) == 4


def test_the_dimension_asked_for_counts(dense: Path):
    short = resolve_model(str(dense), dimension=8)
    assert short.dimension == 8
    assert short.fingerprint != resolve_model(str(dense)).fingerprint
    assert resolve_model(str(dense), dimension=32) == resolve_model(str(dense))


def test_files_that_are_never_loaded_do_not_count(dense: Path, tmp_path: Path):
    copy = copy_of(dense, tmp_path)
    (copy / "README.md").write_text("new card")
    (copy / "pytorch_model.bin").write_bytes(b"the same weights in the old format")
    (copy / "onnx").mkdir()
    (copy / "onnx" / "model.onnx").write_bytes(b"x")
    (copy / ".gitattributes").write_text("*")
    assert resolve_model(str(copy)).fingerprint == resolve_model(str(dense)).fingerprint


def test_model_id_is_a_safe_folder_name(dense: Path, tmp_path: Path):
    copy = copy_of(dense, tmp_path)
    odd = copy.rename(tmp_path / "My Möbel:model ")
    model_id = resolve_model(str(odd)).model_id
    assert set(model_id) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")


def test_the_hash_of_weights_is_kept_and_renewed_when_they_change(dense: Path, tmp_path: Path):
    copy = copy_of(dense, tmp_path)
    weights = copy / "model.safetensors"
    os.utime(weights, (1_700_000_000, 1_700_000_000))
    first = hash_files(copy, tmp_path)
    assert (
        sha256(weights.read_bytes()).hexdigest() in json.loads((tmp_path / HASH_CACHE).read_text()).values()
    )
    assert hash_files(copy, tmp_path) == first
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    os.utime(weights, (1_700_000_001, 1_700_000_001))
    assert hash_files(copy, tmp_path) != first
    assert hash_files(copy, tmp_path) == hash_files(copy, None)


def test_fresh_weights_are_hashed_each_time_since_their_time_may_not_change(dense: Path, tmp_path: Path):
    hash_files(copy_of(dense, tmp_path), tmp_path)
    assert not (tmp_path / HASH_CACHE).exists()


@pytest.mark.parametrize("name", ["/no/such/folder", "no-such-organisation/no-such-model"])
def test_a_missing_model_fails_within_seconds_and_names_model_and_setting(name: str):
    code = (
        "from repolake.model_identity import resolve_model\n"
        "from repolake.errors import ModelNotFoundError\n"
        f"try: resolve_model({name!r})\n"
        "except ModelNotFoundError as error: print(error)"
    )
    started = time.monotonic()
    # A hub at which nobody listens.
    result = run_python(code, HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert time.monotonic() - started < 60
    assert name in result.stdout
    assert "REPOLAKE_MODEL" in result.stdout


def test_a_folder_without_a_model_is_not_found(tmp_path: Path):
    with pytest.raises(ModelNotFoundError, match=r"modules\.json"):
        resolve_model(str(tmp_path))


def test_a_folder_without_weights_is_refused(dense: Path, tmp_path: Path):
    copy = copy_of(dense, tmp_path)
    (copy / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="no weights"):
        resolve_model(str(copy))


def test_a_cached_model_is_used_as_it_is_with_its_commit(dense: Path, tmp_path: Path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = tmp_path / "models--acme--tiny"
    copy_of(dense, repository / "snapshots").rename(repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    code = (
        "from repolake.model_identity import resolve_model\n"
        "model = resolve_model('acme/tiny'); print(model.name, model.revision)"
    )
    result = run_python(
        code, HF_HUB_CACHE=str(tmp_path), HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0"
    )
    assert result.stdout.split() == ["acme/tiny", commit], result.stderr


def test_the_settings_pin_revision_and_dimension(dense: Path, tmp_path: Path):
    first, second = "1" * 40, "2" * 40
    repository = tmp_path / "hub" / "models--acme--tiny"
    for commit in (first, second):
        copy_of(dense, repository / "snapshots").rename(repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(second)
    code = (
        "from repolake.model_identity import model_from_settings\n"
        "from repolake.settings import load_settings\n"
        "model = model_from_settings(load_settings()); print(model.revision, model.dimension, model.model_id)"
    )
    found = [
        run_python(
            code, HF_HUB_CACHE=str(tmp_path / "hub"), REPOLAKE_MODEL="acme/tiny", **pins
        ).stdout.split()
        for pins in (
            {"REPOLAKE_MODEL_REVISION": first},
            {},
            {"REPOLAKE_DIMENSION": "8"},
        )
    ]
    assert [row[:2] for row in found] == [[first, "32"], [second, "32"], [second, "8"]]
    assert len({row[2] for row in found}) == 3


def test_a_models_own_code_runs_only_for_the_model_named(tmp_path: Path):
    folder = build_misbehaving(tmp_path / "own")
    with pytest.raises(ModelError, match="REPOLAKE_TRUST_REMOTE_CODE"):
        model_from_settings(Settings(model=str(folder), trust_remote_code="another/model"))
    trusted = Settings(model=str(folder), trust_remote_code=str(folder))
    assert model_from_settings(trusted).trust_remote_code


def test_declared_prompts_are_used(tmp_path: Path):
    folder = build_dense(tmp_path / "e5-tiny", prompts={"query": "ask: ", "passage": "text: "})
    identity = resolve_model(str(folder))
    assert (identity.query_prompt, identity.document_prompt) == ("ask: ", "text: ")


@pytest.mark.parametrize(
    ("name", "query", "document"),
    [
        ("e5-small-v2", "query: ", "passage: "),
        ("multilingual-e5-base", "query: ", "passage: "),
        ("bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("all-MiniLM-L12-v2", "", ""),
    ],
)
def test_prompts_of_the_models_card_where_the_model_declares_none(
    dense: Path, tmp_path: Path, name: str, query: str, document: str
):
    folder = copy_of(dense, tmp_path).rename(tmp_path / name)
    # What sentence-transformers writes when it saves a model that was given no prompts.
    save_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "", "document": ""}})
    identity = resolve_model(str(folder))
    assert (identity.query_prompt, identity.document_prompt) == (query, document)


def test_the_budget_leaves_room_for_the_document_prompt(tmp_path: Path):
    folder = build_dense(tmp_path / "m", prompts={"document": "passage : "}, max_tokens=64)
    identity = resolve_model(str(folder))
    assert identity.document_prompt_token_count == 2
    assert identity.token_budget(512) == 62
    assert identity.token_budget(40) == 40


def test_a_static_model_has_no_limit_and_the_width_of_its_table(tmp_path: Path):
    identity = resolve_model(str(build_static(tmp_path / "static", dimension=24)))
    assert identity.is_static
    assert (identity.max_tokens, identity.dimension, identity.token_budget(512)) == (None, 24, 512)


def test_more_dimensions_than_the_model_has_are_refused(dense: Path):
    with pytest.raises(ModelError, match="32 dimensions"):
        resolve_model(str(dense), dimension=64)
