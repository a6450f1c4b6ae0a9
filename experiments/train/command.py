"""`bytebound train`: a corpus folder to a trained decoder in a run folder that survives a kill."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from contracts.errors import InputError
from experiments.train.seeds import require_group_options
from experiments.train.summary import summarize
from experiments.train.topology import ONE_PROCESS, Topology

_OF_PRESET = "(default: the preset's)"
Count = Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint=_OF_PRESET)]
Number = Annotated[float | None, tyro.conf.arg(metavar="FLOAT", help_behavior_hint=_OF_PRESET)]
Folder = Annotated[str | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]

PresetChoice = Annotated[
    Literal["seconds", "minutes", "hours", "124m", "350m", "1b"] | None,
    tyro.conf.arg(metavar="{seconds,minutes,hours,124m,350m,1b}", help_behavior_hint="(default: seconds)"),
]
PackingChoice = Annotated[
    Literal["concatenate", "fit"] | None,
    tyro.conf.arg(metavar="{concatenate,fit}", help_behavior_hint=_OF_PRESET),
]
IsolationChoice = Annotated[
    Literal["cross", "segments", "reset"] | None,
    tyro.conf.arg(metavar="{cross,segments,reset}", help_behavior_hint=_OF_PRESET),
]
PositionsChoice = Annotated[
    Literal["continue", "restart"] | None,
    tyro.conf.arg(metavar="{continue,restart}", help_behavior_hint=_OF_PRESET),
]
LossChoice = Annotated[
    Literal["all", "no-cross"] | None, tyro.conf.arg(metavar="{all,no-cross}", help_behavior_hint=_OF_PRESET)
]


@dataclass(frozen=True)
class Train:
    """Train a decoder on a corpus folder, into a run folder from which it can be evaluated, generated from, resumed.

    A preset says the shape and the settings; options change them one by one, --set any of them. Ctrl-C ends the
    current steps and saves; kill -9 loses at most the steps since the last checkpoint. --resume goes on either way,
    and ends with the same bits as a run that was left alone (on the same machine).

      bytebound corpus build my_texts/ --out my_corpus
      bytebound train --corpus my_corpus --out my_run --dry-run
      bytebound train --corpus my_corpus --out my_run --preset minutes --seed 1
      bytebound train --resume my_run
      bytebound train --corpus my_corpus --out other --set decoder.tied=true optimizer.schedule=wsd
      bytebound train --corpus my_corpus --out eight --seeds 8
      bytebound train --corpus my_corpus --out large --distributed --coordinator 10.0.0.1:1234 --processes 2 --process 0
    """

    corpus: Folder = None
    """folder that `bytebound corpus build` made; beside --resume, where it lies now if it was moved"""
    out: Folder = None
    """folder to make; if the same run stands there already, it goes on"""
    resume: Folder = None
    """folder of a run to go on with; its settings stay"""
    preset: PresetChoice = None
    """seconds, minutes or hours on a laptop; 124m, 350m and 1b on accelerators"""
    steps: Count = None
    """updates of the parameters"""
    seed: Count = None
    """of the first parameters and of the order of the rows"""
    seeds: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="(default: one run)")] = None
    """so many runs, of --seed and the seeds that follow, in RUN/seed-0 and so on: on a CPU processes of one core side
    by side, on an accelerator one program for all"""
    batch_size: Count = None
    """rows of a step"""
    length: Count = None
    """positions of a row, and the context of the decoder"""
    accumulate: Count = None
    """parts in which a step is computed one after another, if its rows don't fit into memory"""
    learning_rate: Number = None
    """at its peak"""
    warmup_steps: Count = None
    """steps in which the learning rate rises"""
    packing: PackingChoice = None
    """windows over the stream, or whole documents by best fit"""
    isolation: IsolationChoice = None
    """whether a document sees those before it in its row, only itself, or has a row of its own"""
    positions: PositionsChoice = None
    """counted through the row, or from 0 at each document"""
    loss: LossChoice = None
    """train every next token, or not the first of a document after another's last"""
    checkpoint_interval: Count = None
    """steps between two checkpoints"""
    evaluation_interval: Count = None
    """steps between two evaluations on held-out text; 0: at the end alone"""
    set: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FIELD=VALUE ...", help_behavior_hint="")] = ()
    """any other setting, such as decoder.n_layers=8 or optimizer.beta2=0.99"""
    tensorboard: bool = False
    """write scalars for TensorBoard too, into RUN/tensorboard (needs the extra `tracking`)"""
    dry_run: bool = False
    """say what it would cost: parameters, FLOPs, memory, time; train nothing"""
    debug_step: Annotated[int | None, tyro.conf.arg(metavar="STEP", help_behavior_hint="")] = None
    """beside --resume: make this step again (counted from 1, as in metrics.jsonl), from the checkpoint before it or
    from the beginning, and say what is not finite in it"""
    topology: Annotated[Topology, tyro.conf.arg(name="")] = ONE_PROCESS

    def run(self) -> None:
        """Train, or go on, or say what it would cost, or replay a step."""
        self._require_options()
        if self.seeds is not None or self._resumes_group():
            require_group_options(1 if self.seeds is None else self.seeds, self.tensorboard, self.topology.distributed)
        self.topology.start()
        if self.debug_step is not None:
            self._replay(self.debug_step)
        elif self.dry_run:
            self._estimate()
        elif self.seeds is not None or self._resumes_group():
            self._train_group()
        else:
            self._train()

    def _require_options(self) -> None:
        self.topology.require_options()
        if self.topology.distributed and (self.dry_run or self.debug_step is not None):
            option = "--dry-run" if self.dry_run else "--debug-step"
            raise InputError(option, expected="no --distributed beside it", got="both")
        if self.resume is not None:
            given = [name for name in self._changing() if getattr(self, name) not in (None, ())]
            if given or self.out is not None:
                option = "--" + (given[0] if given else "out").replace("_", "-")
                raise InputError(option, expected="none beside --resume", got="one", hint="a run's settings stay")
            return
        if self.debug_step is not None:
            raise InputError("--debug-step", expected="--resume RUN beside it", got="none")
        if self.corpus is None:
            hint = "make one with: bytebound corpus build TEXT... --out FOLDER"
            raise InputError("--corpus", expected="a corpus folder, or --resume RUN", got="none", hint=hint)
        if self.out is None and not self.dry_run:
            raise InputError("--out", expected="a folder for the run", got="none")

    @staticmethod
    def _changing() -> tuple[str, ...]:
        """The options that change a setting."""
        return ("preset", *_FIELDS, "seeds", "set")

    def _config(self, vocab_size: int) -> Any:
        from experiments.train.settings import changed
        from research.train import preset

        given = {_FIELDS[name]: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}
        if self.length is not None:
            given["decoder.context_length"] = self.length
        return changed(preset(self.preset or "seconds", vocab_size), given, self.set)

    def _resumes_group(self) -> bool:
        from research.train.group import is_group

        return self.resume is not None and is_group(Path(self.resume))

    def _train(self) -> None:
        from research.stream import open_corpus
        from research.train import resume, train
        from research.train.processes import all_or_none, is_first

        folder = Path(self.resume if self.resume is not None else str(self.out))
        mesh = self.topology.mesh()
        with self._watching(folder) as watch:
            if self.resume is not None:
                run = resume(folder, self.corpus, mesh=mesh, watch=watch)
            else:
                with all_or_none():
                    corpus = open_corpus(str(self.corpus))
                    config = self._config(corpus.tokenizer.vocab_size)
                run = train(config, corpus, folder, mesh=mesh, watch=watch)
        if is_first():
            summarize(folder, run)

    def _train_group(self) -> None:
        from experiments.train.seeds import summarize_group, train_group
        from research.stream import open_corpus, verify_corpus
        from research.train.group import begin_group, group_folders
        from research.train.run import corpus_of, read_run_manifest

        if self.resume is not None:
            folder = Path(self.resume)
            folders = group_folders(folder)
            corpus = corpus_of(folders[0], read_run_manifest(folders[0]), self.corpus)
        else:
            folder, corpus = Path(str(self.out)), open_corpus(str(self.corpus))
            verify_corpus(corpus)
            config = self._config(corpus.tokenizer.vocab_size)
            folders = begin_group(folder, config, self.seeds or 1, corpus)
        train_group(folder, folders, corpus.folder, self.topology.mesh)
        summarize_group(folder, folders)

    @contextmanager
    def _watching(self, folder: Path) -> Iterator[tuple[Any, ...]]:
        """What sees each line of the logs."""
        from experiments.train.tensorboard import scalars
        from research.train.processes import is_first

        if not self.tensorboard or not is_first():
            yield ()
            return
        with scalars(folder / "tensorboard") as write:
            yield (write,)

    def _estimate(self) -> None:
        from experiments.train.estimate import estimate
        from research.stream import open_corpus
        from research.train.run import corpus_of, read_run_manifest

        if self.resume is not None:
            manifest = read_run_manifest(Path(self.resume))
            corpus, config = corpus_of(Path(self.resume), manifest, self.corpus), manifest.config
        else:
            corpus = open_corpus(str(self.corpus))
            config = self._config(corpus.tokenizer.vocab_size)
        print("\n".join(estimate(config, corpus)))
        if self.seeds is not None:
            print(f"all of it {self.seeds} times, once a seed")

    def _replay(self, step: int) -> None:
        from research.train.replay import replay

        found = replay(str(self.resume), step, self.corpus)
        print(f"step {found.step}: loss {found.loss:g}, gradient norm {found.gradient_norm:g}")
        print(f"checkify: {found.finding or 'every result is a number'}")
        print(f"not finite before the step: {', '.join(found.bad_before) or 'no parameter'}")
        print(f"not finite in the step: {_names('the gradient of', found.bad_gradients)}")


#: Options to the settings that they change.
_FIELDS = {
    "steps": "steps",
    "seed": "seed",
    "batch_size": "batch_size",
    "length": "length",
    "accumulate": "accumulate",
    "learning_rate": "optimizer.peak_learning_rate",
    "warmup_steps": "optimizer.warmup_steps",
    "packing": "policy.packing",
    "isolation": "policy.isolation",
    "positions": "policy.positions",
    "loss": "policy.loss",
    "checkpoint_interval": "checkpoint_interval",
    "evaluation_interval": "evaluation_interval",
}


def _names(what: str, names: tuple[str, ...]) -> str:
    return f"{what} {', '.join(names)}" if names else "no gradient"
