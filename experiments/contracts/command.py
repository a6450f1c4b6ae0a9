"""`bytebound contracts`: one door to list, check, diff and verify."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from experiments.contracts.check import CheckConfig
from experiments.contracts.diff import DiffContracts
from experiments.contracts.listing import ListContracts
from experiments.contracts.verify import Verify


@dataclass(frozen=True)
class Contracts:
    """What must hold: list the contracts, check a config, compare specs, verify somebody's module."""

    action: (
        Annotated[ListContracts, tyro.conf.subcommand("list", prefix_name=False)]
        | Annotated[CheckConfig, tyro.conf.subcommand("check", prefix_name=False)]
        | Annotated[DiffContracts, tyro.conf.subcommand("diff", prefix_name=False)]
        | Annotated[Verify, tyro.conf.subcommand("verify", prefix_name=False)]
    )

    def run(self) -> None:
        """Run the chosen one; its exit code is the answer."""
        self.action.run()
