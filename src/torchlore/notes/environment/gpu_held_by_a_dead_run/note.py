"""GPU memory that stays taken belongs to a process: find that process, end it gently, reset last.

After Ctrl-C a worker or a child may live on and hold the memory. `ps aux | grep python` lists every Python on the
machine, yours and your colleague's, and says nothing about the GPU. `kill -9` gives the process no chance to clean up:
temporary files, shared memory and its own children stay behind. `nvidia-smi --gpu-reset` needs root and an idle GPU,
takes everybody's work on it down, and is not possible in most containers.

Ask the GPU who holds it, then ask that process to end:

```sh
nvidia-smi --query-compute-apps=pid,used_memory --format=csv
kill PID          # SIGTERM; a few seconds later, only if it is still there: kill -9 PID
```

`lore doctor` shows the processes and whether their parent is gone. In your own program use `with` and `finally`:
they run on Ctrl-C, and on SIGTERM too once a handler turns it into an exception.
"""

ROWS = ("env-kill-orphans", "env-gpu-reset")
SOURCES = ("003:53-57", "003:58-61")
TORCH = "2.11, 2.15"
NEEDS = ()

_WORK = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
file = pathlib.Path(sys.argv[1])
try:
    file.write_text("scratch")
    print("ready", flush=True)
    time.sleep(60)
finally:
    file.unlink()
"""


def claim() -> None:
    import signal
    import subprocess
    import sys
    import tempfile
    from pathlib import Path

    def left_behind(how: signal.Signals) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scratch"
            command = [sys.executable, "-S", "-c", _WORK, str(file)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                process.send_signal(how)
                process.wait(timeout=20)
            return file.exists()

    assert not left_behind(signal.SIGTERM)
    assert left_behind(signal.SIGKILL)
