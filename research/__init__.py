"""What holds it, in the order in which data flows: text, tokenizers, stream, model, costs, measures."""
