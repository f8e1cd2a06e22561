# The quick start of jj workspaces over the network, on three machines.
machines your-vps agent-a agent-b
your-vps$ tandem pin set; ln -s tandem ~/.local/bin/jj; git init -q --bare /srv/github.git
your-vps> tandem up --repo /srv/project --listen 0.0.0.0:13013
your-vps> tandem status
your-vps> tandem status --json
agent-a> tandem init --tandem-server=your-vps:13013 ~/work
  when waiting until: your-vps$ tandem approvals approve
agent-a> cd ~/work
agent-a> echo 'pub fn auth(token: &str) -> bool { !token.is_empty() }' > auth.rs
agent-a> tandem new -m "feat: add auth module"
agent-b> tandem init --tandem-server=your-vps:13013 --workspace=agent-b ~/work
  when waiting until: your-vps$ tandem approvals approve
agent-b> cd ~/work
agent-b> tandem log # sees Agent A's commit
  shows feat: add auth module
  shows default@
let <change-id> agent-a$ tandem log -r @- --no-graph -T change_id | cat
agent-b> tandem file show -r <change-id> auth.rs # reads Agent A's file
  shows pub fn auth(token: &str)
agent-b> echo 'pub fn api() -> &str { "ok" }' > api.rs
agent-b> tandem new -m "feat: add API handler"
agent-b> tandem diff -r @-
  shows api.rs
agent-b> tandem bookmark create review -r @-
agent-b> tandem describe -m "message"
agent-b> tandem watch --server your-vps:13013
  when …: agent-a$ cd ~/work && tandem describe -m "seen by whoever watches"
  until describe
agent-b$ tandem describe -r @- -m 'feat: api'
agent-a$ tandem describe -r @- -m 'feat: auth'
your-vps> cd /srv/project
let <tip> agent-b$ cd ~/work && tandem log -r @- --no-graph -T commit_id | cat
your-vps> jj bookmark create main -r <tip>
your-vps$ jj git remote add origin /srv/github.git
your-vps> jj git push --bookmark main
  shows main
your-vps> jj git fetch
your-vps$ git -C /srv/github.git show main:api.rs
  shows pub fn api()
