"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

AUTHOR = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}

SHOP = {
    "shop/cart.py": '''"""The cart of a shop."""


class Cart:
    """Things that a customer wants."""

    def __init__(self):
        self.lines = []

    def add_line(self, article, count):
        """Put an article into the cart."""
        self.lines.append((article, count))

    def total_price(self):
        """Sum over all lines."""
        return sum(article.price * count for article, count in self.lines)
''',
    "shop/mail.py": '''def send_invoice(customer, cart):
    """Mail the invoice of a cart to its customer."""
    return f"{customer.address}: {cart.total_price()}"
''',
    "tests/test_cart.py": """def test_total_price_of_an_empty_cart_is_zero():
    assert Cart().total_price() == 0
""",
    "README.md": "# Shop\n\nSells things to customers.\n",
    "package-lock.json": "{}\n",
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return what it prints."""
    result = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env={**os.environ, **AUTHOR},
        check=True,
        capture_output=True,
        text=True,
    )
    return result.stdout.strip()


def make_repository(folder: Path, files: Mapping[str, str] = SHOP) -> Path:
    """Make a git repository with one commit of these files; return its folder."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")
    commit(folder, files)
    return folder


def commit(folder: Path, files: Mapping[str, str | None]) -> str:
    """Write the files (None deletes one) and commit everything; return the commit's id."""
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change things")
    return git(folder, "rev-parse", "HEAD")
