#!/bin/sh
# A runner of benches/RUNNERS.md that reads no robots.txt. It gives every URL the answer in its argument,
# or breaks the protocol in the named way.
mode=$1
count=0

while read -r word number; do
    case $word in
    portcullis-bench) echo "runner 1.0" ;;
    agent) ;;
    files)
        while [ "$number" -gt 0 ]; do
            read -r bytes
            head -c $((bytes + 1)) >/dev/null
            number=$((number - 1))
        done
        ;;
    build)
        [ "$mode" = crash ] && exit 3
        [ "$mode" = refuse ] && echo "refused 0 too long for me"
        echo "built 1000"
        ;;
    urls)
        count=$number
        while [ "$number" -gt 0 ]; do
            read -r url
            number=$((number - 1))
        done
        ;;
    decide)
        case $mode in
        babble) echo "well, let me think" ;;
        change) again=$((1 - ${again:-1})) ;;
        hang) sleep 100 ;;
        unput) again=- ;;
        short) count=$((count - 1)) ;;
        esac
        if [ "$mode" = random ]; then
            echo "decided 100 $(LC_ALL=C tr -dc 01 </dev/urandom | head -c "$count")"
            continue
        fi
        answers=$(printf "%${count}s" "" | tr ' ' "$([ "$mode" = allow ] && echo 1 || echo "${again:-0}")")
        [ "$mode" = refuse ] && answers=$(echo "$answers" | tr 0 '?')
        echo "decided $((count * 100)) $answers"
        ;;
    esac
done
