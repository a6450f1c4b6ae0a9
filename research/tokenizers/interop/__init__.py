"""Vocabularies of others: Hugging Face's and tiktoken's files read, ours written for both, with equal ids."""
