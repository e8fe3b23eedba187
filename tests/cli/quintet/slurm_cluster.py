"""A Slurm of one node on loopback in a temporary folder, for tests: munged, slurmctld and slurmd as root."""
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
CONFIGURATION = """ClusterName=quintet
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={port}
SlurmdPort={other_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
KillWait=8
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


class CannotStart(RuntimeError):
    """Slurm's own trouble with this computer."""


def why_not():
    """Why this Slurm cannot be started here, or None."""
    if os.geteuid() != 0:
        return "not root"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not here; apt-get install --no-install-recommends slurm-wlm munge"
    return None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """Starts with the `with` block and ends with it; SLURM_CONF then leads all commands to it."""

    def __init__(self, folder, constrains_memory=False):
        """constrains_memory: jobs have what they ask for and no more, by control groups of the kernel."""
        self.folder = os.path.abspath(folder)
        self.configuration = CONFIGURATION
        if constrains_memory:
            for old, new in (("CR_CPU", "CR_CPU_Memory"), ("proctrack/linuxproc", "proctrack/cgroup"), ("task/none", "task/cgroup")):
                self.configuration = self.configuration.replace(old, new)
        self.daemons = []

    def __enter__(self):
        os.makedirs(self.folder, 0o755)
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.folder, name))
        host = socket.gethostname().split(".")[0]
        configuration = os.path.join(self.folder, "slurm.conf")
        with open(configuration, "w", encoding="utf-8") as stream:
            stream.write(self.configuration.format(folder=self.folder, host=host, port=free_port(), other_port=free_port(),
                                              cpus=len(os.sched_getaffinity(0)),
                                              memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 9 // 10 // 2**20))
        os.environ["SLURM_CONF"] = configuration
        with open(os.path.join(self.folder, "cgroup.conf"), "w", encoding="utf-8") as stream:
            stream.write("CgroupPlugin=autodetect\nConstrainRAMSpace=yes\n")
        key = os.path.join(self.folder, "munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o400), "wb") as stream:
            stream.write(secrets.token_bytes(128))
        try:
            self.start("munged", "--foreground", "--force", f"--key-file={key}", *(f"--{name}={self.folder}/munge.{name.split('-')[0]}"
                       for name in ("socket", "pid-file", "log-file", "seed-file")))
            self.wait(lambda: os.path.exists(f"{self.folder}/munge.socket"), "munged")
            self.start("slurmctld", "-D")
            self.start("slurmd", "-D")
            self.wait(lambda: "idle" in subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True).stdout, "slurmd")
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self, *words):
        log = open(os.path.join(self.folder, f"{words[0]}.out"), "w", encoding="utf-8")
        self.daemons.append(subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True))

    def wait(self, ready, name):
        end = time.time() + 30
        while not ready():
            if time.time() > end or any(daemon.poll() is not None for daemon in self.daemons):
                texts = [open(os.path.join(self.folder, log), encoding="utf-8", errors="replace").read()[-1500:]
                         for log in sorted(os.listdir(self.folder)) if log.endswith((".out", ".log"))]
                raise CannotStart(f"{name} did not come up:\n" + "\n".join(texts))
            time.sleep(0.05)

    def __exit__(self, *_):
        subprocess.run(["scancel", "--user=root"], capture_output=True)
        for daemon in reversed(self.daemons):
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGTERM)
                try:
                    daemon.wait(15)
                except subprocess.TimeoutExpired:
                    daemon.kill()
                    daemon.wait()


def in_jobs(program, *words):
    """Numbers of the processes of a program, of its path, that have these words on their command line, by the job of this Slurm that each
    belongs to: other tests run the same programs beside us, also in jobs of a Slurm of theirs."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            environment = dict(pair.split("=", 1) for pair in (process / "environ").read_bytes().decode(errors="replace").split("\0") if "=" in pair)
        except OSError:
            continue
        if line[0] == program and set(words) <= set(line) and environment.get("SLURM_CONF") == os.environ["SLURM_CONF"] and "SLURM_JOB_ID" in environment:
            found.setdefault(environment["SLURM_JOB_ID"], []).append(int(process.name))
    return found


def run_tests(tests, **options):
    """Run functions in a temporary folder beside a Cluster of these options. Returns the exit code: 77 (skipped) where none can be started."""
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        return 77
    with tempfile.TemporaryDirectory(prefix="quintet_slurm_") as folder:
        os.chmod(folder, 0o755)  # munge wants to reach its socket
        os.chdir(folder)
        try:
            with Cluster("cluster", **options):
                for test in tests:
                    begin = time.time()
                    test()
                    print(f"{test.__name__}: {time.time() - begin:.1f} s", flush=True)
        except CannotStart as error:
            print(f"skipped: {error}")
            return 77
        finally:
            os.chdir("/")
    return 0
