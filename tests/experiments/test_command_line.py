"""The command line: help without JAX, one-line errors with exit code 2, nothing half-written."""

import os
import re
import subprocess
import sys
from itertools import pairwise
from threading import Thread

import pytest

from contracts.results import Row
from experiments.command import guarded
from experiments.tokens import Column, Tokens, coloured, readable, row_ends, rows
from research.tokenizers import BPETokenizer, ByteTokenizer


def bytebound(*arguments, stdin=None, cwd=None):
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "experiments.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, input=stdin, cwd=cwd, env=environment, check=False)


def test_help_names_every_command_and_needs_no_jax():
    program = (
        "import sys\nfrom experiments.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\nassert 'jax' not in sys.modules"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout for name in ("study", "tokens", "tokenizer"))


def test_a_closed_pipe_ends_help_without_a_traceback():
    program = f'"{sys.executable}" -m experiments.cli study --help | head -1'
    result = subprocess.run(program, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert result.stdout.startswith("usage: bytebound study")


def test_tokens_counts_and_shows_pieces_side_by_side():
    result = bytebound("tokens", "안녕", "--tokenizer", "bytes")
    assert result.returncode == 0, result.stderr.decode()
    output = result.stdout.decode()
    assert "2 characters, 6 bytes" in output
    assert "<ec>|<95>|<88>" in output.replace("\n", "")


def test_the_word_none_is_a_text_as_any_other():
    result = bytebound("tokens", "None", "--tokenizer", "bytes", stdin=b"not read")
    assert b"4 characters, 4 bytes" in result.stdout


def test_tokens_reads_what_a_pipe_gives(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_bytes, args=(b"Hallo Welt!",), daemon=True)
    writer.start()
    result = bytebound("tokens", "--file", tmp_path / "pipe", "--tokenizer", "bytes")
    writer.join(5)
    assert b"11 characters, 11 bytes" in result.stdout


def test_neighbours_never_have_the_same_colour():
    parts = coloured([(token, b"a") for token in (0, 4, 8, 12, 4)], ids=False)
    styles = [part[1] for part in parts if isinstance(part, tuple)]
    assert all(left != right for left, right in pairwise(styles))


def test_tokens_reads_standard_input_and_files(tmp_path):
    (tmp_path / "x.txt").write_text("Hallo Welt!")
    from_pipe = bytebound("tokens", "--tokenizer", "bytes", stdin=b"Hallo Welt!")
    from_file = bytebound("tokens", "--file", tmp_path / "x.txt", "--tokenizer", "bytes")
    assert from_pipe.stdout == from_file.stdout
    assert b"11 characters, 11 bytes" in from_pipe.stdout


@pytest.mark.parametrize(
    ("arguments", "stdin", "expected"),
    [
        (["tokens", "--tokenizer", "bytes"], b"\xff", "standard input: expected UTF-8, got byte 0xff at byte 0"),
        (["tokens", "x", "--tokenizer", "nowhere.json"], None, "nowhere.json"),
        (["tokens", "x", "--file", "y"], None, "text: expected a text or --file, got both"),
        (["tokens", "--file", "nowhere.txt"], None, "--file: expected a text file, got nowhere.txt"),
        (["tokens", "x", "--tokenizer", "bpe-12"], None, "at least 256"),
        (["study", "--corpus", "nowhere"], None, "nowhere"),
        (["study", "--only", "everything"], None, "--only: expected some of"),
        (["tokenizer", "nowhere", "--out", "x.json"], None, "nowhere"),
        (["tokenizer", ".", "--out", "no/folder/x.json"], None, "--out: expected a file that can be written"),
        (["tokens", "x", "--most", "-2"], None, "--most: expected 0 for all rows"),
        (["tokens", "x", "--most", "many"], None, "--most"),
        (["tokens", "x", "--nosuch"], None, "Unrecognized options: --nosuch"),
        (["tokenizer", "x", "--out", "y", "--tie-break", "coin"], None, "invalid choice 'coin'"),
        (["frobnicate"], None, "Unrecognized options: frobnicate"),
        (["study", "--corpus"], None, "--corpus: expected a value, got none"),
        (["study", "--corpus", ""], None, "--corpus: expected a value, got an empty one"),
    ],
)
def test_a_persons_mistake_is_one_line_and_exit_code_2(arguments, stdin, expected, tmp_path):
    result = bytebound(*arguments, stdin=stdin, cwd=tmp_path)
    message = result.stderr.decode()
    assert result.returncode == 2
    assert expected in message
    assert "Traceback" not in message
    assert [line for line in message.splitlines() if not line.startswith("error:")] == []
    assert message.count("\n") == 1
    assert list(tmp_path.glob("**/*")) in ([], [tmp_path / "runs"])


def test_a_trained_vocabulary_is_saved_and_used(tmp_path):
    (tmp_path / "text.txt").write_text("ab ab ab ab " * 5)
    saved = tmp_path / "vocabulary.json"
    trained = bytebound("tokenizer", tmp_path / "text.txt", "--vocab-size", "257", "--out", saved)
    assert trained.returncode == 0, trained.stderr.decode()
    assert b"257 text tokens (1 merges), vocab_size reached" in trained.stdout
    used = bytebound("tokens", "ab ab", "--tokenizer", saved)
    assert "ab|␣|ab" in used.stdout.decode()


def column(tokenizer, text):
    return Column("a", tokenizer, tokenizer.encode(text))


def test_a_row_ends_where_all_tokenizers_have_a_border():
    text = "ab ab"
    columns = [column(ByteTokenizer(), text), column(BPETokenizer([(97, 98)]), text)]
    found = list(rows(columns, row_ends(columns)))
    assert [[len(cell) for cell in row] for row in found] == [[2, 1], [1, 1], [2, 1]]
    assert all(b"".join(token for _, token in cell) in (b"ab", b" ") for row in found for cell in row)


@pytest.mark.parametrize(
    ("text", "lines"), [("ab\n\nb", ["ab\n", "\n", "b"]), ("b\n", ["b\n"]), ("b", ["b"]), ("", [])]
)
def test_under_one_tokenizer_a_row_is_a_line(text, lines):
    columns = [column(ByteTokenizer(), text)]
    found = rows(columns, row_ends(columns))
    assert [b"".join(token for _, token in cell).decode() for (cell,) in found] == lines


def test_of_a_large_file_only_what_is_shown_is_taken_apart(monkeypatch, tmp_path, capsys):
    taken = []
    take = ByteTokenizer.token_bytes
    monkeypatch.setattr(ByteTokenizer, "token_bytes", lambda self, token: taken.append(token) or take(self, token))
    (tmp_path / "large.txt").write_text("ab cd\n" * 50_000)
    Tokens(file=str(tmp_path / "large.txt"), tokenizer=("bytes", "bytes"), most=7).run()
    assert len(taken) == 14
    assert "... and 299,993 more rows" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["x\0", "x" * 10_000, "", "no file"])
