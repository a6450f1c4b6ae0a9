"""Tables of vocabularies, of what words, characters and guesses lose, and of signs that are more than they look."""

from experiments.sequence_length.cells import by_text, names, spelled
from experiments.sequence_length.columns import VIEWS, Column
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.joint import Joint
from experiments.sequence_length.texts import Text
from experiments.tables import Table, number, percent

#: A text is listed as changed by NFD from this growth of its bytes on.
_CHANGED = 1.01


def vocabulary_table(found: Findings) -> Table:
    """Every vocabulary learned here: from which text, how large, and why training stopped."""
    taught = {"all texts": found.taught}
    if not isinstance(found.joint, str):
        taught |= found.joint.vocabularies
    rows = tuple(
        (
            name,
            "even" if half == 0 else "odd",
            number(one.bytes[half]),
            number(found.requested),
            number(tokenizer.text_vocab_size),
            str(tokenizer.stop_reason),
        )
        for name, one in taught.items()
        for half, tokenizer in enumerate(one.tokenizers)
    )
    return Table(
        "Vocabularies: requested and reached",
        ("learned from", "documents", "training bytes", "requested", "reached", "why training stopped"),
        rows,
        "A size is an upper bound. Each text gives the evenly spread documents of one half, at most "
        f"{found.arguments.train_bytes:,} bytes of them (--train-bytes).",
    )


def joint_table(joint: Joint) -> Table:
    """English-only against joint, size by size, on unseen and on seen text."""
    english, other = joint.english, joint.other
    rows = []
    for view in VIEWS:
        for i, size in enumerate(joint.sizes):
            densities = [
                joint.bytes_per_token(vocabulary, text, view)[i]
                for vocabulary in ("english-only", "joint")
                for text in (english, other)
            ]
            ratios = [joint.ratios[name, view][i] for name in (english.name, other.name, "both")]
            rows.append((f"{size:,}", view, *(number(d) for d in densities), *map(spelled, ratios)))
    return Table(
        f"One size, two vocabularies: {english.name} alone, or {english.name} and {other.name}",
        (
            "vocabulary",
            "text",
            *(f"{who}: {text.name}" for who in ("alone", "joint") for text in (english, other)),
            *(f"joint / alone: {name}" for name in (english.name, other.name, "both")),
        ),
        tuple(rows),
        f"Bytes a token, then tokens under joint over tokens under {english.name} alone with the 95 % interval. Both "
        "learned from equally many bytes, joint half of them from each language; unseen text is the other half of "
        "the documents.",
    )


def baseline_table(found: Findings) -> Table:
    """What a vocabulary of words loses, and how much of the text one of characters leaves to bytes."""
    seen = {one.text: one for one in found.baselines if one.view == "seen"}
    rows = tuple(
        (
            one.text.name,
            f"{percent(one.lost_words)} ({percent(seen[one.text].lost_words)})",
            f"{percent(one.lost_characters)} ({percent(seen[one.text].lost_characters)})",
            number(one.whole),
            number(one.fallback),
            percent(one.fallback_share),
        )
        for one in found.baselines
        if one.view == "unseen"
    )
    return Table(
        "Why bytes: words and characters",
        ("text", "words lost", "text lost", "character tokens", "byte tokens", "of all tokens"),
        rows,
        f"Lost to <unk> under a vocabulary of {found.taught.reached:,} words, then the two spaces of a vocabulary of "
        "256 bytes and as many characters as fit. On unseen text; in brackets on the half that taught it.",
    )


def guess_table(found: Findings) -> Table:
    """How wrong the English tokens a character are for every text, and which chunks overflow by them."""
    cells = {(guess.text, guess.column.name): guess for guess in found.guesses}

    def cell(text: Text, column: Column) -> str:
        guess = cells[text, column.name]
        overflow = percent(guess.overflow) if guess.chunks else "-"
        return f"{guess.error:+.0%} ({overflow})".replace("%", " %", 1)

    return Table(
        "Guessing by the English rule",
        ("text", *names(found.shown)),
        by_text(found, found.shown, cell),
        "Error of English tokens a character times the characters, against the count. In brackets: chunks cut to stay "
        f"within {found.arguments.chunk_tokens:,} tokens by that rule with a tenth to spare that take more.",
    )


def emoji_table(found: Findings) -> Table:
    """Code points and tokens of one emoji of every kind."""
    rows = tuple(
        (f"{one.sign} {one.kind}", number(len(one.sign)), *(number(count) for count in one.tokens.values()))
        for one in found.emoji
    )
    return Table(
        "Tokens an emoji",
        ("sign", "code points", *names(found.shown)),
        rows,
        "bpe-N as the odd documents taught it; what it never saw stays bytes.",
    )


def decomposed_table(found: Findings) -> Table:
    """How much longer decomposed text is, for the texts that it changes; without rows if it changes none."""
    rows = tuple(
        (one.text.name, *(number(ratio) for ratio in one.ratios.values()))
        for one in found.decomposed
        if one.ratios["bytes"] >= _CHANGED
    )
    return Table(
        "The same text in NFD, relative to NFC",
        ("text", *names(found.shown)),
        rows,
        "A vocabulary learned from composed text has no merges for decomposed letters. Texts whose bytes grow by less "
        "than 1 % are left out.",
    )
