"""What a change costs and shows: deleted, renamed, emptied, doubled files; ignore rules; a run that died."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from database_equality import differences
from repositories import SHOP, commit, git, make_repository

from repolake import pipeline
from repolake.database_files import published_path
from repolake.executor import LocalCall, LocalExecutor
from repolake.lake import Lake
from repolake.records import RepositorySpec, RunReport
from repolake.search import open_index
from repolake.settings import Settings

WALRUS = "def feed_walrus(fish):\n    return fish\n"
HERON = "def watch_heron(lake):\n    return lake\n"


def settings_for(folder: Path, **values: object) -> Settings:
    return Settings(data_dir=folder, model="fast", **values)  # type: ignore[arg-type]


def index(tmp_path: Path, spec: RepositorySpec | Path, **values: object) -> RunReport:
    asked = spec if isinstance(spec, RepositorySpec) else RepositorySpec(str(spec))
    return pipeline.index([asked], settings=settings_for(tmp_path / "data", **values))


def embedded(report: RunReport) -> int:
    return sum(entry.embeddings_new for entry in report.repositories)


def paths_with(tmp_path: Path, word: str) -> set[str]:
    """The paths that SQL and every search mode know of a word; all must agree, but for copies in a hybrid."""
    with open_index(tmp_path / "data") as session:
        rows = session.sql("select distinct path from code where contains(text, $word)", {"word": word})
        found = {row["path"] for row in rows.to_pylist()}
        query = word.replace("_", " ")
        for mode in ("text", "vector"):
            hits = session.search(query, k=100, mode=mode)
            assert {hit.path for hit in hits if word in hit.text} == found
        hybrid = {hit.path for hit in session.search(query, k=100) if word in hit.text}
        assert hybrid <= found
        assert bool(hybrid) == bool(found)
        for path in found:
            assert any(word in hit.text for hit in session.search(query, path=path))
    return found


def test_a_deleted_file_leaves_every_kind_of_search_and_costs_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {**SHOP, "walrus.py": WALRUS, "birds/heron.py": HERON})
    index(tmp_path, shop)
    commit(shop, {"walrus.py": None, "birds/heron.py": None})
    assert embedded(index(tmp_path, shop)) == 0
    assert paths_with(tmp_path, "feed_walrus") == paths_with(tmp_path, "watch_heron") == set()
    assert paths_with(tmp_path, "send_invoice") == {"shop/mail.py"}


def test_a_move_costs_nothing_and_a_move_with_an_edit_what_was_edited(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {"old/zoo.py": f"{WALRUS}\n\n{HERON}", "README.md": "# Zoo\n"})
    index(tmp_path, shop)
    (shop / "new").mkdir()
    git(shop, "mv", "old/zoo.py", "new/zoo.py")
    commit(shop, {})
    assert embedded(index(tmp_path, shop)) == 0
    assert paths_with(tmp_path, "feed_walrus") == {"new/zoo.py"}
    (shop / "third").mkdir()
    git(shop, "mv", "new/zoo.py", "third/zoo.py")
    commit(shop, {"third/zoo.py": f"{WALRUS}\n\n{HERON.replace('return lake', 'return lake.birds')}"})
    assert embedded(index(tmp_path, shop)) == 1
    assert paths_with(tmp_path, "watch_heron") == {"third/zoo.py"}


def test_an_emptied_and_a_deleted_file_have_no_hits_and_come_back_for_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {"only.py": WALRUS, "README.md": "# Zoo\n"})
    index(tmp_path, shop)
    for text in ("", None):
        commit(shop, {"only.py": text})
        report = index(tmp_path, shop)
        assert not report.failures
        assert paths_with(tmp_path, "feed_walrus") == set()
    commit(shop, {"only.py": WALRUS})
    assert embedded(index(tmp_path, shop)) == 0
    assert paths_with(tmp_path, "feed_walrus") == {"only.py"}


def test_equal_files_are_both_found_and_embedded_once(tmp_path: Path):
    bigger = f"{WALRUS}\n\n{HERON}"
    files = {"util.py": WALRUS, "copy/util.py": WALRUS, "lib/big.py": bigger}
    shop = make_repository(tmp_path / "shop", files)
    assert embedded(index(tmp_path, shop)) == 3  # util.py's walrus once; big.py's have another header
    assert paths_with(tmp_path, "feed_walrus") == set(files)
    commit(shop, {"copy/util.py": None})
    index(tmp_path, shop)
    assert paths_with(tmp_path, "feed_walrus") == {"util.py", "lib/big.py"}
    commit(shop, {"util.py": None})
    index(tmp_path, shop)
    assert paths_with(tmp_path, "feed_walrus") == {"lib/big.py"}


def test_an_edit_of_equal_size_with_the_old_time_is_seen(tmp_path: Path):
    folder = tmp_path / "zoo"
    folder.mkdir()
    file = folder / "zoo.py"
    file.write_text(WALRUS)
    index(tmp_path, folder)
    before = file.stat()
    file.write_text(WALRUS.replace("walrus", "ostric"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    index(tmp_path, folder)
    assert paths_with(tmp_path, "feed_walrus") == set()
    assert paths_with(tmp_path, "feed_ostric") == {"zoo.py"}


def test_changed_ignore_rules_take_files_out_and_bring_them_back_for_nothing(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {"gen/walrus.py": WALRUS, "heron.py": HERON})
    index(tmp_path, shop)
    # The rules are a file of the repository themselves: their one line is a chunk.
    for patterns, own, paths in (("gen/\n", 1, set()), ("", 0, {"gen/walrus.py"})):
        commit(shop, {".repolakeignore": patterns})
        assert embedded(index(tmp_path, shop)) == own
        assert paths_with(tmp_path, "feed_walrus") == paths
    index(tmp_path, RepositorySpec(str(shop), exclude=("gen/",)))
    assert paths_with(tmp_path, "feed_walrus") == set()
    assert embedded(index(tmp_path, RepositorySpec(str(shop)))) == 0
    assert paths_with(tmp_path, "feed_walrus") == {"gen/walrus.py"}


def test_a_changed_setting_of_the_scan_needs_no_new_commit(tmp_path: Path):
    shop = make_repository(tmp_path / "shop", {"walrus.py": WALRUS, "heron.py": HERON + "#" * 300})
    index(tmp_path, shop)
    index(tmp_path, shop, max_file_bytes=200)
    assert paths_with(tmp_path, "watch_heron") == set()
    assert embedded(index(tmp_path, shop)) == 0
    assert paths_with(tmp_path, "watch_heron") == {"heron.py"}


@pytest.mark.parametrize(("author_names", "expected"), [(True, {"Ada"}), (False, {None})])
def test_author_names_can_be_left_out(tmp_path: Path, author_names: bool, expected: set[str | None]):
    shop = make_repository(tmp_path / "shop")
    index(tmp_path, shop, author_names=not author_names)
    index(tmp_path, shop, author_names=author_names)  # no new commit is needed
    with open_index(tmp_path / "data") as session:
        assert set(session.sql("select last_author from code")["last_author"].to_pylist()) == expected


def test_an_empty_folder_where_a_folder_was_is_refused_until_it_is_allowed(tmp_path: Path):
    folder = tmp_path / "zoo"
    folder.mkdir()
    (folder / "walrus.py").write_text(WALRUS)
    index(tmp_path, folder)
    (folder / "walrus.py").unlink()  # what an unmounted disk looks like
    report = index(tmp_path, folder)
    assert "--allow-shrink" in report.failures[0].error
    assert paths_with(tmp_path, "feed_walrus") == {"walrus.py"}
    specs = [RepositorySpec(str(folder))]
    pipeline.index(specs, settings=settings_for(tmp_path / "data"), allow_shrink=True)
    assert paths_with(tmp_path, "feed_walrus") == set()


class StopsBefore(LocalExecutor):
    """Dies before a stage, as a killed process does."""

    def __init__(self, stage: str) -> None:
        self.stage = stage

    def submit(self, function, *args, **kwargs) -> LocalCall:  # type: ignore[no-untyped-def, type-arg, override]
        if function.__name__ == self.stage:
            raise KeyboardInterrupt
        return super().submit(function, *args, **kwargs)


@pytest.mark.parametrize("stage", ["chunk_group", "embed_group", "load_all"])
def test_after_a_run_that_died_the_next_makes_what_is_missing_and_the_one_after_nothing(
    tmp_path: Path, stage: str
):
    shop = make_repository(tmp_path / "shop")
    settings = settings_for(tmp_path / "data")
    specs = [RepositorySpec(str(shop))]
    with pytest.raises(KeyboardInterrupt):
        pipeline.index(specs, settings=settings, executor=StopsBefore(stage))
    manifest = Lake(settings.data_dir).latest_manifest()
    assert manifest is not None
    assert manifest.state == "running"
    shards = (settings.data_dir / "lake" / "embeddings").glob("*/*.parquet")
    had = sum(pq.read_metadata(path).num_rows for path in shards)
    second, third = pipeline.index(specs, settings=settings), pipeline.index(specs, settings=settings)
    assert embedded(second) == second.repositories[0].chunks - had
    assert embedded(third) == 0
    assert third.is_unchanged
    fresh = settings_for(tmp_path / "fresh")
    pipeline.index(specs, settings=fresh)
    assert differences(published_path(settings.data_dir), published_path(fresh.data_dir)) == []  # type: ignore[arg-type]
