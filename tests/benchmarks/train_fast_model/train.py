"""Train the fast model: token vectors whose mean brings a question near the code that answers it.

Symmetric InfoNCE over (query, code) pairs with in-batch negatives (van den Oord et al. 2018, Radford et al.
2021); MiniLM's vectors, reduced to 256 dimensions, are the start and, for some queries, a second target.
"""

import argparse
import re
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import vocabulary
from export import export
from select_pairs import select
from token_arrays import Ragged, encode, grouped_batches, join, keep
from tokenizers import Tokenizer

DIMENSION = 256
SCALE = 30.0
BATCH = 2_048
GROUP = 32  # neighbours of one file in a batch, each other's hard negatives
LEARNING_RATE = 0.005
WEIGHT_LEARNING_RATE = 0.02
NAME_MASKED = 0.3
HEADER_SHOWN = 0.75
QUERY_DROPOUT = 0.15
PHRASE_ADDED = 0.25
TEACHER_QUERIES = 40_000
CODE_CHARACTERS = 1_200
TEACHER_WEIGHT = 1.0
SMOOTHING = 1e-3  # a of smooth inverse frequency weights a / (a + p), Arora et al. 2017
# What people put around a request; the model learns to look past it. {} is the language.
PHRASES = (
    "{}", "{}", "in {}", "how to", "how to in {}", "{} code to", "{} function to", "function that",
    "where is", "how does it", "code for", "fix", "fix bug in", "fix issue with", "add", "add support for",
    "make sure", "improve", "allow", "don't", "refactor", "update", "which",
)  # fmt: skip


@dataclass
class Data:
    """The pairs as token ids; all arrays are in the order of the pairs file."""

    queries: Ragged
    headers: Ragged  # `# file :: symbol`
    files: Ragged  # `# file`, for code whose name is masked
    codes: Ragged  # of the pairs chosen for masking without their own name
    is_masked: np.ndarray
    phrases: Ragged  # len(PHRASES) rows a language
    language: np.ndarray
    query_id: np.ndarray  # equal for equal query texts, which are no negatives of one another
    teacher_rows: np.ndarray
    teacher: np.ndarray


def without_name(pair: dict[str, str]) -> str:
    """Return the code of a pair without its own name."""
    code = pair["code"][:CODE_CHARACTERS]
    return re.sub(rf"\b{re.escape(pair['name'])}\b", " ", code) if pair["name"] else code


def header(pair: dict[str, str]) -> str:
    """Return the first line of an embedded text, as the index writes it."""
    return f"# {pair['file']} :: {pair['symbol'] or '<module>'}"


def prepare(pairs: list[dict[str, str]], tokenizer: Tokenizer, teacher_cache: Path) -> Data:
    """Tokenize the pairs and fetch MiniLM's vectors of TEACHER_QUERIES docstrings."""
    languages = sorted({pair["language"] for pair in pairs})
    identifiers: dict[str, int] = {}
    random = np.random.default_rng(0)
    is_masked = random.random(len(pairs)) < NAME_MASKED
    sentences = np.array([row for row, pair in enumerate(pairs) if pair["kind"] in {"docstring", "class"}])
    rows = np.sort(random.choice(sentences, min(TEACHER_QUERIES, len(sentences)), replace=False))
    if teacher_cache.exists():
        teacher = np.load(teacher_cache)
    else:
        teacher = vocabulary.teacher_vectors([pairs[row]["query"] for row in rows])
        np.save(teacher_cache, teacher)
    return Data(
        queries=encode([pair["query"] for pair in pairs], tokenizer),
        headers=encode([header(pair) for pair in pairs], tokenizer),
        files=encode([f"# {pair['file']}" for pair in pairs], tokenizer),
        codes=encode(
            [
                without_name(pair) if out else pair["code"][:CODE_CHARACTERS]
                for pair, out in zip(pairs, is_masked, strict=True)
            ],
            tokenizer,
        ),
        is_masked=is_masked,
        phrases=encode([phrase.format(language) for language in languages for phrase in PHRASES], tokenizer),
        language=np.array([languages.index(pair["language"]) for pair in pairs]),
        query_id=np.array(
            [identifiers.setdefault(pair["query"].lower(), len(identifiers)) for pair in pairs]
        ),
        teacher_rows=rows,
        teacher=teacher.astype(np.float32),
    )


