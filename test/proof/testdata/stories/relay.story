# One real agent leads another, with a scripted model where their provider is.
machines laptop
soak: four agents are started
env ANTHROPIC_BASE_URL=http://api.anthropic.com
env ANTHROPIC_AUTH_TOKEN=dummy
env DISABLE_TELEMETRY=1
env DISABLE_ERROR_REPORTING=1
env DISABLE_AUTOUPDATER=1
env CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
env CLAUDE_CODE_MAX_RETRIES=1
env IS_SANDBOX=1
env TANDEM_PROBE=0
laptop$ ln -s /home/tools/npm/node_modules/.bin/claude /home/tools/npm/node_modules/.bin/codex ~/.local/bin; echo '{"hasCompletedOnboarding":true}' >.claude.json
laptop$ mkdir -p code/app; echo 'run the tests' >prompt.md; tandem pin set; tandem up
laptop> tandem session open builder -C ~/code/app --model opus
laptop> tandem session skip ~/code/app --for 4h
  exit 8
laptop$ tandem approvals approve; tandem session skip ~/code/app --for 4h
laptop> tandem session skip --list
let skp_01j… laptop$ tandem session skip --list --json | grep -o 'skp_[a-z0-9]*' | head -1
laptop> tandem session skip --revoke skp_01j…
laptop> tandem relay start "make the tests pass" -C ~/code/app    # one leads, one works, and it survives a restart
let loop_01j… laptop$ tandem relay list --json | grep -o 'loop_[a-z0-9]*' | head -1
laptop> tandem relay list
laptop> tandem relay read loop_01j…
laptop> tandem relay enqueue loop_01j… "now the docs"
laptop> tandem relay inject loop_01j… "now the docs"
laptop> tandem relay stop loop_01j…
laptop> tandem relay start "make the tests pass" -C ~/code/app
