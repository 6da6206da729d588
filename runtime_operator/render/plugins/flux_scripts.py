"""The two shell scripts of a Flux job: one copies Flux into the pod and configures it, one starts it.

The init container holds a finished copy of Flux under /opt/view and moves it to a volume that it shares with
the main container. There the first pod leads: it runs the command through its broker. All others follow the
lead, however long it takes to come up, and leave when it says so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cluster:
    """The brokers of one job."""

    prefix: str
    """what all host names begin with, up to the number"""
    nodes: int
    tasks: int
    """tasks on one node"""
    gpus: int
    """GPUs of one node"""
    gpus_per_task: int
    domain: str
    device: str
    queue_policy: str


def _span(count: int) -> str:
    return "0" if count == 1 else f"0-{count - 1}"


def hosts(cluster: Cluster) -> str:
    """Write all host names the way Flux abbreviates them."""
    return f"{cluster.prefix}-[{_span(cluster.nodes)}]"


def flags(cluster: Cluster) -> str:
    """Write the size of the run: nodes, tasks, GPUs of a task."""
    size = f"-N {cluster.nodes} -n {cluster.nodes * cluster.tasks}"
    return f"{size} -g {cluster.gpus_per_task}" if cluster.gpus_per_task else size


def resources(cluster: Cluster) -> str:
    """Write what one node has to give."""
    cores = f"--cores={_span(cluster.tasks)}"
    return f"{cores} --gpu={_span(cluster.gpus)}" if cluster.gpus else cores


def init_script(cluster: Cluster) -> str:
    """Write the script of the init container."""
    return _INIT % {
        "hosts": hosts(cluster),
        "bind": f"tcp://{cluster.device}:%p",
        "connect": f"tcp://%h.{cluster.domain}:%p",
        "policy": cluster.queue_policy,
    }


def entrypoint_script(cluster: Cluster) -> str:
    """Write the script that takes the place of the command."""
    return _ENTRYPOINT % {
        "resources": resources(cluster),
        "lead": f"{cluster.prefix}-0",
        "flags": flags(cluster),
    }


_INIT = """\
#!/bin/bash
set -eu
target=/mnt/flux
config="$target/config"

mkdir -p "$config/etc/flux/config" "$config/etc/flux/system/cron.d" "$config/etc/curve" \\
  "$config/run/flux" "$config/var/lib/flux" "$target/view"
echo '%(hosts)s' > "$config/etc/flux/system/hostlist"
cat > "$config/etc/flux/config/broker.toml" <<'TOML'
[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "/mnt/flux/config/etc/flux/system/R"

[bootstrap]
curve_cert = "/mnt/flux/config/etc/curve/curve.cert"
default_port = 8050
default_bind = "%(bind)s"
default_connect = "%(connect)s"
hosts = [{ host = "%(hosts)s" }]

[archive]
dbpath = "/mnt/flux/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "%(policy)s"
TOML

# /opt/view is a link into a folder with a generated name; only the real one can be copied
for view in /opt/views/._view/*; do
  cp -R "$view"/. "$target/view"
done
cp -R /opt/software "$target/"
"""

_ENTRYPOINT = """\
#!/bin/bash
# The whole command is the first word, quoted for a shell.
target=/mnt/flux
config="$target/config"
view="$target/view"

export PATH="$PATH:$view/bin"
cp -R "$target"/software/. /opt/software/

# Flux runs with the Python it was built for, not with the one of this image
python=$(find "$view/lib" -maxdepth 1 -type d -name 'python3*' | head -n 1)
export PYTHONPATH="${PYTHONPATH:-}:$python/site-packages"
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}:$view/lib"
export FLUX_RC_EXTRA="$view/etc/flux/rc1.d"

install -m 0600 /curve/curve.cert "$config/etc/curve/curve.cert"
flux R encode --hosts="$(cat "$config/etc/flux/system/hostlist")" %(resources)s > /tmp/R
mv /tmp/R "$config/etc/flux/system/R"

export STATE_DIR="$config/var/lib/flux"
export FLUX_OUTPUT_DIR=/tmp/fluxout
mkdir -p "$STATE_DIR" "$FLUX_OUTPUT_DIR"
options=(
  --config-path "$config/etc/flux/config"
  -Scron.directory="$config/etc/flux/system/cron.d"
  -Stbon.fanout=256
  -Srundir="$config/run/flux"
  -Sstatedir="$STATE_DIR"
  -Slocal-uri="local://$config/run/flux/local"
  -Slog-stderr-level=0
  -Slog-stderr-mode=local
)

if [ "$(hostname)" = '%(lead)s' ]; then
  if [ -z "${1:-}" ]; then
    exec flux broker "${options[@]}"
  fi
  eval "command=($1)"
  exec flux start "${options[@]/#/-o}" flux run %(flags)s "${command[@]}"
fi
until flux start "${options[@]/#/-o}"; do
  echo "the lead broker is not there yet; next try in 15 s"
  sleep 15
done
"""
