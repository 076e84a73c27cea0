#!/usr/bin/env bash
# Archives the classes that Storm's daemons (lib.jsa) and workers (lib-worker.jsa) load, so that a JVM of the lab
# maps them instead of parsing them: it starts with half the processor time. They suit the JVM that made them; any
# other one ignores them.
# The classes are those of a topology on a cluster in one JVM, in a network of its own as all of the lab's.
#   class-archives.sh STORM_HOME
set -euo pipefail
home=$(realpath "$1")
source=$(realpath "$(dirname "$0")")/LoadedClasses.java
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=(-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData)
cd "$scratch"  # where a local cluster leaves its files
javac -cp "$home/lib/*" -d . "$source"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(--user --map-root-user)
export PATH="$PATH:/usr/sbin:/sbin"
# shellcheck disable=SC2016  # the inner shell expands them
if ! timeout 180 unshare "${as_root[@]}" --net -- sh -c 'ip link set lo up && exec "$@"' sh \
    java "${flags[@]}" -Xshare:off -XX:DumpLoadedClassList=list -Djava.io.tmpdir="$scratch" -Dstorm.home="$home" \
    -Dstorm.log.dir="$scratch" -Dlogfile.name=storm.log -Dlog4j.configurationFile="$home/log4j2/cluster.xml" \
    -cp "$home/lib/*:$home/conf:$scratch" LoadedClasses > out 2>&1; then
  tail -n 20 out >&2
  exit 1
fi
for libraries in lib lib-worker; do
  java "${flags[@]}" -Xshare:dump -XX:SharedClassListFile=list -XX:SharedArchiveFile="$libraries.jsa" \
    -cp "$home/$libraries/*" > out 2>&1 || { tail -n 20 out >&2; exit 1; }
done
mv -f lib-worker.jsa "$home/"
mv -f lib.jsa "$home/"  # last: it says that both are there
