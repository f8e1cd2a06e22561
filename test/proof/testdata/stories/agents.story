# Real agent programs in terminals of their own, with a scripted model where their provider is.
machines laptop
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
laptop> tandem session open builder -C ~/code/app
laptop> tandem session send builder "run the tests"
  shows run the tests
laptop> tandem session send builder - <prompt.md
  shows run the tests
laptop> tandem session send builder --cursor 12
laptop> tandem session interrupt builder
laptop> tandem session attach builder                         # its terminal; tmux attach -t ccm-builder is the same
  until Claude
  leave ^Bd
laptop> tandem session attach builder
  until Claude
  leave ^Bd
laptop> tmux attach -t ccm-builder
  until Claude
  leave ^Bd
laptop> tandem session show builder
  shows user:
laptop> tandem session follow builder
laptop> tandem session diff builder
laptop> tandem session diff builder >builder.patch
laptop> tandem session answer
  shows nothing is asked
laptop> tandem session close builder
laptop> claude mcp add tandem -- tandem mcp --only bridge,space
laptop> tandem mcp --only bridge
  for 300ms
laptop$ tandem actor add builder --kind agent
laptop> tandem mcp --as builder --only repo,resource
  for 1s
laptop> tandem session open nightly --as agent:builder
laptop$ (cd ~/code/app && git init -q && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m first)
laptop> tandem session open fixer -C ~/code/app --worktree
  shows checkout:
laptop$ tandem session close fixer
laptop> tandem session keep fixer
laptop$ tandem session open fixer -C ~/code/app --worktree && tandem session close fixer
laptop> tandem session discard fixer
laptop> tandem session check
not run: it starts Codex, which TestCodex does: tandem session open reviewer --agent codex
not run: it starts Codex, which TestCodex does: tandem session check codex
not run: it pays for a turn of a real model: tandem session check --real
not run: an agent that asks is needed, which session/terminal's tests have: tandem session answer que_01j… "the blue one"
not run: an agent that asks is needed, which session/terminal's tests have: tandem session answer que_01j… --reject
laptop> tandem session set-aside list
  shows nothing was set aside
not run: an agent that leaves something is needed, which the script session_set_aside has: tandem session set-aside list ses_01j… --all
not run: an agent that leaves something is needed, which the script session_set_aside has: tandem session set-aside show asd_01j…
not run: an agent that leaves something is needed, which the script session_set_aside has: tandem session set-aside keep asd_01j…
not run: an agent that leaves something is needed, which the script session_set_aside has: tandem session set-aside discard asd_01j…
not run: it needs an account at Tailscale; TestShareTailscale has stand-ins: tandem share --mode tailscale                         # claude.ai and ChatGPT reach it: say "start tandem" there
not run: it needs an account at Tailscale; TestShareTailscale has stand-ins: tandem share --mode tailscale
not run: it needs Cloudflare; TestShareQuick has stand-ins: TANDEM_SETUP_MODE=quick tandem share
laptop> tandem share status
laptop> tandem share status --json
laptop> tandem share stop
