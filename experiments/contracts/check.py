"""`bytebound contracts check`: does a config hold together, before any tensor exists?"""

import json
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from contracts.errors import InputError


@dataclass(frozen=True)
class CheckConfig:
    """Check a decoder's config without allocating a weight: 405B parameters take seconds.

    Conflicts inside the config, and with a tokenizer, a boundary policy or a row length, are reported all at once.
    Without any, the decoder is traced for every batch and length, and again with sizes that are all different; its
    parameters are compared with the table of the specs, both ways, and counted three ways.

    Exit code 0: kept. 1: broken. 2: bad input.
    """

    config: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FIELD=VALUE|FILE")] = ()
    """fields such as d_model=512, and JSON or TOML files; later ones win"""
    preset: str = "tiny"
    """where the other fields come from: tiny, smollm2-135m, tinyllama-1.1b, llama-2-7b, mistral-7b, llama-3-8b,
    llama-3-70b or llama-3-405b"""
    tokenizer: Annotated[str | None, tyro.conf.arg(metavar="NAME|FILE")] = None
    """the tokenizer that it is meant for: bytes, bpe-SIZE, a saved vocabulary or a tokenizer.json"""
    boundary: str | None = None
    """the boundary policy that it is meant for: shared, separate, bos, eos or none"""
    positions: int | None = None
    """the longest row that it is meant for"""
    devices: int | None = None
    """say how the parameters would lie on so many devices"""
    every_layer: bool = False
    """trace a deep decoder layer by layer; without it, as one scanned layer and as a loop of two"""
    json: bool = False
    """print the report as JSON"""

    def run(self) -> None:
        """Check, print, leave with the exit code."""
        from experiments.contracts.examine import peak_megabytes

        values, problems = self._config()
        begun, peak = time.monotonic(), peak_megabytes()
        report = self._report(values, problems)
        report["seconds"] = round(time.monotonic() - begun, 2)
        report["peak_megabytes"] = None if peak is None else round((peak_megabytes() or peak) - peak, 1)
        print(json.dumps(report, indent=2) if self.json else "\n".join(_lines(report)))
        if _broken(report):
            sys.exit(1)

    def _config(self) -> tuple[dict[str, Any], list[str]]:
        """The fields of the config and all that conflicts."""
        from contracts import core
        from experiments.contracts.configs import PRESETS, config_values
        from experiments.contracts.conflicts import conflicts

        if not core.ENABLED:
            raise InputError("CONTRACTS", expected="on", got="off", hint="with contracts off there is nothing to check")
        if self.preset not in PRESETS:
            raise InputError("--preset", expected=f"one of {', '.join(PRESETS)}", got=self.preset)
        for name, value in (("--positions", self.positions), ("--devices", self.devices)):
            if value is not None and value < 1:
                raise InputError(name, expected="at least 1", got=value)
        values = config_values([self.preset, *self.config])
        return values, conflicts(values, self._tokenizer(), self.boundary, self.positions)

    def _tokenizer(self) -> Any:
        from experiments.vocabularies import tokenizer_named

        if self.tokenizer is None:
            return None
        tokenizer = tokenizer_named(self.tokenizer)
        return tokenizer if self.boundary is None else tokenizer.with_boundary(self.boundary)

    def _report(self, values: Mapping[str, Any], problems: Sequence[str]) -> dict[str, Any]:
        """What was checked, as plain data; nothing is traced where the config conflicts."""
        from contracts.decoder import DecoderConfig
        from experiments.contracts.conflicts import remarks
        from experiments.contracts.examine import examine
        from experiments.contracts.mesh import layout

        report: dict[str, Any] = {"config": dict(values), "remarks": [], "mesh": []}
        report["checks"] = [{"what": "config", "detail": "no conflict", "problems": list(problems)}]
        if not problems:
            config = DecoderConfig(**values)
            report["remarks"] = remarks(config)
            report["checks"] += [check._asdict() for check in examine(config, every_layer=self.every_layer)]
            report["mesh"] = layout(config, self.devices) if self.devices else []
        return report


def _broken(report: Mapping[str, Any]) -> int:
    return sum(len(check["problems"]) for check in report["checks"])


def _lines(report: Mapping[str, Any]) -> list[str]:
    """The report as a person reads it."""
    lines = [textwrap.fill(" ".join(f"{name}={value}" for name, value in report["config"].items()), 118), ""]
    width = max(len(check["what"]) for check in report["checks"])
    for check in report["checks"]:
        verdict = "BROKEN" if check["problems"] else "kept  "
        lines.append(f"{verdict}  {check['what']:{width}}  {'' if check['problems'] else check['detail']}".rstrip())
        lines += [f"          {line}" for problem in check["problems"] for line in problem.splitlines()]
    lines += [f"note    {remark}" for remark in report["remarks"]]
    lines += [f"mesh    {line}" for line in report["mesh"]]
    peak = "" if report["peak_megabytes"] is None else f", peak memory +{report['peak_megabytes']:.0f} MB"
    broken = _broken(report)
    verdict = f"{broken} broken" if broken else "kept"
    return [*lines, "", f"{verdict} in {report['seconds']:.1f} s{peak}"]