def test_a_text_that_names_a_file_is_said_to_be_taken_as_text(tmp_path, capsys, text):
    Tokens(text, tokenizer=("bytes",)).run()
    assert not capsys.readouterr().err
    (tmp_path / "x.txt").write_text("ab")
    Tokens(str(tmp_path / "x.txt"), tokenizer=("bytes",)).run()
    assert f"--file {tmp_path / 'x.txt'} reads that" in capsys.readouterr().err


def test_bytes_that_are_no_text_are_shown_as_such():
    assert readable(b"\xea\xb0") == "<ea><b0>"
    assert readable("가 \n".encode()) == "가␣⏎"
    assert readable(b"\x00") == "<U+0000>"


@pytest.mark.slow
def test_a_study_answers_what_the_text_allows_and_says_what_it_does_not(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in (("eng", "one two three four\nfive six\n"), ("kor", "하나 둘 셋 넷\n다섯 여섯\n")):
        (folder / f"{name}.txt").write_text(text * 20)
    arguments = ("study", "--corpus", folder, "--only", "sequence_length", "--out", tmp_path / "out")
    planned = bytebound(*arguments, "--dry-run", cwd=tmp_path)
    assert planned.returncode == 0, planned.stderr.decode()
    assert not (tmp_path / "out").exists()
    for _ in range(2):
        done = bytebound(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr.decode()
    assert "report.md" in done.stdout.decode()
    report = (tmp_path / "out" / "report.md").read_text()
    assert "sequence_length/figure.png" in report
    assert all((tmp_path / "out" / link).is_file() for link in re.findall(r"\]\(([^)]+)\)", report))
    as_rows = bytebound(*arguments, "--json", cwd=tmp_path)
    rows = [Row.from_json(line) for line in as_rows.stdout.decode().splitlines()]
    assert {row.quantity for row in rows} >= {"tokens", "bytes"}


def test_a_question_that_can_not_be_asked_does_not_cost_the_others(tmp_path):
    (tmp_path / "one.txt").write_text("a")
    arguments = ("study", "--corpus", tmp_path / "one.txt", "--only", "sequence_length", "--out", tmp_path / "out")
    refused = bytebound(*arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert "can't be asked of this text" in refused.stderr.decode()
    assert not (tmp_path / "out").exists()


def test_memory_that_runs_out_is_one_line_and_exit_code_2(capsys):
    def greedy():
        raise MemoryError

    with pytest.raises(SystemExit) as ended:
        guarded(greedy)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: memory ran out")
