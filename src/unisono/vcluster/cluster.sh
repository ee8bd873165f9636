#!/usr/bin/env bash
# A cluster of namespaces: a login host and nodes n0, n1, ... on one bridge, each with its own network, host name,
# processes, IPC and /dev/shm. Started by cluster.py inside the login host's namespaces; ends, with everything in it, when its
# input ends or it is killed. All addresses exist inside these namespaces only.
#
#   cluster.sh login DIR NODES [RATE LATENCY [RATE_OF_n0 RATE_OF_n1 ...]]      cluster.sh node DIR NAME
set -eu

own_view() { # what would otherwise be the host's: shared memory, network interfaces under /sys
  mount -t tmpfs -o mode=1777 tmpfs /dev/shm
  mount -t sysfs sysfs /sys 2>/dev/null || true # a kernel may keep it for itself: only interfaces show then
}

node() {
  local dir=$1 name=$2
  hostname "$name"
  own_view
  touch "$dir/$name.ready"
  trap '' TERM INT HUP
  while :; do # as process 1 it also reaps what is orphaned here
    sleep 3600 &
    wait || true
  done
}

until_true() {
  local tries=500
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { echo "vc: timed out: $*" >&2; exit 1; }
    sleep 0.01
  done
}

in_order() { # DEVICES...: all packets of a stream by one CPU; else they overtake one another, as on no wire, and TCP sends again
  local cpus=$(($(nproc) < 31 ? $(nproc) : 31)) device
  for device; do printf '%x' $(((1 << cpus) - 1)) >"/sys/class/net/$device/queues/rx-0/rps_cpus" || true; done 2>/dev/null
}

child_of() { # the file has no newline at its end
  child=$(cat "/proc/$1/task/$1/children") && child=${child%% *} && [ -n "$child" ]
}

login() {
  local dir=$1 nodes=$2 rate=${3:-} latency=${4:-} i name own slow=("${@:5}")
  hostname login
  own_view
  mount --bind "$dir/hosts" /etc/hosts
  [ ! -e /etc/resolv.conf ] || mount --bind /dev/null /etc/resolv.conf
  ip link set lo up
  ip link add br0 type bridge
  ip address add 10.77.0.254/24 dev br0
  ip link set br0 up
  for ((i = 0; i < nodes; i++)); do
    name=n$i
    unshare --net --uts --ipc --mount --pid --fork --mount-proc --kill-child "$BASH" "$0" node "$dir" "$name" </dev/null &
    until_true child_of $!
    echo "$child" >"$dir/$name.pid"
    ip link add "v$i" type veth peer name eth0 netns "$child"
    ip link set "v$i" mtu 9000 master br0 up # as in clusters: every packet takes the time of a CPU that the ranks need
    in_order "v$i"
    nsenter -t "$child" -n ip link set lo up
    nsenter -t "$child" -n ip address add "10.77.0.$((i + 1))/24" dev eth0
    nsenter -t "$child" -n ip link set eth0 mtu 9000 up
    nsenter -t "$child" -n -m "$BASH" "$0" in_order eth0
    if [ -n "$rate" ]; then
      own=${slow[i]:-$rate}
      tc qdisc add dev "v$i" root tbf rate "$own" burst 64kb latency "$latency"
      nsenter -t "$child" -n tc qdisc add dev eth0 root tbf rate "$own" burst 64kb latency "$latency"
    fi
  done
  for ((i = 0; i < nodes; i++)); do until_true test -e "$dir/n$i.ready"; done
  echo ready
  cat >/dev/null
}

"$@"
