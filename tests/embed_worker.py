"""Embeds the snapshot `s1` of a data folder in a process of its own, to be killed: DATA_DIR MODEL."""

import sys
from pathlib import Path

from lake_rows import FINGERPRINT, snapshot

from repolake.embed import embed
from repolake.lake import Lake
from repolake.model_identity import model_from_settings
from repolake.progress import SilentProgress
from repolake.settings import Settings

settings = Settings(
    data_dir=Path(sys.argv[1]), model=sys.argv[2], trust_remote_code=sys.argv[2], batch_tokens=512
)
embed(
    [snapshot("s1")],
    lake=Lake(settings.data_dir),
    fingerprint=FINGERPRINT,
    model=model_from_settings(settings),
    settings=settings,
    progress=SilentProgress(),
)
