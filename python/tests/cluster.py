"""A Spark cluster of its own for tests: a standalone master and workers of one core on the loopback address."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.request import urlopen

import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
LOOPBACK = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # JVMs that live for a minute


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        port: int = listener.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """The processes that this one started, and those that they started."""
    below: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            pids = [int(child) for child in path.read_text().split()]
        except OSError:  # it has ended
            continue
        for child in pids:
            below += [child, *children(child)]
    return below


def command(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return []


@dataclass
class Cluster:
    """folder takes the logs and the workers' files. Its processes have the environment of this one, but not its path of Python packages."""

    folder: Path
    url: str = ""
    master: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __enter__(self) -> Self:
        port, page = free_port(), free_port()
        self.url = f"spark://{LOOPBACK}:{port}"
        self.master = self._start("master", "org.apache.spark.deploy.master.Master", "--host", LOOPBACK, "--port", str(port), "--webui-port", str(page))
        self.start_worker()
        self.start_worker()
        try:
            wait_until(lambda: len(state(page).get("workers", [])) == 2, "the master has two workers")
        except TimeoutError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.master):
            if process is not None:
                process.terminate()
                process.wait(timeout=30)

    def start_worker(self) -> None:
        arguments = ("--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--webui-port", str(free_port()), "--work-dir", str(self.folder / "work"), self.url)
        self.workers.append(self._start(f"worker-{len(list(self.folder.glob('*.log')))}", "org.apache.spark.deploy.worker.Worker", *arguments))

    def executors(self, worker: subprocess.Popen[bytes]) -> list[int]:
        return [pid for pid in children(worker.pid) if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in command(pid)]

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kills a worker and its executor at once, as if their machine had no memory left. What they started has to end by itself."""
        executors = self.executors(worker)
        if not executors:
            raise RuntimeError("failed to kill an executor: the worker has none")
        for pid in (worker.pid, *executors):
            os.kill(pid, signal.SIGKILL)
        worker.wait()
        self.workers.remove(worker)

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
            "SPARK_HOME": str(SPARK_HOME),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_HOSTNAME": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK,
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen([SPARK_HOME / "bin" / "spark-class", main, *arguments], env=environment, stdout=log, stderr=log)


def state(page: int) -> dict[str, Any]:
    """What the master's page says, nothing if it does not answer yet."""
    try:
        with urlopen(f"http://{LOOPBACK}:{page}/json/", timeout=5) as answer:
            known: dict[str, Any] = json.load(answer)
            return known
    except OSError:
        return {}


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"failed to wait until {what}: not within {seconds:.0f} s")
        time.sleep(0.1)
