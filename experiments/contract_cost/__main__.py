"""`python -m experiments.contract_cost`."""

from experiments.command import experiment_main
from experiments.contract_cost.question import ContractCost

if __name__ == "__main__":
    experiment_main("experiments.contract_cost", ContractCost)
