"""`python -m experiments.contract_faults`."""

from experiments.command import experiment_main
from experiments.contract_faults.question import ContractFaults

if __name__ == "__main__":
    experiment_main("experiments.contract_faults", ContractFaults)
