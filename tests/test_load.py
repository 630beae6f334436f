from pathlib import Path

from lake_builder import File, LakeBuilder, Piece

from repolake.load import load
from repolake.progress import SilentProgress
from repolake.search import open_index
from repolake.settings import Settings

settings = Settings()


def test_first(tmp_path: Path) -> None:
    b = LakeBuilder(tmp_path)
    b.add(
        "a/b",
        [
            File(
                "src/x.py",
                [
                    Piece(
                        "def getUserById(x):\n  return HTTPServerError(500)",
                        "getUserById",
                        "function",
                        "def getUserById(x)",
                        vector=(1, 0, 0),
                    ),
                    Piece("utf8_len = parse_http2_frame", vector=(0, 1, 0)),
                ],
            ),
            File("tests/y.py", [Piece("世界 hello café", vector=(0, 0.6, 0.8))], kind="test"),
        ],
        remote_url="git@github.com:a/b.git",
        skipped={"z.bin": ("binary", "NUL")},
        unreadable={"q.py": "denied"},
    )
    report = load(b.manifest(), lake=b.lake, settings=settings, progress=SilentProgress())
    with open_index(tmp_path, embed_query=lambda _: [1.0, 0.0, 0.0]) as index:
        assert [hit.symbol for hit in index.search("user by id", mode="text")] == ["getUserById"]
    assert report.chunk_count == 3
