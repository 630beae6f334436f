"""The static encoder gives sentence-transformers' vectors, without torch, and lets no pad token in."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from repolake.errors import ModelError
from repolake.static_model import StaticModel

SHIPPED = Path(__file__).parents[1] / "repolake" / "models" / "fast"
TEXTS = [
    "# decoder.py :: JSONDecoder.raw_decode\ndef raw_decode(self, s, idx=0):\n    return self.scan(s, idx)",
    "retry a request when the server is busy",
    "parseHTTPHeader",
    "日本語 und Ümläute ☃ [PAD] [MASK]",
    "x",
    "word " * 5_000,
]
SMALLEST_COSINE = 0.9999


def tiny_tokenizer() -> Tokenizer:
    words = ["[PAD]", "[UNK]", "read", "file", "write"]
    tokenizer = Tokenizer(
        models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]")  # noqa: S106  # a token, no password
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def tiny_folder(folder: Path, tensors: dict[str, np.ndarray], tokenizer: Tokenizer) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file(tensors, folder / "model.safetensors")
    return folder


TINY_VECTORS = np.array([[9, 9], [0, 5], [3, 0], [0, 4], [-3, 0]], dtype=np.float32)


@pytest.fixture(scope="module")
def shipped() -> StaticModel:
    return StaticModel.load(SHIPPED)


def sentence_transformers_vectors(path: Path) -> np.ndarray:
    model = SentenceTransformer(str(path), device="cpu", local_files_only=True)
    return np.asarray(model.encode(TEXTS, normalize_embeddings=True))


def test_shipped_model_gives_the_vectors_of_sentence_transformers(shipped: StaticModel) -> None:
    expected = sentence_transformers_vectors(SHIPPED)
    assert (expected * shipped.encode(TEXTS)).sum(axis=1).min() >= SMALLEST_COSINE


def test_shipped_table_times_its_scales_is_a_static_embedding(shipped: StaticModel) -> None:
    tensors = load_file(SHIPPED / "model.safetensors")
    weights = tensors["embeddings"].astype(np.float32) * tensors["weights"][:, None]
    module = StaticEmbedding(Tokenizer.from_file(str(SHIPPED / "tokenizer.json")), embedding_weights=weights)
    with torch.inference_mode():
        vectors = module(module.preprocess(TEXTS))["sentence_embedding"].numpy()
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (vectors * shipped.encode(TEXTS)).sum(axis=1).min() >= SMALLEST_COSINE


def test_a_folder_saved_by_sentence_transformers_is_read_and_encodes_alike(tmp_path: Path) -> None:
    model = SentenceTransformer(modules=[StaticEmbedding(tiny_tokenizer(), embedding_weights=TINY_VECTORS)])
    model.save(str(tmp_path / "saved"))
    texts = ["read file", "write write file", "nothing known"]
    expected = model.encode(texts, normalize_embeddings=True)
    assert np.allclose(StaticModel.load(tmp_path / "saved").encode(texts), expected, atol=1e-6)


def test_vector_is_the_normalised_mean_of_the_token_vectors(tmp_path: Path) -> None:
    folder = tiny_folder(tmp_path / "m", {"embedding.weight": TINY_VECTORS}, tiny_tokenizer())
    model = StaticModel.load(folder)
    assert model.dimension == 2
    # read + file: the mean of (3, 0) and (0, 4) points to (0.6, 0.8)
    assert model.encode(["Read FILE"]) == pytest.approx(np.array([[0.6, 0.8]]))


def test_model2vec_mapping_and_weights_are_folded_in(tmp_path: Path) -> None:
    tensors = {
        "embeddings": np.array([[1, 0], [0, 1]], dtype=np.int8),
        "mapping": np.array([0, 0, 0, 1, 1]),
        "weights": np.array([1, 1, 3, 4, 0], dtype=np.float32),
    }
    model = StaticModel.load(tiny_folder(tmp_path / "m", tensors, tiny_tokenizer()))
    # read is 3 times (1, 0), file 4 times (0, 1), write weighs nothing
    assert model.encode(["read file write"]) == pytest.approx(np.array([[0.6, 0.8]]))


def test_a_tokenizer_saved_with_padding_and_truncation_changes_no_vector(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.enable_padding(length=64)
    tokenizer.enable_truncation(max_length=1)
    model = StaticModel.load(tiny_folder(tmp_path / "m", {"embedding.weight": TINY_VECTORS}, tokenizer))
    assert model.encode(["read file", "read"]) == pytest.approx(np.array([[0.6, 0.8], [1.0, 0.0]]))


def test_shipped_tokenizer_neither_pads_nor_truncates_nor_adds_tokens() -> None:
    tokenizer = Tokenizer.from_file(str(SHIPPED / "tokenizer.json"))
    assert tokenizer.padding is None
    assert tokenizer.truncation is None
    short, long = tokenizer.encode_batch(["read", "word " * 3_000])
    assert len(short.ids) == 1
    assert len(long.ids) == 3_000


def test_a_vector_does_not_depend_on_the_texts_beside_it(shipped: StaticModel) -> None:
    together = shipped.encode(TEXTS * 300)
    alone = np.concatenate([shipped.encode([text]) for text in TEXTS])
    assert np.array_equal(together[-len(TEXTS) :], alone)


def test_vectors_have_unit_length(shipped: StaticModel) -> None:
    vectors = shipped.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), shipped.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_a_text_without_tokens_gives_a_row_of_zeros(shipped: StaticModel) -> None:
    vectors = shipped.encode(["", " \n\t", "read"])
    assert not vectors[:2].any()
    assert vectors[2].any()
    assert shipped.encode([]).shape == (0, shipped.dimension)


def test_token_vectors_that_cancel_out_give_zeros_and_no_nan(tmp_path: Path) -> None:
    model = StaticModel.load(
        tiny_folder(tmp_path / "m", {"embedding.weight": TINY_VECTORS}, tiny_tokenizer())
    )
    assert np.array_equal(model.encode(["read write"]), np.zeros((1, 2)))


def test_encoding_imports_no_torch() -> None:
    code = (
        "import sys; from repolake.static_model import StaticModel; "
        f"StaticModel.load({str(SHIPPED)!r}).encode(['read a file']); "
        "print([name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=SHIPPED.parents[2]
    )
    assert output.stdout.strip() == "[]"


def test_shipped_files_are_those_of_the_config() -> None:
    config = json.loads((SHIPPED / "config.json").read_text(encoding="utf-8"))
    for name, key in (("model.safetensors", "weights_sha256"), ("tokenizer.json", "tokenizer_sha256")):
        assert hashlib.sha256((SHIPPED / name).read_bytes()).hexdigest() == config[key]
    table = Path(__file__).parent / "benchmarks" / "train_fast_model" / "packages.tsv"
    assert hashlib.sha256(table.read_bytes()).hexdigest() == config["packages_sha256"]
    assert StaticModel.load(SHIPPED).dimension == config["dimension"] == 256


def test_shipped_model_is_smaller_than_15_megabytes() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file()) < 15_000_000


def test_shipped_model_finds_the_code_that_a_question_asks_for(shipped: StaticModel) -> None:
    codes = [
        "# sockets.py :: listen\ndef listen(port):\n    sock = socket.socket()\n    sock.bind(('', port))",
        "# images.py :: thumbnail\ndef thumbnail(image, size):\n    image.resize((size, size))",
        "# csvs.py :: rows\ndef rows(path):\n    return list(csv.reader(open(path)))",
    ]
    questions = [
        "wait for network connections",
        "make a picture smaller",
        "read a table from a comma separated file",
    ]
    scores = shipped.encode(questions) @ shipped.encode(codes).T
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "holds no readable"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"cut short"), "holds no readable"),
        (lambda folder: (folder / "tokenizer.json").write_text("<html>"), "is no tokenizer"),
        (lambda folder: save_file({"other": TINY_VECTORS}, folder / "model.safetensors"), "no table"),
        (
            lambda folder: save_file({"embeddings": TINY_VECTORS[:3]}, folder / "model.safetensors"),
            "its table 3",
        ),
        (
            lambda folder: save_file({"embeddings": TINY_VECTORS * np.nan}, folder / "model.safetensors"),
            "not finite",
        ),
        (
            lambda folder: (folder / "modules.json").write_text('[{"type": "a.Transformer", "path": ""}]'),
            "no static model",
        ),
    ],
)
def test_a_broken_folder_is_refused_with_a_sentence(tmp_path: Path, break_it, said: str) -> None:
    folder = tiny_folder(tmp_path / "m", {"embedding.weight": TINY_VECTORS}, tiny_tokenizer())
    break_it(folder)
    with pytest.raises(ModelError, match=said):
        StaticModel.load(folder)
