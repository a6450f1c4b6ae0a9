"""The process of one job: `job WAY CORPUS FOLDER SEEDS CONFIG` trains, and prints its seconds as a line of JSON."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.speed.seeds.question import AFTER, BESIDE
from experiments.train.side_by_side import train_side_by_side
from research.stream import StoredCorpus, open_corpus
from research.train import TrainConfig, resume
from research.train.config import parse_config
from research.train.group import begin_group
from research.train.seeds import train_seeds


def train(way: str, config: TrainConfig, corpus: StoredCorpus, folders: Sequence[Path]) -> None:
    """The runs in `folders`, all seeds of the config, in this way."""
    if way == AFTER:
        for folder in folders:
            resume(folder, corpus.folder)
    elif way == BESIDE:
        train_side_by_side(folders, corpus.folder, go_on="")
    else:
        train_seeds(config, corpus, folders)


def main() -> None:
    """Begin the runs, train them, say how long that took."""
    way, corpus_folder, folder, seeds, described = sys.argv[1:]
    corpus, config = open_corpus(corpus_folder), parse_config(json.loads(described), "the arguments")
    begun = time.perf_counter()
    folders = begin_group(Path(folder), config, int(seeds), corpus)
    train(way, config, corpus, folders)
    print(json.dumps({"seconds": time.perf_counter() - begun}))


if __name__ == "__main__":
    main()
