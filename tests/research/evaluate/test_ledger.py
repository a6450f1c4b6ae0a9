"""Bits per byte: the figure against arithmetic done by hand, and every known mistake planted and named."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.evaluate import find_faults, ledger
from research.tokenizers import BPETokenizer, ByteTokenizer

BYTES = ByteTokenizer()
TRAINED = BPETokenizer.train(["the cat the dog 안녕 안녕하세요 the cat"] * 3, 300)
TEXT = "the cat 안녕 the dog"


def table(tokenizer=TRAINED):
    return {token: tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)}


def costs(tokens, seed=0):
    return np.random.default_rng(seed).gamma(2.0, size=len(tokens))


def in_windows(ids):
    """Ids of the text, a piece of which is scored again by the second of two windows."""
    return np.concatenate([ids[:7], ids[4:]])


def test_the_two_figures_are_sums_over_sums_worked_by_hand():
    found = ledger([97, 98, 256, 99, 256], [1.0, 2.0, 4.0, 3.0, 8.0], BYTES, ["ab", "c"])
    assert found.bpb_text == pytest.approx(6 / 3 / math.log(2))
    assert found.bpb_total == pytest.approx(18 / 3 / math.log(2))
    assert found.nats_text.tolist() == [3.0, 3.0]
    assert found.nats_protocol.tolist() == [4.0, 8.0]
    assert (found.bytes.tolist(), found.tokens_text.tolist(), found.tokens_protocol.tolist()) == (
        [2, 1],
        [2, 1],
        [1, 1],
    )


def test_a_uniform_guess_over_the_bytes_costs_eight_bits_a_byte_in_any_script():
    text = "안녕, world 😀"
    ids = BYTES.encode(text)
    assert ledger(ids, np.full(len(ids), math.log(256)), BYTES, text).bpb_text == pytest.approx(8.0)


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5))
def test_documents_add_up_and_the_same_nats_a_byte_give_the_same_figure_under_any_tokenizer(texts):
    for tokenizer in (BYTES, TRAINED):
        ids = np.concatenate([[*tokenizer.encode(text), tokenizer.stop_id] for text in texts])
        lengths = np.array([len(tokenizer.token_bytes(token)) for token in ids.tolist()])
        found = ledger(ids, lengths * 0.75, tokenizer, texts)
        assert found.bpb_text == pytest.approx(0.75 / math.log(2))
        assert found.bpb_total == found.bpb_text
        assert found.bytes.tolist() == [len(text.encode()) for text in texts]
        assert found.tokens_protocol.tolist() == [1] * len(texts)


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.data())
def test_tokens_that_are_not_the_text_are_refused(text, data):
    ids = TRAINED.encode(text)
    spoilt = ids.copy()
    at = data.draw(st.integers(0, len(ids) - 1))
    spoilt[at] = (ids[at] + data.draw(st.integers(1, 255))) % 256
    if TRAINED.decode_bytes(spoilt) != text.encode():
        with pytest.raises(InputError, match="bytes of the scored tokens"):
            ledger(spoilt, costs(ids), TRAINED, text)
    for lacking in (ids[1:], ids[:-1]):
        if len(lacking):
            with pytest.raises(InputError, match=r"too few|too many"):
                ledger(lacking, costs(lacking), TRAINED, text)


def with_space_twice(ids, pieces):
    return ids, {token: b" " + piece if piece.startswith(b" ") else piece for token, piece in pieces.items()}


def with_replacement(ids, pieces):
    return ids, {token: piece.decode(errors="replace").encode() for token, piece in pieces.items()}


def with_special_bytes(ids, pieces):
    return np.append(ids, TRAINED.stop_id), pieces | {TRAINED.stop_id: b"<|doc|>"}


def with_dummy_prefix(ids, pieces):
    return np.append(999, ids[1:]), pieces | {999: b" " + pieces[int(ids[0])]}


def with_a_token_twice(ids, pieces):
    return in_windows(ids), pieces


def with_a_gap(ids, pieces):
    return np.delete(ids, slice(3, 6)), pieces


def with_sentencepiece_spelling(ids, pieces):
    return ids, {token: spelled_by_sentencepiece(piece) for token, piece in pieces.items()}


def spelled_by_sentencepiece(piece):
    if not piece or is_text(piece):
        return piece.replace(b" ", "▁".encode())
    return b"<0x%02X>" % piece[0]


def is_text(piece):
    try:
        return bool(piece.decode())
    except UnicodeDecodeError:
        return False


def with_gpt2_spelling(ids, pieces):
    printable = [chr(value) if 33 <= value < 127 or 161 <= value != 173 else "" for value in range(256)]
    others = iter(range(256, 400))  # the rule of GPT-2's `bytes_to_unicode`
    alphabet = [character or chr(next(others)) for character in printable]
    return ids, {token: "".join(alphabet[value] for value in piece).encode() for token, piece in pieces.items()}


@pytest.mark.parametrize(
    ("spoil", "name"),
    [
        (with_space_twice, "a leading space counted twice"),
        (with_replacement, "U+FFFD counted as three bytes"),
        (with_special_bytes, "a special token with bytes"),
        (with_dummy_prefix, "a leading space that the text does not have"),
        (with_a_token_twice, "scored twice"),
        (with_a_gap, "scored not at all"),
        (with_sentencepiece_spelling, "a table in the spelling of SentencePiece"),
        (with_gpt2_spelling, "a table in the spelling of GPT-2"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_planted_mistake_is_named_with_all_the_bytes_that_it_adds(spoil, name):
    text = TEXT + " 가 x the end of it"
    of_bytes = spoil in (with_replacement, with_sentencepiece_spelling)
    ids, pieces = spoil(BYTES.encode(text) if of_bytes else TRAINED.encode(text), table())
    scored = [pieces[token] for token in ids.tolist()]
    with pytest.raises(InputError, match=name.replace("+", r"\+")):
        ledger(ids, costs(ids), pieces, text)
    faults = find_faults(scored, text.encode())
    assert {fault.kind.split(" (")[0] for fault in faults} == {name}
    assert sum(fault.excess for fault in faults) == sum(map(len, scored)) - len(text.encode())


@pytest.mark.parametrize(
    "special",
    ["<s>", "</s>", "<|im_end|>", "<｜begin▁of▁sentence｜>", "<start_of_turn>", "[/INST]", "<unused0>", "[SEP]"],
)
def test_special_tokens_are_known_in_the_brackets_of_every_family(special):
    pieces = [special.encode(), b"the", b" cat"]
    assert [fault.kind for fault in find_faults(pieces, b"the cat")] == ["a special token with bytes"]


@pytest.mark.parametrize("tokenizer", [BYTES, TRAINED], ids=["bytes", "bpe"])
@pytest.mark.parametrize("text", [TEXT + " 가 x the end of it", "a b c <b>d</b> e f " * 2 + "g h <b>i</b> jklmnop"])
def test_windows_that_overlap_anywhere_are_scored_twice_and_nothing_else(tokenizer, text):
    pieces = [tokenizer.token_bytes(token) for token in tokenizer.encode(text).tolist()]
    for end in range(2, len(pieces)):
        for back in range(1, min(end, 6)):
            again = pieces[end - back :]
            # one space alone may as well be counted twice; and a place is known by 16 bytes
            if b"".join(again[:back]) != b" " and sum(map(len, again)) >= 16:
                faults = find_faults(pieces[:end] + again, text.encode())
                assert {fault.kind for fault in faults} == {"scored twice"}, (end, back)


def test_a_table_that_begins_the_text_with_a_space_in_its_spelling_is_named_by_its_spelling():
    pieces = ["▁the".encode(), "▁cat".encode(), b"<0xEA>", b"<0xB0>", b"<0x80>"]
    faults = find_faults(pieces, "the cat가".encode())
    assert {fault.kind.split(" (")[0] for fault in faults} == {"a table in the spelling of SentencePiece"}
    assert len(faults) == 5


def test_bytes_that_are_replaced_by_as_many_are_not_said_to_be_too_few():
    with pytest.raises(InputError, match=r"\(1 place, as many bytes, but others\)"):
        ledger([0, 1, 2], [1.0] * 3, {0: b"the", 1: b" cut", 2: b" sat"}, "the cat sat")


@pytest.mark.parametrize("token", [97 + 2**32, -1, 2**31, 2**63])
def test_an_id_that_an_int32_does_not_hold_is_refused_and_not_wrapped(token):
    with pytest.raises(InputError, match=f"scored tokens: expected ids 0 to 2,147,483,647, got {token} at token 1"):
        ledger(np.array([97, token], np.uint64 if token > 0 else np.int64), [1.0, 1.0], BYTES, "aa")


def test_a_lone_surrogate_is_told_with_its_document_and_place():
    with pytest.raises(InputError, match=r"U\+D800 as character 1 at document 1"):
        ledger([97, 97], [1.0, 1.0], BYTES, ["a", "a\ud800"])


def test_two_mistakes_at_once_are_both_named():
    text = "the cat 갸 dog"
    ids, pieces = with_replacement(BYTES.encode(text), table(BYTES))
    ids, pieces = np.append(ids, 256), pieces | {256: b"<|doc|>"}
    with pytest.raises(InputError, match=r"U\+FFFD.*3 places, 6 bytes too many.*special token with bytes.*1 place"):
        ledger(ids, costs(ids), pieces, text)


@pytest.mark.parametrize(
    ("lengths", "name"),
    [
        (lambda piece: len(piece.decode(errors="replace").encode()), "U\\+FFFD counted as three bytes"),
        (lambda piece: len(piece) + piece.startswith(b" "), "leading space counted twice"),
        (lambda piece: len(piece) or 7, "special token with bytes"),
    ],
)
def test_a_tokenizer_that_states_wrong_byte_lengths_is_named_its_mistake(lengths, name):
    class Wrong:
        protocol, vocab_size = TRAINED.protocol, TRAINED.vocab_size
        decode_bytes = staticmethod(TRAINED.decode_bytes)
        token_byte_lengths = np.array([lengths(piece) for piece in table().values()], np.int32)

    ids = np.append(TRAINED.encode("안녕 갸 the"), TRAINED.stop_id)
    with pytest.raises(InputError, match=name):
        ledger(ids, costs(ids), Wrong(), "안녕 갸 the")


def test_a_figure_that_somebody_reports_is_traced_to_the_mistake_that_makes_it():
    texts = ["the cat 안녕 the dog", "a", "갸"]
    ids = np.concatenate([[*TRAINED.encode(text), TRAINED.stop_id] for text in texts])
    nats = costs(ids)
    found = ledger(ids, nats, TRAINED, texts)
    is_text = ids < TRAINED.text_vocab_size
    lengths = np.array([len(TRAINED.token_bytes(token)) for token in ids.tolist()])
    size = lengths.sum()
    as_decoded = sum(len(TRAINED.token_bytes(token).decode(errors="replace").encode()) for token in ids.tolist())
    by_document = [cost / len(text.encode()) for cost, text in zip(found.nats_text, texts, strict=True)]
    claims = {
        "missing ln 2": nats[is_text].sum() / size,
        "bits taken for nats": nats[is_text].sum() / size / math.log(2) ** 2,
        "mean of ratios, token by token": (nats[is_text] / lengths[is_text]).mean() / math.log(2),
        "mean of ratios, document by document": np.mean(by_document) / math.log(2),
        "U+FFFD counted as three bytes": nats.sum() / as_decoded / math.log(2),
        "bits per token": nats[is_text].mean() / math.log(2),
    }
    assert found.explain(found.bpb_text).endswith("is bpb_text")
    assert found.explain(found.bpb_total).endswith("is bpb_total")
    for name, claim in claims.items():
        assert name in found.explain(claim)
    assert "nor a known mistake" in found.explain(found.bpb_text * 3.21)


def test_bits_given_as_nats_are_doubted_where_they_are_worse_than_a_guess():
    ids = BYTES.encode("hello")
    uniform = math.log(257)
    assert ledger(ids, np.full(5, uniform), BYTES, "hello").doubts == ()
    assert "bits" in ledger(ids, np.full(5, uniform / math.log(2)), BYTES, "hello").doubts[0]
    assert ledger(ids, np.full(5, 20.0), BYTES, "hello").doubts == ()  # as bits it would be no better


@pytest.mark.parametrize(
    ("nats", "complaint"),
    [
        ([-1.0, -2.0], "negated"),
        ([1.0, -2.0], "no probability is above 1"),
        ([1.0, np.inf], "impossible"),
        ([1.0, np.nan], "logits of the model are not finite"),
        ([-1.0, -np.inf], "negated"),
        ([1.0], "one for each"),
        ([[1.0, 2.0]], "one dimension"),
    ],
)
def test_nats_that_are_none_are_refused(nats, complaint):
    with pytest.raises(InputError, match=complaint):
        ledger([97, 98], nats, BYTES, "ab")


def test_a_token_across_two_documents_is_refused():
    with pytest.raises(InputError, match="1 bytes into the next"):
        ledger([0], [1.0], {0: b"ab"}, ["a", "b"])


def test_a_table_of_texts_instead_of_bytes_and_an_empty_document_are_refused():
    with pytest.raises(InputError, match="give bytes"):
        ledger([0], [1.0], {0: "a"}, "a")
    with pytest.raises(InputError, match="document 1"):
        ledger([97], [1.0], BYTES, ["a", ""])
    with pytest.raises(InputError, match="no such id"):
        ledger([5], [1.0], {0: b"a"}, "a")
