"""How much is kept of a large project: what the machine and its container leave free."""

import pytest

from torchlore.check import memory


def written(root, name, text):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def test_a_fourth_of_what_is_free_is_shared_by_the_processes(tmp_path):
    written(tmp_path, "proc/meminfo", "MemTotal:       25165824 kB\nMemAvailable:   24000000 kB\n")
    alone = memory.characters(1, tmp_path)
    assert alone * 60 == pytest.approx(24_000_000 * 1024 / 4, rel=0.01)
    assert memory.characters(4, tmp_path) == pytest.approx(alone / 4, rel=0.01)


@pytest.mark.parametrize("name", ["sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"])
def test_a_container_may_leave_less(tmp_path, name):
    written(tmp_path, "proc/meminfo", "MemAvailable:   24000000 kB\n")
    written(tmp_path, name, f"{4_000_000_000}\n")
    assert memory.characters(1, tmp_path) * 60 == pytest.approx(1e9, rel=0.01)
    written(tmp_path, name, "max\n")
    assert memory.characters(1, tmp_path) * 60 > 5e9


def test_some_files_are_kept_on_every_machine(tmp_path):
    written(tmp_path, "proc/meminfo", "MemAvailable:   100000 kB\n")
    assert memory.characters(8, tmp_path) == memory.LEAST
    assert memory.characters(1, tmp_path / "no such folder") >= memory.LEAST
