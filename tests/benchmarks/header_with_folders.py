"""Would the folders of a path earn their place in the embedded text? Two copies of the product say it.

    PYTHONPATH=. python tests/benchmarks/header_with_folders.py LIST.toml LABELS.jsonl [MODEL]

One copy names a file to the model by its name (24 characters, as the product does), the other by the end of
its whole path (48 characters). Both reserve the same tokens for it, so that all cuts are equal. Each indexes
the repositories of LIST.toml and is evaluated on LABELS.jsonl; then paired differences, path minus name, are
printed. As long as no interval lies above zero, folders stay out, and a moved file costs no embedding.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from repolake.evaluations import VariantResult, read_evaluation
from repolake.lake import Lake

CHECKOUT = Path(__file__).resolve().parents[2]
RESERVE = 56  # tokens that hold a label of 48 characters
LABEL_OF_PATH = """\
create or replace temp macro file_label(path) as
    case when length(path) > 48 then '…' || right(path, 47) else path end;
"""
METRICS = ("touched@5", "recall@10", "mrr@10", "ndcg@10", "file_ndcg@10")


def make_product(folder: Path, file_label: str | None) -> None:
    """Copy the product to `folder`, with another file label if one is given."""
    for name in ("repolake", "sql"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    scopes = folder / "repolake" / "scopes.py"
    text, count = re.subn(
        r"^HEADER_RESERVE = \d+", f"HEADER_RESERVE = {RESERVE}", scopes.read_text(), flags=re.MULTILINE
    )
    if count != 1:
        raise SystemExit("scopes.py no longer sets HEADER_RESERVE: adapt this script")
    scopes.write_text(text)
    if file_label is not None:
        (folder / "sql" / "session" / "file_label.sql").write_text(file_label)


def measure(product: Path, repository_list: Path, labels: Path, model: str) -> tuple[VariantResult, ...]:
    """Index and evaluate with one copy of the product."""
    data_dir = product / "data"
    environment = {**os.environ, "PYTHONPATH": str(product)}
    for command in (
        ["index", "--config", repository_list, "--model", model],
        ["evaluate", labels, "--mode", "vector", "--mode", "hybrid"],
    ):
        subprocess.run(
            [sys.executable, "-m", "repolake", *command, "--data-dir", data_dir, "--json"],
            env=environment,
            cwd=product,
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return read_evaluation(Lake(data_dir), "latest").results


def main() -> None:
    repository_list, labels = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    model = sys.argv[3] if len(sys.argv) > 3 else "fast"
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name, file_label in (("name", None), ("path", LABEL_OF_PATH)):
            make_product(Path(folder, name), file_label)
            found[name] = measure(Path(folder, name), repository_list, labels, model)
    for by_name, by_path in zip(found["name"], found["path"], strict=True):
        for metric in METRICS:
            difference = by_path.against(by_name, metric)
            if difference is not None:
                print(
                    f"{by_name.variant.mode.value:7} {metric:12} n={difference.count:4} "
                    f"path - name = {difference.mean:+.4f} [{difference.low:+.4f}, {difference.high:+.4f}] "
                    f"p={difference.p_value:.3f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
