#!/usr/bin/env bash
# Checks for the programs that the project starts and installs missing ones with apt when it may.
set -eu

declare -A package=(
  [java]=openjdk-17-jdk-headless [javac]=openjdk-17-jdk-headless [mvn]=maven [redis-server]=redis-server
  [thrift]=thrift-compiler [ip]=iproute2 [unshare]=util-linux [nsenter]=util-linux
)
missing=()
for program in "${!package[@]}"; do
  PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null 2>&1 || missing+=("${package[$program]}")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "setup: missing programs; install these packages first: ${missing[*]}" >&2
  exit 2
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# the services that come with the packages are not wanted: the lab starts its own in its namespaces
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' > "$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
