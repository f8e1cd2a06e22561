# The same on one machine, without anybody being asked.
machines laptop
laptop> tandem up --repo /tmp/project --listen 127.0.0.1:13013
laptop> tandem init --tandem-server=127.0.0.1:13013 /tmp/agent-a
laptop> cd /tmp/agent-a && echo 'hello' > file.txt && tandem new -m "agent A"
laptop> tandem init --tandem-server=127.0.0.1:13013 --workspace=agent-b /tmp/agent-b
laptop> cd /tmp/agent-b && tandem log # sees agent A's commit
  shows agent A
laptop> tandem logs --level info --json
  until ready
laptop> tandem down
laptop> tandem serve --listen 127.0.0.1:13013 --repo /tmp/project --log-level info --log-format json --control-socket /tmp/t.sock --log-file /tmp/t.log
  for 2s
