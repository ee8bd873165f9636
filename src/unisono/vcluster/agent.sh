#!/bin/sh
# Stands in for ssh: agent.sh [options] HOST COMMAND... runs the command on a node of the virtual cluster.
# As with ssh, the environment stays behind. Sessions go to the node's own /dev/shm, because process numbers repeat from
# node to node.
while :; do
  case $1 in
  -*) shift ;;
  *) break ;;
  esac
done
host=$1
shift
pid=$(cat "$UNISONO_VC/$host.pid") || exit 255
exec nsenter -t "$pid" -m -u -i -n -p -- env -i HOME="$HOME" PATH="$PATH" TMPDIR=/dev/shm sh -c "$*"
