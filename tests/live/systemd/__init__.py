"""A real systemd as process 1, in namespaces of its own, on a copy of this machine that is thrown
away: packages, users and units are this machine's, and what is written goes to memory.

    with Machine() as machine:
        machine.run("systemctl", "start", "munge")
"""
