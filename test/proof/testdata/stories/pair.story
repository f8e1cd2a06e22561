# Two real agents, Claude Code and Codex, on two machines with names, work on one repository of a third: each sees the other's commit.
machines your-vps ann bob
env ANTHROPIC_BASE_URL=http://api.anthropic.com
env ANTHROPIC_AUTH_TOKEN=dummy
env OPENAI_API_KEY=dummy
env DISABLE_TELEMETRY=1
env DISABLE_ERROR_REPORTING=1
env DISABLE_AUTOUPDATER=1
env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
env CLAUDE_CODE_MAX_RETRIES=1
env IS_SANDBOX=1
env TANDEM_PROBE=0
your-vps$ tandem pin set; tandem up --repo /srv/project --listen 0.0.0.0:13013
ann$ ln -s /home/tools/npm/node_modules/.bin/claude ~/.local/bin; echo '{"hasCompletedOnboarding":true}' >.claude.json; tandem pin set
bob$ ln -s /home/tools/npm/node_modules/.bin/codex ~/.local/bin; mkdir -p .codex; printf 'model = "gpt-5.2-codex"\nmodel_provider = "mine"\n[model_providers.mine]\nname = "mine"\nbase_url = "http://api.openai.com/v1"\nwire_api = "responses"\nrequires_openai_auth = false\n' >.codex/config.toml; tandem pin set
ann$ tandem init --tandem-server=your-vps:13013 ~/work
  when waiting until: your-vps$ tandem approvals approve
bob$ tandem init --tandem-server=your-vps:13013 --workspace=bob ~/work
  when waiting until: your-vps$ tandem approvals approve
ann$ tandem session open author -C ~/work
ann$ tandem session send author 'add it [[tool Bash {"command":"echo true > auth.rs && tandem commit -m add-auth","description":"add auth"}]] [[say added it]]'
  exit 8
ann$ tandem approvals approve
ann$ tandem session send author
  shows added it
bob$ cd ~/work && tandem log
  shows add-auth
bob$ tandem session open reader -C ~/work --agent codex
bob$ tandem session send reader 'build on it [[tool exec_command {"cmd":"tandem log && tandem new -m on-top default@-"}]] [[result]]'
  exit 8
bob$ tandem approvals approve
bob$ tandem session send reader
  shows add-auth
# Codex gives its commands no network: what it did is saved, and goes out with the next command on that machine.
bob$ cd ~/work && tandem log
  shows on-top
ann$ cd ~/work && tandem log
  shows on-top
  shows bob@
