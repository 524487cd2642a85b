"""One round of the daemon, step by step; `controller.py` has them on one page.

1. observe   `backends`           everything that Slurm says, as a `Snapshot`
2. decide    `decider.py`         an order of the waiting jobs, by the policy, in the simulator
3. guard     `guardrails`         what may not be, is amended or stops the round
4. assign    `assignment.py`      the order as priorities, with as few changes as possible
5. act       `actuator.py`        changes written down, sent, and read back
6. record    `journal`            what was seen, decided, said and done
"""
