"""The live tests on other versions of Slurm than this machine's: those of other Debian releases.

    python3 -m tests.slurm_versions build                # root folders, cached outside the checkout
    python3 -m tests.slurm_versions run trixie -- .venv/bin/python -m pytest tests/live
    python3 -m tests.slurm_versions check quick          # on each of them, and what came of it

Each root folder is a small Debian with its own Slurm. Commands run on this machine, in a mount
namespace of their own, where Slurm's programs on PATH are those of the root folder. Building needs
root and a Debian mirror, which apt's configuration names. Standard library only: this is run
before anything is installed.
"""
