# An agent's call waits for a person.
machines laptop
laptop$ tandem pin set; tandem actor add builder --kind agent
let BUILDER laptop$ tandem token new builder --json 2>/dev/null | sed -n 's/.*"secret": *"\([^"]*\)".*/\1/p'
laptop$ TANDEM_AS_TOKEN=BUILDER tandem settings set log.level debug
  exit 8
laptop> tandem approvals                      # what waits, oldest first
  shows setting.set
let ask_x4k2p9 laptop$ tandem approvals --json | grep -o 'ask_[a-z0-9]*' | head -1
laptop> tandem approvals show ask_x4k2p9      # what would be done, why it waits, who may answer; of a long one --page 2
  shows log.level
laptop> tandem approvals approve ask_x4k2p9   # asks for your PIN; also: rework --feedback "…", deny; several alike: approve ask_… ask_…
laptop> tandem approvals wait ask_x4k2p9      # until somebody answers
  shows approved
