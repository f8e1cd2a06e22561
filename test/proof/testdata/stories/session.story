# Sessions: a prompt, another model, going on, a conversation.
machines laptop
laptop$ echo '# Hello' >README.md; tandem pin set; tandem grant folder .
laptop> tandem run "summarize README.md"              # a session in this folder, with the default model
  shows summarize README.md
laptop$ echo sk-ant-0123456789 | tandem provider key anthropic
laptop> tandem run -m anthropic/claude-sonnet-4-5 "…" # another model
let ses_… laptop$ tandem session list --json | grep -o 'ses_[a-z0-9]*' | head -1
laptop> tandem run --session ses_… "now the tests"    # go on
  shows now the tests
laptop> tandem chat                                   # a conversation on the terminal; /help lists its commands
  type /help
  type /exit
  shows /model
laptop> tandem session list
  shows ses_…
laptop> tandem session show ses_…                     # and follow, cancel, fork, revert, unrevert, delete
  shows now the tests
