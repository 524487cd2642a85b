"""The daemon that steers a live Slurm cluster: observe, decide, guard, act, record.

daemon = Daemon(load_config(Path("dovetail.toml")))
daemon.run()                                  # until SIGTERM; then every touched job is restored
restore(backend, journal)                     # what is left to do after kill -9
"""
