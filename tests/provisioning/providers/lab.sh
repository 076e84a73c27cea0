#!/bin/sh
# Stands in for `stormplace`: $0 FOLDER lab join|leave|status HOST ...
folder=$1 action=$3 host=$4
echo "$*" >>"$folder/calls"
case $action in
join) echo "$host" >"$folder/hosts/$host" ;;
leave) rm -f "$folder/hosts/$host" ;;
status)
    slots=null
    [ "$(cat "$folder/state")" = ready ] && slots=4
    names=""
    for each in "$folder"/hosts/*; do
        [ -f "$each" ] && names="$names{\"name\": \"$(basename "$each")\", \"slots\": $slots},"
    done
    echo "{\"state\": \"ready\", \"hosts\": [${names%,}], \"more\": 1}"
    ;;
esac
