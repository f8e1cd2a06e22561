# Every example of docs/cli.md, in an order in which somebody could type them.
machines your-server laptop build.example.org
# Beginning: nothing is there yet.
your-server$ mkdir -p project code/app usb docs
your-server> tandem version
your-server> tandem up
  shows tandem is running
your-server> tandem status
  shows Listen: 127.0.0.1:39731
your-server> tandem status --json
  shows "running": true
your-server> tandem doctor
your-server> tandem doctor --json
your-server> tandem whoami
your-server> tandem pin hash
  shows argon2id$
your-server> tandem pin set
  shows recovery codes
your-server> tandem recover status
  shows 8 recovery codes are left
your-server> tandem recover codes
not run: a recovery code is needed, which presence_recovery types: tandem recover
not run: only root of the machine begins one, which TestRootRecoversAfterADayUnlessStopped does: tandem recover stop
not run: a server of another user is needed, which TestRootRecoversAfterADayUnlessStopped does: tandem recover root --data /home/ann/.tandem
your-server> tandem panel open
  shows signin?code=
your-server> tandem panel open --print
  shows signin?code=
your-server$ curl -s -c jar -o /dev/null "$(tandem panel open --print | grep -o 'http[^ ]*' | sed 's/t-[a-z0-9]*.localhost/127.0.0.1/')"
your-server> tandem panel browsers
your-server> tandem panel browsers --person anna
not run: it needs the way to ntfy.sh, of which the script phone_told has a stand-in: tandem phone set
not run: it needs the way to ntfy.sh, of which the script phone_told has a stand-in: tandem phone set --address https://house.example:39731
not run: it needs the way to ntfy.sh, of which the script phone_told has a stand-in: tandem phone set --new
your-server> tandem phone off
  shows your phone is told nothing more
not run: a browser that signed in is needed, which TestJourney has: tandem panel signout signin_5f0c4e1f2a3b4c5d
your-server> tandem logs
  until ready
your-server> tandem logs --level warn
  for 300ms
