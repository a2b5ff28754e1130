#!/bin/bash
# Stands in for systemctl and the system's manager: one unit, llama.service, started as its files say. STATE is set by the test.
PATH=/usr/bin:/bin:/usr/sbin:/sbin
STATE=@STATE@ UNIT=llama.service
echo "$*" >>"$STATE/calls.txt"
words=()
for word in "$@"; do case $word in --no-ask-password | --no-pager | --) ;; *) words+=("$word") ;; esac; done
verb=${words[0]}
pid=$(cat "$STATE/main.pid" 2>/dev/null || echo 0)
alive() { [ "$pid" != 0 ] && kill -0 "$pid" 2>/dev/null; }
case $verb in
daemon-reload | reset-failed) ;;
show)
  alive || pid=0
  keys=${words[2]}
  for key in ${keys//,/ }; do
    case $key in
    LoadState) echo LoadState=loaded ;;
    MainPID) echo "MainPID=$pid" ;;
    Transient) echo Transient=no ;;
    ExecStartEx) echo 'ExecStartEx={ path=/x ; argv[]=x ; flags= ; start_time=[n/a] }' ;;
    ActiveState) alive && echo ActiveState=active || echo ActiveState=failed ;;
    SubState) alive && echo SubState=running || echo SubState=failed ;;
    *) echo "$key=" ;;
    esac
  done
  ;;
start | restart | stop)
  if alive; then
    kill "$pid"
    for i in $(seq 200); do alive || break; sleep 0.05; done
    kill -9 "$pid" 2>/dev/null
  fi
  echo 0 >"$STATE/main.pid"
  [ "$verb" = stop ] && exit 0
  # Drop-ins in the order of their names, whichever directory they are in.
  drops=$(for dir in /etc/systemd/system /run/systemd/system; do ls -1 "$dir/$UNIT.d"/*.conf 2>/dev/null; done | sed 's:.*/::' | sort -u)
  files=(/etc/systemd/system/$UNIT)
  for drop in $drops; do
    for dir in /etc/systemd/system /run/systemd/system; do
      [ -e "$dir/$UNIT.d/$drop" ] && files+=("$dir/$UNIT.d/$drop") && break
    done
  done
  start='' variables=()
  while IFS= read -r line; do
    case $line in
    ExecStart=*) start=${line#ExecStart=} ;;
    Environment=*) eval "variables+=(${line#Environment=})" ;;
    esac
  done < <(cat "${files[@]}")
  eval "set -- ${start#@}"
  program=$1 name=$2
  shift 2
  (
    for at in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/systemd; do
      [ -e $at/cgroup.procs ] && mkdir -p $at/system.slice/$UNIT && echo 0 >$at/system.slice/$UNIT/cgroup.procs
    done
    for variable in "${variables[@]}"; do export "${variable?}"; done
    exec -a "$name" "$program" "$@"
  ) </dev/null >>"$STATE/service.log" 2>&1 &
  echo $! >"$STATE/main.pid"
  ;;
*) exit 1 ;;
esac
