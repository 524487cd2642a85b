"""The daemon that steers a live Slurm cluster: observe, decide, guard, act, record.

>>> import tempfile
>>> from dovetail.live.backends.recorded import MemoryCluster, RecordedBackend
>>> from dovetail.live.config import JournalConfig, LiveConfig
>>> from dovetail.live.cycle.controller import LiveController
>>> from dovetail.live.journal import Journal
>>> from dovetail.live.model.mode import Mode
>>> cluster = MemoryCluster.of_nodes(1, gpus=4)
>>> long, short = (cluster.submit(gpus=4, limit=60.0 * minutes) for minutes in (90, 5))
>>> with tempfile.TemporaryDirectory() as folder:
...     config = LiveConfig(policy="sjf", journal=JournalConfig(path=f"{folder}/journal.sqlite"))
...     with Journal.open(config.journal) as journal:
...         controller = LiveController(config, RecordedBackend(cluster), journal)
...         said = controller.enter(Mode.ACTIVE, "to show it")
...         said = controller.cycle().sentence
...         first = cluster.priority(short) > cluster.priority(long)
...         last = controller.leave("shown")
>>> said, first
('active: 2 wait, 0 run; sjf ordered 2 jobs; 1 change sent', True)
>>> last
'left active mode (shown): 1 jobs put back, 0 needed nothing'
"""
