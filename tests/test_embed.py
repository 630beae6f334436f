"""The embed stage: each text once, exactly resumable, no bad vector ever stored."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lake_rows import FINGERPRINT, add_snapshot, stored_vectors, text_hash_of
from tiny_models import build_dense, build_misbehaving, build_static, encoded_texts
from tokenizers import Tokenizer

from repolake.embed import embed
from repolake.encoding import batches
from repolake.errors import ModelError
from repolake.lake import Lake
from repolake.model_identity import ModelIdentity, resolve_model
from repolake.progress import SilentProgress
from repolake.records import EmbedReport, Snapshot, Stage
from repolake.settings import Settings


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "data")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build_misbehaving(tmp_path / "model")


def run(lake: Lake, snapshots: list[Snapshot], model: Path, **arguments: object) -> EmbedReport:
    [report] = run_all(lake, snapshots, model, **arguments)
    return report


def run_all(
    lake: Lake, snapshots: list[Snapshot], model: Path, **arguments: object
) -> tuple[EmbedReport, ...]:
    return embed(
        snapshots,
        lake=lake,
        fingerprint=FINGERPRINT,
        model=identity_of(model),
        settings=Settings(data_dir=lake.data_dir, **arguments),
        progress=SilentProgress(),
    )


def identity_of(model: Path) -> ModelIdentity:
    return resolve_model(str(model), trust_remote_code=True)


def shards_of(lake: Lake, model: Path) -> Path:
    return lake.embeddings_dir(identity_of(model).model_id)


def test_every_text_of_a_snapshot_gets_its_vector(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {"a.py": ["def one(): 1", "def two(): 2"], "deep/b.py": ["x = 3"]})
    report = run(lake, [snapshot], folder)
    assert (report.embeddings_new, report.embeddings_reused, report.failures) == (3, 0, ())
    assert set(stored_vectors(shards_of(lake, folder))) == {
        text_hash_of("a.py", 0, "def one(): 1"),
        text_hash_of("a.py", 1, "def two(): 2"),
        text_hash_of("b.py", 0, "x = 3"),
    }
    assert "# b.py :: part0\nx = 3" in encoded_texts(folder)


def test_a_second_run_embeds_nothing_and_loads_no_model(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {"a.py": ["def one(): 1"]})
    run(lake, [snapshot], folder)
    identity = identity_of(folder)
    (folder / "misbehaving_module.py").write_text("raise RuntimeError('loaded')")
    [report] = embed(
        [snapshot],
        lake=lake,
        fingerprint=FINGERPRINT,
        model=identity,
        settings=Settings(data_dir=lake.data_dir),
        progress=SilentProgress(),
    )
    assert (report.embeddings_new, report.embeddings_reused) == (0, 1)


def test_equal_texts_are_encoded_once_over_paths_refs_and_repositories(lake: Lake, folder: Path):
    texts = ["def one(): 1", "def two(): 2"]
    snapshots = [
        add_snapshot(lake, "s1", {"a/m.py": texts, "b/m.py": texts}),
        add_snapshot(lake, "s2", {"c/m.py": [*texts, "def three(): 3"]}, repository="fork"),
    ]
    reports = run_all(lake, snapshots, folder)
    assert [(report.embeddings_new, report.embeddings_reused) for report in reports] == [(2, 0), (1, 2)]
    assert len(encoded_texts(folder)) == 3


def test_snapshots_embedded_together_each_get_their_own_account(lake: Lake, folder: Path):
    snapshots = [
        add_snapshot(lake, "s1", {"a.py": ["x = 1", "MARK_NAN"]}, repository="shop"),
        add_snapshot(lake, "s2", {}, repository="empty"),
        add_snapshot(lake, "s3", {"lib/a.py": ["x = 1", "MARK_NAN", "x = 3"]}, repository="fork"),
    ]
    shop, empty, fork = run_all(lake, snapshots, folder)
    assert (shop.embeddings_new, shop.embeddings_reused) == (1, 0)
    assert (empty.embeddings_new, empty.embeddings_reused, empty.failures) == (0, 0, ())
    assert (fork.embeddings_new, fork.embeddings_reused) == (1, 1)
    assert [(f.repository, f.path) for f in (*shop.failures, *fork.failures)] == [
        ("shop", "a.py"),
        ("fork", "lib/a.py"),
    ]
    assert shop.token_count > 0


def test_snapshots_embedded_together_share_batches_and_one_reading_of_the_lake(lake: Lake, folder: Path):
    snapshots = [add_snapshot(lake, f"s{n}", {f"m{n}.py": [f"x = {n}"]}) for n in range(8)]
    run_all(lake, snapshots, folder)
    assert [len(json.loads(line)) for line in (folder / "calls.log").read_text().splitlines()] == [8]


def test_a_file_moved_to_another_folder_costs_nothing(lake: Lake, folder: Path):
    run(lake, [add_snapshot(lake, "s1", {"old/m.py": ["def one(): 1"]})], folder)
    report = run(lake, [add_snapshot(lake, "s2", {"new/place/m.py": ["def one(): 1"]})], folder)
    assert (report.embeddings_new, report.embeddings_reused) == (0, 1)


def test_a_changed_file_costs_its_changed_chunks(lake: Lake, folder: Path):
    run(lake, [add_snapshot(lake, "s1", {"m.py": ["def one(): 1", "def two(): 2"]})], folder)
    report = run(lake, [add_snapshot(lake, "s2", {"m.py": ["def one(): 1", "def two(): 22"]})], folder)
    assert (report.embeddings_new, report.embeddings_reused) == (1, 1)
    assert encoded_texts(folder)[-1].endswith("def two(): 22")


def test_a_poison_text_is_a_failure_of_each_of_its_files_and_tried_again(lake: Lake, folder: Path):
    files = {f"m{n}.py": [f"def f{n}(): {n}"] for n in range(20)}
    files["bad.py"] = ["def good(): 0", "MARK_NAN", "MARK_RAISE"]
    files["copy/bad.py"] = files["bad.py"]
    snapshot = add_snapshot(lake, "s1", files)
    for _ in range(2):
        report = run(lake, [snapshot], folder)
        assert [(f.repository, f.path, f.stage) for f in report.failures] == [
            ("shop", "bad.py", Stage.EMBED),
            ("shop", "copy/bad.py", Stage.EMBED),
        ]
        assert "2 chunks" in report.failures[0].error
        assert "NaN" in report.failures[0].error
        assert "poison" in report.failures[0].error
        stored = stored_vectors(shards_of(lake, folder))
        assert len(stored) == 21
        assert text_hash_of("bad.py", 1, "MARK_NAN") not in stored
    assert report.embeddings_new == 0


def test_no_stored_vector_is_nan_zero_or_of_another_length(lake: Lake, folder: Path):
    markers = ["MARK_NAN", "MARK_INF", "MARK_ZERO", "MARK_WIDE", "MARK_SHORT", "MARK_RAISE"]
    files = {f"{marker.lower()}.py": ["def good(): 1", marker] for marker in markers}
    report = run(lake, [add_snapshot(lake, "s1", files)], folder)
    assert [failure.path for failure in report.failures] == sorted(files)
    vectors = np.array(list(stored_vectors(shards_of(lake, folder)).values()))
    assert vectors.shape == (6, 16)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_run_after_a_passing_fault_embeds_exactly_what_is_missing(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {f"m{n}.py": [f"def f{n}(): {n}"] for n in range(30)})
    (folder / "fail_first.log").write_text("1000000")
    with pytest.raises(ModelError, match="injected failure"):
        run(lake, [snapshot], folder)
    (folder / "fail_first.log").write_text("2")
    assert run(lake, [snapshot], folder).embeddings_new == 30
    assert len(encoded_texts(folder)) == 30


def test_another_model_keeps_the_old_vectors_and_going_back_costs_nothing(lake: Lake, tmp_path: Path):
    first = build_misbehaving(tmp_path / "first")
    second = build_misbehaving(tmp_path / "second", seed=1)
    snapshot = add_snapshot(lake, "s1", {"a.py": ["def one(): 1"], "b.py": ["def two(): 2"]})
    assert run(lake, [snapshot], first).embeddings_new == 2
    assert run(lake, [snapshot], second).embeddings_new == 2
    assert run(lake, [snapshot], first).embeddings_new == 0
    assert len(stored_vectors(shards_of(lake, first))) == len(stored_vectors(shards_of(lake, second))) == 2


def test_a_shard_of_another_model_of_the_same_dimension_is_not_mixed_in(lake: Lake, tmp_path: Path):
    first = build_misbehaving(tmp_path / "first")
    second = build_misbehaving(tmp_path / "second", seed=1)
    snapshot = add_snapshot(lake, "s1", {"a.py": ["def one(): 1"]})
    run(lake, [snapshot], first)
    [shard] = shards_of(lake, first).glob("*.parquet")
    foreign = shards_of(lake, second) / shard.name
    foreign.parent.mkdir()
    foreign.write_bytes(shard.read_bytes())
    report = run(lake, [snapshot], second)
    assert report.embeddings_new == 1
    assert shard.name in report.notes[0]
    assert not foreign.exists()


@pytest.mark.parametrize("damage", [b"", b"PAR1 and forty bytes of nothing that is Parquet"])
def test_a_broken_shard_is_set_aside_and_only_its_texts_are_embedded_again(
    lake: Lake, folder: Path, damage: bytes
):
    run(lake, [add_snapshot(lake, "s1", {"a.py": ["def one(): 1"]})], folder)
    [broken] = shards_of(lake, folder).glob("*.parquet")
    both = add_snapshot(lake, "s2", {"a.py": ["def one(): 1"], "b.py": ["def two(): 2"]})
    run(lake, [both], folder)
    broken.write_bytes(damage)
    report = run(lake, [both], folder)
    assert (report.embeddings_new, report.embeddings_reused) == (1, 1)
    assert broken.name in report.notes[0]
    assert len(stored_vectors(shards_of(lake, folder))) == 2


def test_a_shard_broken_within_is_found_when_it_is_read(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {f"m{n}.py": [f"def f{n}(): {n}"] for n in range(50)})
    run(lake, [snapshot], folder)
    [broken] = shards_of(lake, folder).glob("*.parquet")
    data = bytearray(broken.read_bytes())
    data[4:400] = b"\xff" * 396  # the first column's pages; the footer stays whole
    broken.write_bytes(data)
    report = run(lake, [snapshot], folder)
    assert report.embeddings_new == 50
    assert broken.name in report.notes[0]


def test_temporary_files_of_a_crash_are_never_read(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {"a.py": ["def one(): 1"]})
    shards = shards_of(lake, folder)
    shards.mkdir(parents=True)
    (shards / "_123-part.parquet").write_bytes(b"half")
    (shards / "part.parquet.tmp").write_bytes(b"half")
    (shards / "folder.parquet").mkdir()
    assert run(lake, [snapshot], folder).embeddings_new == 1


def test_texts_over_the_models_limit_are_counted_with_the_tokens_lost(lake: Lake, tmp_path: Path):
    model = build_dense(tmp_path / "m", max_tokens=24)
    long = "def add(x, y): return " + "x + " * 40
    snapshot = add_snapshot(lake, "s1", {"a.py": ["x = 1", long]})
    text = f"# a.py :: part1\n{long}"
    lost = len(Tokenizer.from_file(str(model / "tokenizer.json")).encode(text).ids) - 24
    for _ in range(2):  # the count tells the state of the index, not only what was new
        report = run(lake, [snapshot], model)
        assert report.truncated_chunk_count == {"python": 1}
        assert report.truncated_token_count == {"python": lost}


def test_nothing_is_truncated_where_every_text_fits(lake: Lake, tmp_path: Path):
    model = build_dense(tmp_path / "m", max_tokens=128)
    report = run(lake, [add_snapshot(lake, "s1", {"a.py": ["x = 1"]})], model)
    assert report.truncated_chunk_count == {}


def test_a_static_model_embeds_and_searches_nothing_of_torch(lake: Lake, tmp_path: Path):
    model = build_static(tmp_path / "static")
    add_snapshot(lake, "s1", {"a.py": ["def add(x, y): return x"]})
    code = (
        "import sys, runpy; sys.argv = ['', *sys.argv[1:]]; runpy.run_path('embed_worker.py'); "
        "print(sorted({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, lake.data_dir, model],
        cwd=Path(__file__).parent,
        env={"PYTHONPATH": f"{Path(__file__).parents[1]}:{Path(__file__).parent}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == "[]"
    assert len(stored_vectors(shards_of(lake, model))) == 1


def test_batch_tokens_decides_how_many_texts_are_encoded_together(lake: Lake, folder: Path, tmp_path: Path):
    files = {f"m{n}.py": [f"x = {n}"] for n in range(12)}  # 41 tokens each, by their count
    run(lake, [add_snapshot(lake, "s1", files)], folder, batch_tokens=41 * 4)
    assert [len(json.loads(line)) for line in (folder / "calls.log").read_text().splitlines()] == [4, 4, 4]
    other = Lake(tmp_path / "other")
    (folder / "calls.log").unlink()
    run(other, [add_snapshot(other, "s1", files)], folder, batch_tokens=41 * 12)
    assert [len(json.loads(line)) for line in (folder / "calls.log").read_text().splitlines()] == [12]


def test_an_empty_lake_has_nothing_to_embed(lake: Lake, folder: Path):
    assert run_all(lake, [], folder) == ()


def test_a_run_of_hours_says_so_and_names_the_fast_model(
    lake: Lake, folder: Path, caplog: pytest.LogCaptureFixture
):
    files = {f"m{n}.py": [f"MARK_SLOW {n}"] for n in range(256)}
    # One text is said to be far longer than the sample that is timed.
    snapshot = add_snapshot(lake, "s1", files, token_counts={"m255.py": 10**9})
    report = run(lake, [snapshot], folder)
    assert "--model fast" in report.notes[0]
    assert "hours" in caplog.text


def test_a_short_run_says_nothing(lake: Lake, folder: Path):
    snapshot = add_snapshot(lake, "s1", {f"m{n}.py": [f"x = {n}"] for n in range(256)})
    assert run(lake, [snapshot], folder).notes == ()


@given(st.lists(st.integers(1, 300), min_size=1, max_size=200), st.integers(64, 2000))
def test_batches_hold_every_row_once_within_the_budget(counts: list[int], budget: int):
    found = list(batches(np.array(counts, np.int32), budget))
    assert sorted(row for rows in found for row in rows) == list(range(len(counts)))
    assert all(len(rows) == 1 or len(rows) * max(counts[row] for row in rows) <= budget for rows in found)
    longest = [max(counts[row] for row in rows) for rows in found]
    assert longest == sorted(longest, reverse=True)


def test_killed_runs_end_in_the_tables_of_an_undisturbed_one(lake: Lake, tmp_path: Path):
    files = {f"m{n}.py": [f"def f{n}(): return {n} # MARK_SLOW"] for n in range(150)}
    snapshot = add_snapshot(lake, "s1", files)
    calm_lake = Lake(tmp_path / "calm")
    add_snapshot(calm_lake, "s1", files)
    model = build_misbehaving(tmp_path / "model")
    run(calm_lake, [snapshot], model)
    expected = stored_vectors(shards_of(calm_lake, model))
    encoded_before = len(encoded_texts(model))
    chance = random.Random(5)  # noqa: S311
    for kill in range(3):
        worker = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "embed_worker.py", lake.data_dir, model],
            env={"PYTHONPATH": str(Path(__file__).parents[1]), "HOME": str(tmp_path)},
        )
        goal = encoded_before + (kill + 1) * 35 + chance.randrange(20)
        deadline = time.monotonic() + 120
        while len(encoded_texts(model)) < goal and worker.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    kept = stored_vectors(shards_of(lake, model))
    assert 0 < len(kept) < 150
    report = run(lake, [snapshot], model)
    assert (report.embeddings_new, report.embeddings_reused) == (150 - len(kept), len(kept))
    stored = stored_vectors(shards_of(lake, model))
    assert stored.keys() == expected.keys()
    assert all(float(stored[key] @ expected[key]) > 0.9999 for key in expected)