your-server> tandem logs --json
  until {
# Actors and their credentials.
your-server> tandem actor add builder --kind agent
your-server> tandem actor list
  shows builder
your-server> tandem token new builder --label laptop
let BUILDER your-server$ tandem token new builder --json 2>/dev/null | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p'
your-server> tandem token new --person --decide --expires 24h
your-server> tandem token list
your-server> tandem token list --actor builder
let tok_… your-server$ tandem token list --json | grep -o 'tok_[a-z0-9]*' | head -1
your-server> tandem token revoke tok_…
your-server> tandem token clear
your-server> tandem token show api
your-server$ echo 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= > web.pub
your-server> tandem assertion key add web-1 web.pub --organization acme --expires 2160h
  shows enrolled web-1
your-server> tandem assertion key list
  shows web-1
your-server> tandem assertion key revoke web-1
# Automations: looked at, switched on, switched off.
your-server$ printf '%s\n' 'name = "nightly"' '[[node]]' 'id = "note"' '[node.operation]' 'name = "resource.put"' 'input = { key = "night", value = "over" }' > nightly.toml
your-server> tandem automation check nightly.toml
  shows nightly is right
your-server> tandem automation add nightly.toml
  shows nightly is stored
your-server> tandem automation list
  shows nightly
your-server> tandem automation show nightly
  shows calls resource.put
your-server> tandem automation show nightly --text
  shows [[node]]
your-server> tandem automation on nightly
  shows nightly is switched on
your-server> tandem automation run nightly
  shows nightly begins
your-server> tandem automation ticks nightly
  shows it was not due yet
your-server> tandem automation runs list
  shows nightly
your-server> tandem automation runs list nightly --open
let run_01k… your-server$ tandem automation runs list --json | grep -o 'run_[a-z0-9]*' | head -1
your-server> tandem automation runs show run_01k…
  shows note
not run: a run with an input is needed, which TestARunIsGivenItsInputs begins: tandem automation run weekly-mail --input week=42
not run: a run that lasts is needed, which TestPeopleSteerARun has: tandem automation runs pause run_01k…
not run: a run that lasts is needed, which TestPeopleSteerARun has: tandem automation runs resume run_01k…
not run: a run that lasts is needed, which TestPeopleSteerARun has: tandem automation runs cancel run_01k…
not run: a step that failed is needed, which TestPeopleSteerARun has: tandem automation runs retry run_01k… draft
not run: a step that failed is needed, which TestPeopleSteerARun has: tandem automation runs skip run_01k… draft --reason 'written by hand'
not run: a run that failed is needed, which TestAFailedRunIsRepaired has: tandem automation repair run_01k… draft
not run: a run that failed is needed, which TestAFailedRunIsRepaired has: tandem automation repair run_01k… draft --prompt 'Write the mail in three sentences.'
not run: a run that failed is needed, which TestAFailedRunIsRepaired has: tandem automation repair run_01k… draft --model anthropic/claude-sonnet-4-5 --reason 'the other one is away'
not run: a run that failed is needed, which TestAFailedRunIsRepaired has: tandem automation repair run_01k… count --file nightly.toml
your-server> tandem automation rehearse run_01k…
  shows nothing would differ
your-server> tandem automation rehearse run_01k… --file nightly.toml
  shows nothing would differ
not run: the digest of an older version is needed, which TestARunIsRehearsed has: tandem automation rehearse run_01k… --version 3f9a01
not run: a step whose outcome a kill hid is needed, which TestAKillRepeatsNoEffect has: tandem automation runs accept run_01k… send --output '{"id": "m-1"}'
your-server> tandem automation off nightly
  shows nightly is switched off
your-server$ until tandem automation remove nightly; do tandem automation runs list --json | grep -o 'run_[a-z0-9]*' | while read r; do tandem automation runs cancel $r; done; done; tandem automation add nightly.toml
your-server> tandem automation remove nightly
  shows nightly is removed
# Packs: looked at, installed, removed.
your-server> tandem pack list
  shows comes with tandem
your-server> tandem pack show vendor-risk
  shows automation vendor-risk:
your-server> tandem pack show nightly-tests --set folder=/srv/app --text
  shows as it is written
your-server> tandem pack install vendor-risk
  shows vendor-risk is installed
your-server> tandem pack install nightly-tests --set folder=/srv/app
  shows nightly-tests is installed
your-server> tandem pack remove vendor-risk
  shows vendor-risk is removed
your-server$ tandem pack remove nightly-tests

# Work that is written down as it goes.
your-server> tandem context start ship version 3 --id release --step build --step 'ship=Ship it to everybody'
  shows release is begun
your-server> tandem context start look at the slow query --folder . --kind investigation
your-server> tandem context append release step_completed --step build --status running
  shows release is running, at revision 2
your-server> tandem context list
  shows ship version 3
your-server> tandem context list --status running --kind investigation
your-server> tandem context add release review --id r1 --priority 5
  shows r1 is added: runnable
your-server> tandem context add release merge --id m1 --after r1 --payload '{"branch":"main"}'
  shows m1 is added: pending
your-server$ tandem context add release tidy --id f1 --priority 9
your-server> tandem context claim release --lease 10m
  shows f1 is yours until
let lease_01k4 your-server$ tandem context claim release --task r1 | grep -o 'lease_[a-z0-9]*'
your-server> tandem context task release r1 complete --lease-token lease_01k4
  shows r1 is done
let lease_01k5 your-server$ tandem context claim release --task m1 | grep -o 'lease_[a-z0-9]*'
your-server> tandem context task release m1 fail --lease-token lease_01k5 --error 'the tests do not run'
  shows m1 is failed
your-server> tandem context task release m1 retry
  shows m1 is runnable
your-server> tandem context claim release --task m1 --agent builder
  shows attempt 2 of 3
your-server> tandem context note release add_fact 'the tag is v3'
your-server> tandem context note release add_artifact --path dist/app --type binary
your-server> tandem context board release
  shows the tag is v3
your-server> tandem context checkpoint release --reason 'before the merge'
your-server> tandem context show release
  shows held by
your-server> tandem context show release --payloads --json
your-server> tandem context events release
  shows step_completed
your-server> tandem context events release --tail 20
your-server> tandem context replay release
  shows no drift
your-server> tandem context replay release --upto 3 --json
your-server> tandem context append release run_failed --status failed --payload '{"error":"the disk is full"}'
  shows release is failed
your-server> tandem context remove release
  shows release is deleted
# What an automation made, in three versions.
your-server$ printf '%s\n' 'name = "weekly"' '[[node]]' 'id = "draft"' '[node.command]' 'run = ["date", "+%s%N"]' '[node.output.report]' 'artifact = "markdown"' > weekly.toml; tandem automation add weekly.toml; tandem automation on weekly; for n in 1 2 3; do until tandem automation run weekly >/dev/null 2>&1; do :; done; until tandem artifact show weekly.draft.report@$n >/dev/null 2>&1; do :; done; done
  shows weekly is switched on
your-server> tandem artifact list
  shows weekly.draft.report
your-server> tandem artifact list weekly.draft.report
  shows markdown
your-server> tandem artifact list --run run_01k…
  shows no artifacts
your-server> tandem artifact show weekly.draft.report
  shows weekly.draft.report, version 3
your-server> tandem artifact show weekly.draft.report@3
  shows made by: automation.weekly
your-server> tandem artifact compare weekly.draft.report
  shows version 2 and version 3
your-server> tandem artifact compare weekly.draft.report --from 1 --to 3
  shows version 1 and version 3
your-server> tandem artifact get weekly.draft.report
  shows weekly.draft.report-3.md
your-server> tandem artifact get weekly.draft.report@2 --to report.md
  shows version 2, is in report.md
your-server> tandem artifact get weekly.draft.report --to -
your-server> tandem artifact remove weekly.draft.report@1
  shows 1 versions are gone
your-server> tandem artifact remove weekly.draft.report
  shows 2 versions are gone
your-server$ tandem automation off weekly
# A webhook of an automation: its address, a message, and the same message again.
your-server$ printf '%s\n' 'name = "triage"' '[limits]' 'runs = 9' '[[trigger]]' 'id = "lab"' 'webhook = "gitlab"' '[[node]]' 'id = "note"' '[node.operation]' 'name = "resource.put"' 'input = { key = "triaged", value = "yes" }' > triage.toml; tandem automation add triage.toml; tandem automation on triage
  shows triage is switched on
your-server> tandem automation hook triage
  shows is shown once
not run: a secret that Stripe made is needed, which TestSchemes has: tandem automation hook paid stripe --secret
your-server$ tandem automation hook triage --json > hook.json 2>/dev/null; curl -s -H "X-Gitlab-Token: $(sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p' hook.json)" -d '{"word": "hello"}' "http://127.0.0.1:39731$(sed -n 's/.*"path": *"\([^"]*\)".*/\1/p' hook.json)"
  shows "ok":true
your-server> tandem automation hooks triage
  shows 1 taken
let dlv_01k… your-server$ tandem automation hooks triage --json | grep -o 'dlv_[a-z0-9]*' | head -1
your-server> tandem automation replay triage dlv_01k…
  shows triage begins
your-server$ tandem automation off triage
# Asks and their answers.
your-server$ TANDEM_AS_TOKEN=BUILDER tandem settings set log.level debug
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem inbox
  shows builder
your-server> tandem inbox --kind ask
  shows tandem approvals approve
your-server> tandem inbox --json
  shows "next"
your-server> tandem approvals
  shows log.level
your-server> tandem approvals list
your-server> tandem approvals list --state all
your-server> tandem approvals show ask_x4k2p9
  shows log.level
your-server> tandem approvals approve ask_x4k2p9
your-server> tandem approvals wait ask_x4k2p9 --timeout 5m
  shows approved
your-server$ TANDEM_AS_TOKEN=BUILDER tandem settings set log.level warn
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals cancel ask_x4k2p9
your-server> tandem approvals cancel --from 192.0.2.7
  exit 1
your-server$ TANDEM_AS_TOKEN=BUILDER tandem settings set log.level info
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals deny ask_x4k2p9
your-server$ TANDEM_AS_TOKEN=BUILDER tandem settings set log.level error
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals rework ask_x4k2p9 --feedback "keep the old flag"
your-server$ tandem grant add agent:builder resource:/prod --ask --can edit
your-server$ TANDEM_AS_TOKEN=BUILDER tandem resource put prod/list "\"$(seq -s ' ' 8000)\""
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals show ask_x4k2p9 --page 2
your-server$ tandem approvals cancel ask_x4k2p9
your-server$ TANDEM_AS_TOKEN=BUILDER tandem resource put prod/one 1
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approve ask_x4k2p9
your-server$ TANDEM_AS_TOKEN=BUILDER tandem resource put prod/two 2
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem deny ask_x4k2p9
not run: it needs an ask with a picture in it; the script approval_pages has one that is not text: tandem approvals save ask_x4k2p9 args.content picture.png
# Resources.
your-server> tandem resource put lock/deploy mine --if-absent --own --ttl 10m
your-server> tandem resource put project/owner '"team a"'
your-server> tandem resource get lock/deploy
  shows mine
your-server> tandem resource list
your-server> tandem resource list lock/
your-server> tandem resource delete lock/deploy
# What is remembered.
your-server> tandem memory add 'Releases are cut on Tuesdays' --kind decision
  shows is live for team, stated
your-server> tandem memory add 'The tests of payments need Redis' --tier project --of payments --kind lesson --source file:payments/README.md
your-server> tandem memory search release day
  shows Releases are cut on Tuesdays
your-server> tandem memory search '"merge queue" retr*' --kind lesson
  shows nothing is known of that here
your-server> tandem memory search release day --only passages
  shows nothing is known of that here
your-server> tandem memory list
  shows from file payments/README.md
your-server> tandem memory brief mend the release script
  shows Releases are cut on Tuesdays
your-server> tandem memory brief --project payments
  shows The tests of payments need Redis
your-server> tandem memory propose 'go vet wants CGO_ENABLED=0 here' --kind lesson
  shows is proposed for team
your-server> tandem memory list --state proposed
  shows go vet wants
let mem_01j9z your-server$ tandem memory list --state proposed --json | grep -o 'mem_[a-z0-9]*' | head -1
your-server> tandem memory promote mem_01j9z
  shows is live for team, approved
your-server> tandem memory show mem_01j9z
  shows go vet wants
your-server> tandem memory demote mem_01j9z
let mem_01j9z your-server$ tandem memory list --tier project --json | grep -o 'mem_[a-z0-9]*' | head -1
your-server> tandem memory promote mem_01j9z --tier team
  shows is live for team
your-server> tandem memory demote mem_01j9z --tier project --of payments
  shows is live for project payments
your-server> tandem memory edit mem_01j9z 'Releases are cut on Wednesdays'
your-server> tandem memory edit mem_01j9z --label release,calendar
your-server> tandem memory history mem_01j9z
  shows The tests of payments need Redis
your-server> tandem memory forget mem_01j9z
  shows is forgotten
your-server> tandem memory export > memory.jsonl
your-server> tandem memory model show
your-server$ echo '{"text":"Tea is at four","state":"live"}' > memory.jsonl
your-server> tandem memory import memory.jsonl
  shows 1 added
your-server> tandem memory import memory.jsonl --live
your-server$ mkdir -p docs; printf '# Releases\n\nThe release checklist of the merge queue.\n' >docs/release.md
your-server> tandem source preview docs
  shows 1 markdown
your-server> tandem source add docs --name handbook
  shows handbook is paused
not run: the folder is somebody's home: tandem source add . --name notes --every 60
not run: this server serves no repository: tandem source preview --repo app --at main
not run: it takes a model's files, or a provider that makes vectors: tandem memory model set /srv/models/all-MiniLM-L6-v2
not run: it takes a model's files, or a provider that makes vectors: tandem memory model set /srv/models/e5-small-v2 --asks 'query: ' --tells 'passage: '
not run: it takes a model's files, or a provider that makes vectors: tandem memory model set --endpoint ollama/all-minilm
not run: no model was chosen, which the script memory_model does: tandem memory model clear
not run: this server serves no repository: tandem source add --repo app --at main --under docs --name app-docs
not run: this server has no connector of that name: tandem source add --connector notes
not run: no example reaches the outside world: tandem source add https://example.org/manual/ --depth 2 --pages 50 --name manual
your-server> tandem source resume handbook
your-server$ for i in $(seq 600); do tandem source list | grep -q 'passages, imported' && break; sleep 0.1; done
your-server> tandem source list
  shows active, 1 files in
your-server> tandem source search release checklist
  shows handbook/release.md (Releases, line 1)
your-server> tandem source search '"merge queue"' --in handbook
  shows handbook/release.md
your-server> tandem source sync handbook
your-server> tandem source show handbook
  shows owner
your-server> tandem source pause handbook
  shows handbook is paused
your-server> tandem source quarantine handbook --reason 'somebody else wrote into the folder'
  shows handbook is quarantined
your-server> tandem source revoke handbook
  shows handbook is revoked
# Knowledge spaces.
your-server> tandem knowledge create handbook --purpose 'How we release and who decides'
  shows handbook is made
your-server> tandem knowledge create pay --purpose 'What contracts say' --reader person:ann --trust sourced --days 180
your-server> tandem knowledge list
  shows What contracts say
your-server> tandem knowledge add handbook 'Releases are cut on Tuesdays.' --title 'Release day' --covers release/day --key release-day
  shows waits in handbook
your-server> tandem knowledge add handbook --title 'Hotfixes' --summary 'Two people approve a hotfix.' --source file:docs/hotfix.md
let kno_01k8z your-server$ tandem knowledge show handbook --json | grep -o 'kno_[a-z0-9]*' | tail -1
your-server> tandem knowledge show handbook
  shows 2 wait for a person
your-server> tandem knowledge show handbook --state working
  shows Hotfixes
your-server> tandem knowledge show kno_01k8z
  shows Release day
your-server> tandem knowledge promote kno_01k8z
  shows is promoted in handbook
your-server> tandem knowledge promote kno_01k8z --default
  shows is default in handbook
your-server> tandem knowledge ask when are releases cut
  shows Releases are cut on Tuesdays.
your-server> tandem knowledge ask who approves a hotfix --in handbook
  shows not known here
your-server> tandem knowledge change handbook --days 90
  shows fresh for 90 days
your-server> tandem knowledge change handbook --reader session:* --reader person:ben
  shows readers session:*, person:ben
your-server> tandem knowledge deprecate kno_01k8z --reason 'releases moved to Thursdays'
  shows is deprecated in handbook
your-server> tandem knowledge remove kno_01k8z
  shows is deleted, 1 item
your-server> tandem knowledge remove handbook
  shows handbook is deleted, 1 item
# The journal.
your-server> tandem audit log --rows
  shows PHASE
your-server> tandem audit log
your-server> tandem audit log --type 'resource.*' --phase denied --limit 20
your-server> tandem audit log --since 2h --text deploy
your-server> tandem audit show 17
your-server> tandem audit prove 17 --out receipt.json
let tandem.localhost/journal/… your-server$ tandem audit anchor --json | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p' | head -1
your-server> tandem audit verify --receipt receipt.json --key tandem.localhost/journal/…
your-server> tandem audit anchor --out ~/usb/anchor-2026-11.txt
your-server$ cp ~/usb/anchor-2026-11.txt ~/usb/anchor.txt
your-server> tandem audit verify
your-server> tandem audit verify --whole
your-server> tandem audit verify --anchor ~/usb/anchor.txt
your-server> tandem audit export --out journal.ndjson
your-server> tandem audit verify --export journal.ndjson --key tandem.localhost/journal/…
your-server> tandem audit forget --older-than 8760h
your-server> tandem audit confirm
your-server> tandem audit confirm --yes
# Grants, labels, rules.
your-server> tandem grant add agent:builder folder:/home/me/code --can read,edit --class source_code --expires 8h
your-server> tandem grant add agent:builder tool:/ --can execute --tool 'bash(command: git log)'
your-server> tandem grant add 'session:*' resource:/prod --deny --can edit
your-server> tandem grant list
your-server> tandem grant list --house
your-server> tandem grant list --principal person:anna --limit 50
let grt_… your-server$ tandem grant list --json | grep -o 'grt_[a-z0-9]*' | head -1
your-server> tandem grant revoke grt_…
your-server> tandem grant folder .
your-server> tandem grant folder ~/docs --read-only
your-server$ mkdir -p code/tools/bin code/shared
your-server> tandem grant folder . --path ~/code/tools/bin --see ~/code/shared --env CI=1
your-server> tandem grant folder
  shows docs
your-server> tandem policy explain --actor builder --op resource.put --resource /lock/deploy
your-server> tandem policy explain --actor builder --tool bash --command 'git push'
your-server> tandem policy why-not --actor builder --op resource.put --resource /lock/deploy
  shows builder
your-server> tandem access
  shows WHO
your-server> tandem policy vocabulary
  shows "StrictTenantContext"
your-server> tandem policy vocabulary ScopedGrant
  shows "title": "ScopedGrant"
your-server> tandem policy context
  shows "tenant_context"
your-server$ o='"organization_id": "local", "workspace_id": "*", "resource_kind": "tandem_resource", "resource_id": "/plans"'; echo '{"grant_id": "theirs", "principal": {"kind": "agent_worker", "id": "builder"}, "effect": "allow", "permissions": ["read"], "resource": {'"$o"'}, "data_classes": [], "tool_patterns": [], "grant_source": "direct"}' >grant.json
your-server> tandem grant take grant.json
  shows allow for agent:builder on resource:/plans
your-server> tandem access builder
your-server> tandem access --resource folder:/srv/shop
your-server> tandem policy label folder:/home/me/customers customer_data
your-server> tandem policy label
your-server> tandem policy label folder:/home/me/customers --remove
your-server$ sed -n '/^```cedar/,/^```/p' /home/checkout/docs/policy.md | sed '/^```/d' >rules.cedar; echo '[]' >cases.json
your-server> tandem policy test rules.cedar
your-server> tandem policy test rules.cedar --cases cases.json
your-server> tandem policy edit --file rules.cedar --note "no pushes on Friday"
your-server$ printf '#!/bin/sh\necho "// seen" >>"$1"\n' >~/.local/bin/editor; chmod +x ~/.local/bin/editor
your-server> tandem policy edit
your-server> tandem policy show
your-server> tandem policy show --history
your-server> tandem policy show --schema
# Secrets, providers, sessions.
your-server> tandem secret set provider/openai
  type sk-0123456789
your-server$ printf '#!/bin/sh\necho sk-$2-0123456789\n' >~/.local/bin/pass; chmod +x ~/.local/bin/pass
your-server> pass show openai | tandem secret set provider/openai
your-server> tandem secret list
your-server> tandem secret unmask provider/openai
  shows sk-openai-0123456789
your-server> tandem secret delete provider/openai
your-server> tandem secret rotate
your-server> tandem provider list
your-server> tandem provider key anthropic
  type sk-ant-0123456789
  type n
your-server> pass show anthropic | tandem provider key anthropic
your-server> pass show anthropic | tandem setup --yes --provider anthropic
  shows the key for anthropic is sealed
your-server> tandem provider models anthropic
your-server> tandem provider default anthropic/claude-sonnet-4-5
your-server> tandem provider add mine http://127.0.0.1:8080/v1 --keyless
your-server> tandem provider remove mine
your-server$ echo '# Hello' >README.md; printf '\211PNG\r\n\032\n' >screenshot.png; echo hello >prompt.md
your-server> tandem run "summarize README.md"
  shows summarize README.md
let ses_01j… your-server$ tandem session list --json | grep -o 'ses_[a-z0-9]*' | head -1
your-server> tandem run --session ses_01j… "now the tests"
  shows now the tests
your-server> tandem run -a screenshot.png "what is wrong here?"
your-server$ tandem run -m anthropic/claude-sonnet-4-5 'go [[tool write {"path":"a.txt","content":"x"}]] [[say done]]' </dev/null
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals approve ask_x4k2p9 --always
your-server> tandem approvals rules
let rul_01j… your-server$ tandem approvals rules --json | grep -o 'rul_[a-z0-9]*' | head -1
your-server> tandem approvals forget rul_01j…
your-server$ tandem run -m anthropic/claude-sonnet-4-5 'go [[tool write {"path":"b.txt","content":"x"}]] [[say done]]' </dev/null
  exit 8
let ask_x4k2p9 your-server$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
your-server> tandem approvals approve ask_x4k2p9 --always --scope folder --for 48h
not run: no Ollama is there; the model is another in all other lines: tandem run -m ollama/qwen3 "what does this do?"
your-server> tandem chat
  type /exit
your-server> tandem chat -m anthropic/claude-sonnet-4-5 --plan
  type /exit
your-server> tandem chat --session ses_01j…
  type /exit
your-server> tandem session list
your-server> tandem session list deploy
your-server> tandem session live
your-server> tandem session show ses_01j…
your-server> tandem session follow ses_01j…
your-server> tandem session prompt ses_01j… "now the tests"
your-server> tandem session new "fix the build" -m anthropic/claude-sonnet-4-5
let msg_01j… your-server$ tandem session show ses_01j… --json | grep -o 'msg_[a-z0-9]*' | head -1
your-server> tandem session fork ses_01j… --message msg_01j…
your-server> tandem session update ses_01j… --title "another name"
your-server> tandem session revert ses_01j…
your-server> tandem session unrevert ses_01j…
your-server> tandem session cancel ses_01j…
your-server> tandem session delete ses_01j…
build.example.org$ TANDEM_SANDBOX=none tandem up; tandem pin set; tandem session new x
let ses_01j… build.example.org$ tandem session list --json | grep -o 'ses_[a-z0-9]*' | head -1
build.example.org> tandem grant unconfined ses_01j…
build.example.org> tandem grant unconfined
build.example.org> tandem grant unconfined ses_01j… --revoke
build.example.org$ tandem down
your-server> tandem grant folder . --revoke
your-server> tandem budget set --period day --cents 500
your-server> tandem budget set --for agent:builder --period month --tokens 5000000 --calls 2000
your-server> tandem budget list
your-server> tandem budget remove --for agent:builder --period month
# Connectors.
your-server> tandem connector add docs https://docs.example/mcp --header Authorization
your-server> tandem connector list
  shows docs
your-server> tandem connector secret docs
  type Bearer 0123456789
your-server> tandem connector sync docs
your-server> tandem connector accept docs
your-server> tandem connector disable docs
your-server> tandem connector enable docs
your-server> tandem connector logout docs
your-server> tandem connector remove docs
not run: it needs an MCP server that wants a sign-in, which TestSignIn has: tandem connector login mail
not run: it needs an MCP server that wants a sign-in, which TestSignIn has: tandem connector login mail --no-wait
not run: it needs an MCP server that wants a sign-in, which TestSignIn has: tandem connector show mail
not run: no such program is there; TestCommandRunsConfined adds one: tandem connector add files -- /usr/local/bin/mcp-files --quiet
not run: no such program is there; TestAProgramHasItsFolderAndVariables adds one: tandem connector add tickets --folder ~/tools/tickets --env TEAM=core --secret TICKETS_KEY -- ~/tools/tickets/bin/serve
not run: it is a secret of that program: tandem connector secret tickets TICKETS_KEY
# Settings.
your-server> tandem settings
your-server> tandem settings --json
your-server> tandem settings set log.level debug
your-server> tandem settings set hosts build.example.org
  shows hosts is written
your-server> tandem down
your-server> tandem up --listen 0.0.0.0:13013
your-server> tandem settings keep
your-server> tandem server backup ~/tandem-2026-11-15.backup
your-server> tandem server check ~/tandem-2026-11-15.backup
your-server$ mount -t tmpfs none /mnt && mkdir /mnt/copies && echo 'a passphrase of many words' >~/.copies && chmod 600 ~/.copies
your-server> tandem server backup /mnt/copies --passphrase-file ~/.copies --keep 14
your-server> tandem server rotate journal
  shows sealed anew
not run: programs of this story hold the old ones; TestDefaultTokensHaveNewValues does it: tandem server rotate tokens
not run: a copy of another machine is needed, which server_restore_elsewhere has: tandem server restore /mnt/copies/tandem.scheduled --identity ~/copies.identity --repos-to ~/code
not run: a PostgreSQL with two roles is needed, which server_postgres has: tandem server migrate --database postgres://owner@db.example.org/tandem --for tandem
not run: a PostgreSQL is needed, which server_move has: tandem server move postgres://tandem@db.example.org/tandem
not run: a PostgreSQL is needed, which server_move has: tandem server move sqlite
not run: a PostgreSQL is needed, which server_cluster has: tandem server key copy /mnt/usb/keys
not run: a PostgreSQL is needed, which server_cluster has: tandem server key take /mnt/usb/keys
not run: a PostgreSQL is needed, which server_cluster has: tandem up --cluster team
not run: a PostgreSQL with two roles is needed, which server_postgres has: tandem up --database postgres://tandem@db.example.org/tandem
not run: a server that lost its key is needed, which server_rotate has: tandem remote trust your-server:13013 SHA256:n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg
your-server> tandem server backup-key ~/copies.identity > ~/copies.recipient
your-server> tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient
  shows backup is scheduled
your-server> tandem server schedule backup --to /mnt/copies --recipient-file ~/copies.recipient --when 'every 6h' --keep 28
your-server> tandem server schedule forget --older-than 8760h
your-server> tandem server schedule list
  shows not done yet
your-server> tandem server schedule now backup
  shows done at
your-server> tandem server schedule remove backup
your-server> tandem server restore ~/tandem-2026-11-15.backup
your-server> tandem down --force
your-server$ rm ~/.tandem/config.toml
your-server> tandem serve
  until msg=ready
your-server> tandem serve --listen 127.0.0.1:39731 --log-level debug
  until msg=ready
your-server> tandem serve --hostname 127.0.0.1 --port 39731
  until msg=ready
# A repository and another machine.
your-server> tandem up --repo ~/project --listen 0.0.0.0:13013
your-server> tandem invite
your-server> tandem invite --person anna
  shows tandem login
your-server> tandem invite --expires 1h
your-server> tandem invite --uses 20 --expires 24h
your-server> tandem invite list
  shows 0 of 20
let inv_… your-server$ tandem invite list --json | grep -o 'inv_[a-z0-9]*' | head -1
your-server> tandem invite revoke inv_…
laptop> tandem login list
  shows logged in nowhere else
laptop> tandem login use own
your-server> tandem tenant create acme --owner anna
  shows the tenant acme is made; anna owns it
your-server> tandem invite --person ben --tenant acme
  shows #tdj_
your-server> tandem tenant list
  shows acme
your-server> tandem tenant show acme
  shows is active
your-server> tandem tenant limit acme --money 20usd --sessions 50 --storage 2gb
  shows acme may use 20usd and may keep 50 sessions
your-server> tandem tenant limit acme --money 5usd --period day
your-server> tandem tenant limit acme --money none
your-server> tandem tenant suspend acme --reason "the bill is open"
  shows acme is suspended
your-server> tandem tenant resume acme
your-server> tandem tenant suspend acme --reason "the bill is open"
not run: a recipient is needed, which server_backup makes: tandem tenant export acme ~/acme.tenant --recipient-file ~/recipient
not run: a second server is needed, which the script tenant_carry has: tandem tenant import ~/acme.tenant --identity ~/copies.identity --as acme-two
your-server> tandem tenant erase acme
  shows nothing is erased yet
your-server> tandem tenant erase acme --confirm acme
  shows acme is erased
your-server> tandem person list
  shows owner
your-server> tandem device list
  shows nobody logged in from another machine
laptop> tandem init --tandem-server your-server:13013 ~/work
  when waiting until: your-server$ tandem approvals approve
laptop$ cd ~/work
laptop> tandem log          # the same as tandem jj log
laptop> tandem jj status    # the working copy: tandem status is the server, tandem st is jj's
laptop> tandem watch --json
  when …: laptop$ cd ~/work && tandem describe -m x
  until {
laptop> tandem repo lease internal/auth --for 2h
laptop> tandem repo lease
  shows internal/auth
laptop> tandem repo release internal/auth
laptop> tandem remote
laptop> tandem remote set your-server:13013
your-server$ tandem init --tandem-server=127.0.0.1:13013 ~/b0 && mkdir ~/b && cd ~/b
your-server> tandem init --tandem-server 127.0.0.1:13013 --workspace agent-b .
your-server> tandem watch --server 127.0.0.1:13013
  when …: your-server$ cd ~/b && tandem describe -m x
  until describe
laptop> tandem repo mend
your-server> tandem repo list
your-server> tandem repo status project
your-server> tandem repo workspaces project
your-server> tandem repo check project
your-server> tandem repo older project
your-server> tandem repo older project --keep
your-server> tandem repo gc project
your-server> tandem repo gc project --older-than 48h
your-server$ tandem down && tandem up --repo ~/project --listen 0.0.0.0:14014
laptop> tandem remote set your-server:14014
let INVITE your-server$ tandem invite --json | grep -o 'tdj_[a-z0-9A-Z_-]*' | head -1
laptop> tandem remote set your-server:14014#INVITE
your-server$ tandem down && cd
# A space.
your-server$ tandem up --listen 0.0.0.0:39731; mkdir -p internal; seq 50 >internal/auth.go
your-server> tandem space init
your-server> tandem space init --hooks
your-server> tandem space create fix-auth-bug
your-server> tandem space list
your-server> tandem space whoami
your-server> tandem space invite
your-server> tandem space invite --link --for 1h
let VPA6KW@host:39731 your-server$ tandem space invite --json | grep -o '[A-Z0-9]\{6\}@10[0-9.:]*' | head -1
laptop$ cd; mkdir -p app; cd app
laptop> tandem space join VPA6KW@host:39731
laptop> tandem space rename NeonOtter
your-server> tandem space peers
  shows NeonOtter
your-server> tandem space phrase
your-server> tandem space send 'who has the staging key?' --type question --to NeonOtter
  shows m_
let m_01j… your-server$ tandem space send x --json | grep -o 'm_[a-z0-9]*' | head -1
your-server> tandem space receipt m_01j…
your-server> tandem space send 'I have it' --reply-to m_01j…
laptop> tandem space wait --seconds 600
  exit 2
laptop> tandem space inbox
  shows staging key
laptop> tandem space inbox --all
laptop> tandem space inbox --text staging
  shows staging key
your-server$ echo boom > crash.log; echo more > more.txt
your-server> tandem space send 'the log of the crash' --attach crash.log
  shows crash.log
let m_01j… your-server$ tandem space send x --attach crash.log --json | grep -o 'm_[a-z0-9]*' | head -1
laptop> tandem space attachment save m_01j…
  shows crash.log
let m_01j… your-server$ tandem space send x --attach crash.log --attach more.txt --json | grep -o 'm_[a-z0-9]*' | head -1
laptop> tandem space attachment save m_01j… 2 --as notes.txt
  shows notes.txt
laptop$ git init -q
laptop> tandem space guard install
  shows are refused
laptop> tandem space guard check
laptop> tandem space guard uninstall
your-server> tandem space set datasource_uid P8E80F9AEF21F6940
laptop> tandem space get datasource_uid
  shows P8E80F9AEF21F6940
your-server> tandem space unset datasource_uid
your-server> tandem space reserve internal/auth.go --for 2h
your-server> tandem space release internal/auth.go
your-server> tandem space reserve docs --shared
  shows shared
your-server> tandem space share internal/auth.go --lines 10-40 --message 'look here'
your-server> tandem space log --limit 100
your-server> tandem space verify
let VPA6KW your-server$ tandem space invite --json | grep -o '[A-Z0-9]\{6\}@10[0-9.:]*' | sed 's/@.*//' | head -1
your-server> tandem space revoke VPA6KW
your-server$ tandem board add 'Find it'
let T-a1b2c3 your-server$ tandem board --json | grep -o 'T-[0-9a-f]\{6\}' | head -1
your-server> tandem board
  shows Find it
your-server> tandem board add 'Fix auth' --priority critical --depends-on T-a1b2c3
your-server$ tandem board add 'Ship it'
let T-d4e5f6 your-server$ tandem board | sed -n 's/.*\[\(T-[0-9a-f]*\)\].*Ship it.*/\1/p'
your-server> tandem board depend T-d4e5f6 T-a1b2c3
your-server> tandem board edit T-a1b2c3 --title 'Fix auth on mobile' --priority high
  shows Fix auth on mobile
your-server> tandem board edit T-a1b2c3 --label auth,mobile --unlabel easy
  shows Labels: auth, mobile
your-server> tandem board edit T-d4e5f6 --parent T-a1b2c3
  shows Part of: T-a1b2c3
your-server> tandem board graph
  shows BLOCKED - Ship it
your-server> tandem board graph --under T-a1b2c3 --all
  shows Ship it
your-server> tandem board add 'Round the cents' --label billing,easy --parent T-a1b2c3
your-server> tandem board export
  shows labels: billing, easy
your-server> tandem board export tasks.jsonl
your-server> tandem board export --form github --label billing --all
  shows Round the cents
your-server> tandem board comment T-a1b2c3 'see the log of last night'
your-server> tandem board show T-a1b2c3
  shows see the log of last night
your-server> tandem board --ready
  shows Fix auth on mobile
your-server> tandem board --mine --text auth
your-server> tandem board claim T-a1b2c3
your-server> tandem board start T-a1b2c3
your-server> tandem board block T-a1b2c3 'waiting for the staging key'
your-server> tandem board unclaim T-a1b2c3
not run: it wants a holder that was not seen for minutes, which space_closed_holes.txtar has: tandem board take-back T-a1b2c3
your-server$ tandem board claim T-a1b2c3
your-server> tandem board handoff T-a1b2c3 NeonOtter --note 'tests are green'
laptop> tandem board done T-a1b2c3 --result 'patched in 1.2'
your-server> tandem board archive T-a1b2c3
  shows Put away: 1
your-server> tandem board archive T-a1b2c3 --back
  shows Brought back: 1
your-server> tandem board archive --older 720h
  shows Put away: 0
your-server> tandem board history T-a1b2c3
  shows finished a task
your-server> tandem board finding auth 'token leaks into the log' --severity high --task T-a1b2c3
your-server> tandem board findings --severity high
your-server$ echo '{"tasks":[{"title":"one","ref":"a"},{"title":"two","depends_on":["a"]}]}' >plan.json
your-server> tandem board plan plan.json
not run: it needs a list of tasks, which board_import.txtar has: tandem board import TODO.md --dry-run
not run: it needs a list of tasks, which board_import.txtar has: tandem board import issues.json
your-server> tandem board cancel T-d4e5f6 'the feature was dropped'
your-server$ tandem board reopen T-d4e5f6
your-server$ tandem board claim T-d4e5f6
let T-a1b2c3 your-server$ echo T-d4e5f6
your-server> tandem board update T-a1b2c3 done --result 'patched in 1.2'
your-server> tandem board reopen T-a1b2c3
laptop$ tandem down
your-server$ tandem down
laptop$ tandem up --listen 0.0.0.0:39731; tandem pin set
laptop> tandem space take-over
your-server$ tandem up --listen 0.0.0.0:39731
your-server> tandem space rejoin
laptop$ tandem space rename CosmicYoda
your-server$ tandem space rename NeonOtter
laptop$ for i in $(seq 200); do tandem space peers | grep -q NeonOtter && break; sleep 0.1; done
laptop> tandem space remove NeonOtter
laptop> tandem space leave
build.example.org$ tandem up --listen 0.0.0.0:39731; tandem pin set
laptop> tandem space create fix-auth-bug --host build.example.org:39731
  when waiting until: build.example.org$ tandem approvals approve
# A new machine, and one that knows everything already.
build.example.org> tandem setup --yes
  exit 8
  shows a first turn was taken
build.example.org$ mkdir -p code/app
build.example.org> tandem setup --folder ~/code/app
  type
  type 482913
  type
  shows $ tandem grant folder
build.example.org> tandem setup
  type
  type
  shows already  folder
your-server> tandem man ~/.local/share/man
not run: man is not on a test's machine: man tandem-session-open
# Code work.
your-server> tandem job list
  shows there are no jobs
your-server> tandem job list --state "in review"
your-server> tandem queue
  shows nothing is queued
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue add job_01j… --commit 4f2a… --priority 10
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue evict job_01j…
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue priority job_01j… 10
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue pause main
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue protect main
not run: it needs a git checkout and a job, which queue_merged.txtar has: tandem queue resume main
not run: it needs a git checkout with a remote, which queue_push.txtar has: tandem queue protect main --push origin
not run: it needs a git checkout with a remote, which queue_push.txtar has: tandem queue push main --commit 4f2a…
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team start "move billing to the new API" --agents 3 --check "go test ./..."
not run: it needs a model that answers with a definition, which automation_draft.txtar has: tandem automation draft "every Monday at 9 count the files in /srv/app and keep the number"
not run: it needs a model that answers with a definition, which automation_draft.txtar has: tandem automation draft - < wish.txt
not run: it needs a model that answers with a definition, which automation_draft.txtar has: tandem automation draft --name morning "ask ann before the number is kept"
not run: it needs a run that waits, which automation_handoff.txtar has: tandem automation hand weekly brief --value pages=3 --file text=brief.md
not run: it needs a run that waits, which automation_handoff.txtar has: tandem automation hand weekly brief --run run_01k… --artifact text=research.write.text@2
not run: it needs a run that waits, which automation_handoff.txtar has: tandem automation handoffs weekly
not run: it needs a team that works, which team_merged.txtar has: tandem team add team_01j… "say it in the changelog"
not run: it needs a team that works, which team_merged.txtar has: tandem team add team_01j… "say it in the docs" --name docs --after redirect --files docs
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team list
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team pause team_01j…
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team plan team_01j… > plan.json
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team plan team_01j… --file plan.json
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team resume team_01j…
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team resume team_01j… --until 18:00
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team start "move billing to the new API" --lead claude --workers codex,claude --budget 2000000tokens --until 18:00
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team start "move billing to the new API" --workers codex,claude --review others
not run: it needs a git checkout and a model, which team.story and team_merged.txtar have: tandem team stop team_01j…
not run: it needs a git checkout and a task, which job_from_task.txtar has: tandem job start --from T-a1b2c3 --repo app
not run: it needs a terminal and a job of a real agent: tandem job attach job_01j…
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job start "fix the login redirect" -C ~/code/app --agent claude --check "make test" --wait
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job show job_01j…
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job send job_01j… "also mend the docs"
not run: it needs a git checkout and a model, which job_handover.txtar has: tandem job send job_01j… --agent codex "do it the other way round"
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job comment job_01j… internal/login.go:42 "this redirects twice"
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job comment job_01j… README.md "say how to start it"
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job back job_01j…
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job back job_01j… "and add a test" --wait
not run: it needs a forge, which forge_job.txtar has: tandem forge add work acme/app --kind gitea --url https://git.example.org
not run: it needs a forge, which forge_job.txtar has: tandem forge add hub acme/app --kind github
not run: it needs a forge, which forge_job.txtar has: tandem forge show work
not run: it needs a forge, which forge_job.txtar has: tandem forge issues work
not run: it needs a forge, which forge_job.txtar has: tandem forge remove work
not run: it needs a forge, which forge_job.txtar has: tandem job start --from work#12 --check "go test ./..."
not run: it needs a job that is not merged, which job_stack.txtar has: tandem job start "test the redirect, too" --on job_01j… --check "go test ./..."
not run: it needs a forge, which forge_job.txtar has: tandem job post job_01j…
not run: it needs a forge, which forge_job.txtar has: tandem job post job_01j… --commit 4f2a… --title "Mend the login"
not run: it needs a forge, which forge_job.txtar has: tandem job pull job_01j…
not run: it needs a forge, which forge_job.txtar has: tandem job pull job_01j… --tell
not run: it needs a forge, which forge_job.txtar has: tandem job pull job_01j… --merge --commit 4f2a…
your-server> tandem forge list
  shows no forge was added
not run: it needs a git checkout and a model, which job_reviewed.txtar has: tandem job review job_01j… --by codex
not run: it needs a git checkout and a model, which job_reviewed.txtar has: tandem job review job_01j… --by claude --wait
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job check job_01j…
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job stop job_01j…
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job stop job_01j… --discard
not run: it needs a git checkout and a model, which job_merged.txtar has: tandem job resume job_01j…
not run: it needs a git checkout and a model, which job_handover.txtar has: tandem job resume job_01j… --agent codex
not run: it needs a registry and a job that changed a lock file: tandem job prepare job_01j… --lock 9c1e…
# The end.
your-server> tandem actor disable builder
your-server> tandem service install --no-start
not run: there is no systemd in a test's machine: tandem service install
not run: there is no systemd in a test's machine, and it writes below /etc: tandem service install --system --as tandem
your-server> tandem service uninstall
your-server> tandem service uninstall --system
your-server> tandem uninstall
your-server> tandem uninstall --purge --yes
