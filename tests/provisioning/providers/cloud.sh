#!/bin/sh
# A cloud in a folder: $0 FOLDER start|stop|list|status ...; each running host is a file in FOLDER/hosts.
# FOLDER/before, if there is one, is run before a host is touched, FOLDER/after after that.
folder=$1 action=$2 request=$3 host=$4
echo "$action $request $host" >>"$folder/calls"
case $action in
start)
    [ -f "$folder/before" ] && . "$folder/before"
    echo "$host" >"$folder/hosts/$request"
    [ -f "$folder/after" ] && . "$folder/after"
    echo "a word of welcome"
    echo "i-$request"
    ;;
stop)
    [ -f "$folder/before-stop" ] && . "$folder/before-stop"
    rm -f "$folder/hosts/$request"
    ;;
list)
    cd "$folder/hosts" || exit 1
    for each in *; do
        [ -f "$each" ] && echo "$each $(cat "$folder/state") $(cat "$each") i-$each"
    done
    exit 0
    ;;
status) cat "$folder/state" ;;
esac
