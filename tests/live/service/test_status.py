"""What the daemon leaves for `dovetail live status`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dovetail.agents.choice.candidates import PolicyCandidate
from dovetail.live.backends.recorded import RecordedBackend
from dovetail.live.model.mode import Mode
from dovetail.live.service.status import status_of
from dovetail.policies.learned.checkpoint import save_checkpoint
from tests.live.memory import full_cluster, steering_in_memory


def test_it_names_what_the_running_model_was_trained_for(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    card: dict[str, object] = {"config": {"objective": "wait=1,tail=0.5"}}
    save_checkpoint(tmp_path / "model", PolicyCandidate("sjf", "", "best-fit").checkpoint(card))
    found: list[dict[str, Any]] = []
    for policy in (str(tmp_path / "model"), "sjf"):
        cluster, _ = full_cluster([10, 5])
        folder = tmp_path / f"of-{len(found)}"
        folder.mkdir(mode=0o700)
        with steering_in_memory(
            RecordedBackend(cluster), folder, Mode.SHADOW, policy=policy
        ) as controller:
            found.append(status_of(controller.cycle(), controller))
    assert found[0]["trained_for"] == "wait=1,tail=0.5"
    assert "trained_for" not in found[1]
