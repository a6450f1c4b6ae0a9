"""Isolation between documents, tried under every policy: what isolates, what does not, and a trial that can tell."""

import pytest
from flax import nnx

from contracts.batch import RowPolicy
from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from research.evaluate import certificate
from research.model import Attention, Decoder
from research.stream import Rows
from research.tokenizers import ByteTokenizer

TOKENIZERS = {boundary: ByteTokenizer(boundary) for boundary in ("shared", "separate", "none")}
TEXTS = ("abc", "de", "fghi", "jkl", "mn", "opqrs")


class NoSegments(Attention):
    """Attention that forgets about documents."""

    def __call__(self, x, positions, segments):
        return super().__call__(x, positions, None)


@pytest.fixture
def rows_under(stream_of):
    def rows(policy, boundary="shared", texts=TEXTS, batch_size=4):
        tokenizer = TOKENIZERS[boundary]
        return Rows(stream_of(tokenizer, texts), tokenizer, policy, batch_size, 12)

    return rows


@pytest.mark.parametrize(
    "boundary", ["shared", *(pytest.param(name, marks=pytest.mark.slow) for name in ("separate", "none"))]
)
@pytest.mark.parametrize(
    "policy",
    [
        RowPolicy("concatenate", "segments", "restart", "no-cross"),
        RowPolicy("concatenate", "segments", "continue", "all"),
        RowPolicy("fit", "segments", "restart", "no-cross"),
        RowPolicy("fit", "reset", "restart", "no-cross"),
    ],
    ids=str,
)
def test_segments_and_reset_isolate_bit_for_bit_in_logits_and_gradient(rows_under, bytes_decoder, boundary, policy):
    found = certificate(bytes_decoder(TOKENIZERS[boundary]), rows_under(policy, boundary))
    assert (found.logits, found.gradient, found.isolated) == (0, 0, True)
    assert min(found.changed, found.compared) > 0


@pytest.mark.parametrize("positions", ["continue", "restart"])
@pytest.mark.parametrize("packing", ["concatenate", "fit"])
def test_cross_does_not_isolate_and_restarting_positions_alone_does_not_either(
    rows_under, bytes_decoder, packing, positions
):
    found = certificate(
        bytes_decoder(TOKENIZERS["shared"]), rows_under(RowPolicy(packing, "cross", positions, "no-cross"))
    )
    assert not found.isolated
    assert found.logits > 1e-2
    assert found.gradient > 1e-3


def test_a_mixer_that_ignores_segments_gets_no_certificate(rows_under, bytes_decoder):
    config = bytes_decoder(TOKENIZERS["shared"]).config
    decoder = Decoder(config, rngs=nnx.Rngs(0), mixer=NoSegments)
    assert not certificate(decoder, rows_under(RowPolicy("concatenate", "segments", "restart", "all"))).isolated


@pytest.mark.slow
def test_stacked_layers_and_half_precision_isolate_as_exactly(rows_under):
    shape = {"d_model": 12, "n_layers": 2, "n_heads": 2, "n_kv_heads": 1, "head_dim": 6, "d_ff": 20}
    config = DecoderConfig(vocab_size=257, context_length=16, compute_dtype="bfloat16", scan_layers=True, **shape)
    decoder = Decoder(config, rngs=nnx.Rngs(0))
    assert certificate(decoder, rows_under(RowPolicy("fit", "segments", "restart", "no-cross"))).isolated


def test_where_no_batch_holds_two_documents_nothing_is_certified(rows_under, bytes_decoder):
    decoder = bytes_decoder(TOKENIZERS["shared"])
    with pytest.raises(InputError, match="a batch of two documents"):
        certificate(decoder, rows_under(RowPolicy("concatenate", "cross", "continue", "all"), texts=("one",)))
    with pytest.raises(InputError, match="two rows"):
        certificate(decoder, rows_under(RowPolicy("fit", "reset", "restart", "no-cross"), batch_size=1))