def query_tokens(data: Data, rows: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the queries of some pairs, some tokens dropped, some behind a phrase of PHRASES."""
    tokens = data.queries.take(rows)
    tokens = keep(tokens, random.random(len(tokens[0])) >= QUERY_DROPOUT)
    phrase = data.language[rows] * len(PHRASES) + random.integers(len(PHRASES), size=len(rows))
    before, lengths = data.phrases.take(phrase)
    shown = random.random(len(rows)) < PHRASE_ADDED
    return join((before[np.repeat(shown, lengths)], np.where(shown, lengths, 0)), tokens)


def code_tokens(data: Data, rows: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of some pairs, most behind their header."""
    is_masked, is_shown = data.is_masked[rows], random.random(len(rows)) < HEADER_SHOWN

    def chosen(source: Ragged, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat, lengths = source.take(rows)
        return flat[np.repeat(wanted, lengths)], np.where(wanted, lengths, 0)

    head = join(chosen(data.headers, is_shown & ~is_masked), chosen(data.files, is_shown & is_masked))
    return join(head, data.codes.take(rows))


class TokenVectors(torch.nn.Module):
    """A table of token vectors, each with a learned weight; a text is the mean of weight * vector."""

    def __init__(self, vectors: np.ndarray, weights: np.ndarray) -> None:
        super().__init__()
        self.vectors = torch.nn.Parameter(torch.from_numpy(vectors.astype(np.float32)))
        self.log_weights = torch.nn.Parameter(torch.from_numpy(np.log(weights)).float())

    def table(self) -> torch.Tensor:
        """Return the vectors with their weights folded in, (vocabulary, dimension)."""
        return self.vectors * self.log_weights.exp()[:, None]

    def forward(self, tokens: tuple[np.ndarray, np.ndarray], table: torch.Tensor) -> torch.Tensor:
        """Return one unit vector a row of (tokens, lengths)."""
        flat, lengths = tokens
        offsets = torch.from_numpy(np.cumsum(lengths) - lengths)
        mean = torch.nn.functional.embedding_bag(
            torch.from_numpy(flat.astype(np.int64)), table, offsets, mode="mean"
        )
        return torch.nn.functional.normalize(mean, dim=1)


def main_axes(vectors: np.ndarray) -> np.ndarray:
    """Return the (384, 256) axes that keep most of the teacher's vectors (PCA, not centred)."""
    return np.linalg.eigh(vectors.T @ vectors)[1][:, ::-1][:, :DIMENSION].astype(np.float32)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the rows at length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def frequency_weights(data: Data, size: int) -> np.ndarray:
    """Return a / (a + p) for each token, p its share of all tokens, (vocabulary,) float64."""
    counts = (
        np.bincount(data.codes.flat, minlength=size) + np.bincount(data.queries.flat, minlength=size) + 1.0
    )
    return SMOOTHING / (SMOOTHING + counts / counts.sum())


def loss_of(
    model: TokenVectors, data: Data, rows: np.ndarray, teacher_of: np.ndarray, random: np.random.Generator
) -> torch.Tensor:
    """Return the InfoNCE loss of a batch in both directions, and the distance to the teacher if it spoke."""
    table = model.table()
    queries = model(query_tokens(data, rows, random), table)
    codes = model(code_tokens(data, rows, random), table)
    same = torch.from_numpy(data.query_id[rows][:, None] == data.query_id[rows][None, :])
    same.fill_diagonal_(False)
    logits = (SCALE * queries @ codes.T).masked_fill(same, -1e4)
    target = torch.arange(len(rows))
    cross_entropy = torch.nn.functional.cross_entropy
    loss = (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
    known = teacher_of[rows] >= 0
    if known.any():
        taught = torch.from_numpy(data.teacher[teacher_of[rows][known]])
        pure = model(data.queries.take(rows[known]), table)
        loss = loss + TEACHER_WEIGHT * (1 - (pure * taught).sum(1)).mean()
    return loss


def train(data: Data, start: np.ndarray, seed: int, epochs: int) -> np.ndarray:
    """Return the trained token vectors, (vocabulary, 256) float32, weights folded in."""
    random = np.random.default_rng(seed)
    model = TokenVectors(start, frequency_weights(data, len(start)))
    optimizer = torch.optim.Adam(
        [
            {"params": [model.vectors], "lr": LEARNING_RATE},
            {"params": [model.log_weights], "lr": WEIGHT_LEARNING_RATE},
        ],
        fused=True,
    )
    teacher_of = np.full(len(data.language), -1)
    teacher_of[data.teacher_rows] = np.arange(len(data.teacher_rows))
    steps = epochs * (len(data.language) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    file_order = np.arange(len(data.language))
    began = time.perf_counter()
    for _ in range(epochs):
        for rows in grouped_batches(file_order, BATCH, GROUP, random):
            loss = loss_of(model, data, rows, teacher_of, random)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            if schedule.last_epoch % 50 == 0:
                seconds = time.perf_counter() - began
                print(
                    f"seed {seed} step {schedule.last_epoch}/{steps} {loss.item():.3f} {seconds:.0f}s",
                    flush=True,
                )
    return model.table().detach().numpy()


def main() -> None:
    """Train one table a seed from the pairs and write their mean.

    The mean of runs that differ in their seed only is better than each (model soups, Wortsman et al. 2022).
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for what all seeds share")
    parser.add_argument("--output", type=Path, required=True, help="folder of the finished model")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3])
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    pairs = select(options.pairs)
    tokenizer_file, start_file = options.work / "tokenizer.json", options.work / "start.npy"
    if not tokenizer_file.exists():
        texts = ((pair["package"], text) for pair in pairs for text in (pair["query"], pair["code"]))
        vocabulary.build_tokenizer(texts).save(str(tokenizer_file))
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    if not start_file.exists():
        np.save(start_file, vocabulary.start_vectors(tokenizer))
    print(f"{len(pairs)} pairs, {time.perf_counter() - began:.0f}s", flush=True)
    data = prepare(pairs, tokenizer, options.work / f"teacher-{len(pairs)}.npy")
    axes = main_axes(data.teacher)
    data.teacher = unit(data.teacher @ axes)
    length = len(data.codes.flat) / len(pairs)
    print(f"tokenized, {length:.0f} tokens a code, {time.perf_counter() - began:.0f}s", flush=True)
    start = unit(np.load(start_file) @ axes)
    began = time.perf_counter()
    vectors = np.mean([train(data, start, seed, options.epochs) for seed in options.seeds], axis=0)
    export(
        options.output,
        tokenizer,
        vectors,
        options,
        pair_count=len(pairs),
        training_seconds=round(time.perf_counter() - began),
    )


if __name__ == "__main__":
    main()
