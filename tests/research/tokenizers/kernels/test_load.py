"""What it costs to have kernels: nothing on import, a line while they compile, no access outside an array."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent), **environment},
        capture_output=True,
        text=True,
        check=True,
    )


def test_importing_tokenizers_imports_neither_numba_nor_kernels():
    loaded = run("import sys, research.tokenizers; print(*sys.modules)").stdout.split()
    assert "research.tokenizers.bpe" in loaded
    assert not {"numba", "llvmlite", "research.tokenizers.kernels"} & set(loaded)


@pytest.mark.slow
def test_compiling_is_announced_and_what_the_disk_holds_is_not_compiled(tmp_path):
    code = "from research.tokenizers.kernels import load; load(); load()"
    first, second = (run(code, NUMBA_CACHE_DIR=str(tmp_path)).stderr for _ in range(2))
    assert first.count("compiling the tokenizer kernels") == 1
    assert second == ""


@pytest.mark.slow
def test_a_kernel_is_compiled_again_when_a_helper_in_another_file_has_changed(tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    shutil.copy(ROOT / "research/tokenizers/kernels/jit.py", folder)
    (folder / "caller.py").write_text(
        "from jit import kernel\nfrom helper import answer\n\n@kernel\ndef asked():\n    return answer()\n"
    )
    answers = []
    for answer in (1, 2):
        (folder / "helper.py").write_text(f"from numba import njit\n\n@njit\ndef answer():\n    return {answer}\n")
        answers.append(run("from caller import asked; print(asked())", PYTHONPATH=str(folder)).stdout.strip())
    assert answers == ["1", "2"]


CHECKED = """
import numpy as np
from pieces import TRICKY, as_documents, split
from regexes import REAL
from research.tokenizers.plain.encode import merge_bytes
from research.tokenizers.kernels.count import WordCounter
from research.tokenizers.kernels.decode import Spelling
from research.tokenizers.kernels.encoder import Encoder
from research.tokenizers.kernels.learn import learn_merges
from research.tokenizers.pretokenize import PATTERNS, pretokenizer
from research.tokenizers.plain.train import learn_merges as plain_merges

texts = ["", "a", TRICKY, TRICKY * 3, "abab" * 50, "it's 12345 don't\\r\\n \\n x" * 20, "가" * 70, "." * 300]
for pattern in [*PATTERNS.values(), *map(pretokenizer, REAL.values())]:
    for size in (5, 64, 4096):
        assert split(texts, pattern, size) == [pattern.split(text) for text in texts]
    counter = WordCounter()
    counter.add(as_documents(texts), pattern)
    counts = counter.result()
    for tie_break in ("smallest-ids", "largest-bytes"):
        merges = learn_merges(counts, 300, 1, tie_break)
        assert list(map(tuple, merges.tolist())) == plain_merges(dict(counts.items()), 300, 1, tie_break)
    ranks = {pair: 256 + index for index, pair in enumerate(map(tuple, merges.tolist()))}
    tokens, offsets = Encoder(merges, pattern).encode_batch(as_documents(texts))
    assert tokens.tolist() == [
        token for text in texts for piece in pattern.split(text) for token in merge_bytes(piece.encode(), ranks)
    ]
    assert Spelling(merges).decode(tokens).decode() == "".join(texts)
print("checked")
"""


@pytest.mark.slow
def test_no_kernel_reads_or_writes_outside_an_array(tmp_path):
    assert run(CHECKED, NUMBA_BOUNDSCHECK="1", NUMBA_CACHE_DIR=str(tmp_path)).stdout == "checked\n"
